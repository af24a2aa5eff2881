//! Dtypes as programs name them: by scalar types, by text, by the dtype of another array, or by the numbers written.

use ruff_python_ast::Expr;

use super::Inference;
use crate::kinds::kind::{Dtype, Kind};
use crate::kinds::program::Ref;

impl Inference<'_, '_> {
    /// The dtype that `expression` names.
    pub(super) fn dtype(&self, expression: &Expr) -> Dtype {
        if let Expr::StringLiteral(text) = expression {
            return dtype_of_code(text.value.to_str());
        }
        if let Expr::Attribute(attribute) = expression
            && attribute.attr.as_str() == "dtype"
            && let Kind::Array(array) = self.seen(&attribute.value)
        {
            return array.dtype;
        }
        let name = match self.program.reference(self.source, expression) {
            Ref::Builtin(path) | Ref::Path(path) => self.program.path(path).name.as_str(),
            _ => return if expression.is_list_expr() { Dtype::Unsupported } else { Dtype::Any },
        };
        dtype_of_name(name.rsplit('.').next().unwrap_or(name))
    }
}

/// The dtype of an array made of the numbers written in `expression`.
pub(super) fn literal_dtype(expression: &Expr) -> Dtype {
    let of_all = |parts: &[Expr]| parts.iter().map(literal_dtype).reduce(Dtype::join).unwrap_or(Dtype::Any);
    match expression {
        Expr::List(it) => of_all(&it.elts),
        Expr::Tuple(it) => of_all(&it.elts),
        Expr::UnaryOp(it) => literal_dtype(&it.operand),
        Expr::BooleanLiteral(_) => Dtype::Bool,
        Expr::NumberLiteral(number) => match number.value {
            ruff_python_ast::Number::Int(_) => Dtype::Integer,
            ruff_python_ast::Number::Float(_) => Dtype::Float,
            ruff_python_ast::Number::Complex { .. } => Dtype::Complex,
        },
        _ => Dtype::Any,
    }
}

/// The dtype of an array-protocol code or dtype name given as text.
fn dtype_of_code(code: &str) -> Dtype {
    let bare = code.trim_start_matches(['=', '<', '|']);
    if bare.starts_with('>') || bare.contains(',') {
        return Dtype::Unsupported;
    }
    match (bare.chars().next(), bare.get(1..).unwrap_or_default().parse::<u8>().is_ok() || bare.len() == 1) {
        (Some('f'), true) if bare == "f16" => Dtype::Unsupported,
        (Some('f' | 'd' | 'e'), true) => Dtype::Float,
        (Some('i' | 'u' | 'b' | 'B' | 'h' | 'H' | 'I' | 'l' | 'L' | 'q' | 'Q'), true) => Dtype::Integer,
        (Some('c' | 'F' | 'D'), true) => Dtype::Complex,
        (Some('?'), true) => Dtype::Bool,
        (Some('U' | 'S' | 'V' | 'M' | 'm' | 'O' | 'a' | 'g' | 'G'), _) => Dtype::Unsupported,
        _ => dtype_of_name(bare),
    }
}

/// The dtype of a scalar type's name.
fn dtype_of_name(name: &str) -> Dtype {
    match name {
        "longdouble" | "clongdouble" | "float128" | "complex256" | "object" | "object_" | "str" | "str_"
        | "bytes" | "bytes_" | "void" | "datetime64" | "timedelta64" | "unicode" => Dtype::Unsupported,
        _ if name.starts_with("bool") => Dtype::Bool,
        _ if name.starts_with("int") || name.starts_with("uint") || name == "intp" => Dtype::Integer,
        "byte" | "short" | "long" | "ubyte" => Dtype::Integer,
        _ if name.starts_with("float") || name == "double" || name == "half" || name == "single" => {
            Dtype::Float
        }
        _ if name.starts_with("complex") || name == "cdouble" || name == "csingle" => Dtype::Complex,
        _ if name.starts_with("datetime") || name.starts_with("timedelta") => Dtype::Unsupported,
        _ => Dtype::Any,
    }
}
