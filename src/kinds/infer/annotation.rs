//! Annotations: what they say of a value. Silence is [`Kind::Never`], which adds no possibility.

use ruff_python_ast::{Expr, Operator};

use super::Inference;
use crate::api::Returns;
use crate::kinds::kind::Kind;
use crate::kinds::program::Definition;

impl Inference<'_, '_> {
    /// What `annotation` says.
    pub(super) fn annotated(&self, annotation: &Expr) -> Kind {
        match annotation {
            Expr::NoneLiteral(_) => Kind::Nothing,
            Expr::BinOp(it) if it.op == Operator::BitOr => {
                let (left, right) = (self.annotated(&it.left), self.annotated(&it.right));
                if left == Kind::Never || right == Kind::Never { Kind::Never } else { left.join(&right) }
            }
            Expr::Subscript(it) => self.generic(&it.value, &it.slice),
            Expr::Name(_) | Expr::Attribute(_) => self.named(annotation),
            _ => Kind::Never,
        }
    }

    fn named(&self, annotation: &Expr) -> Kind {
        if let Some(definition) = self.program.definition(self.source, annotation) {
            return match definition {
                Definition::Class(class) => Kind::Instance(class),
                Definition::Function(_) => Kind::Never,
            };
        }
        if let Some(name) = self.program.builtin(self.source, annotation) {
            return match name {
                "int" | "float" | "complex" | "bool" => Kind::Python,
                "str" | "bytes" => Kind::Text,
                _ => Kind::Never,
            };
        }
        let Some(path) = self.program.outside(self.source, annotation) else { return Kind::Never };
        match path.host.map(|host| &host.returns) {
            Some(Returns::Array(rank)) => Kind::Array(crate::kinds::Array::of_rank(*rank)),
            Some(Returns::Number) => Kind::Number,
            Some(Returns::Other) if !path.name.starts_with("typing.") => Kind::Plain,
            Some(_) if self.program.host_entry(&path.name).is_some() => match &path.host {
                Some(host) => match &host.returns {
                    Returns::Object(class) => Kind::Object(class.as_str().into()),
                    _ => Kind::Never,
                },
                None => Kind::Never,
            },
            _ => Kind::Never,
        }
    }

    fn generic(&self, head: &Expr, arguments: &Expr) -> Kind {
        let name = self
            .program
            .builtin(self.source, head)
            .map(str::to_owned)
            .or_else(|| self.program.outside(self.source, head).map(|it| it.name.clone()));
        let Some(name) = name else { return Kind::Never };
        let parts: &[Expr] = match arguments {
            Expr::Tuple(tuple) => &tuple.elts,
            single => std::slice::from_ref(single),
        };
        let short = name.rsplit('.').next().unwrap_or_default();
        match short {
            "Optional" => self.all(parts, &[Kind::Nothing]),
            "Union" => self.all(parts, &[]),
            "Final" | "ClassVar" | "Annotated" => parts.first().map_or(Kind::Never, |it| self.annotated(it)),
            "tuple" | "Tuple" => match parts {
                [element, Expr::EllipsisLiteral(_)] => self.sequence(element),
                _ => {
                    let elements: Vec<Kind> = parts.iter().map(|it| self.annotated(it)).collect();
                    if elements.contains(&Kind::Never) { Kind::Never } else { Kind::tuple(elements) }
                }
            },
            "list" | "List" | "set" | "Set" | "Sequence" | "Iterable" | "Iterator" => {
                parts.first().map_or(Kind::Never, |it| self.sequence(it))
            }
            "dict" | "Dict" | "Mapping" => match parts {
                [_, value] => match self.annotated(value) {
                    Kind::Never => Kind::Never,
                    value => Kind::Dict(value.into()),
                },
                _ => Kind::Never,
            },
            _ => self.named(head),
        }
    }

    fn sequence(&self, element: &Expr) -> Kind {
        match self.annotated(element) {
            Kind::Never => Kind::Never,
            element => Kind::list(element),
        }
    }

    /// The join of several alternatives; silence where one is silent.
    fn all(&self, parts: &[Expr], more: &[Kind]) -> Kind {
        let mut out = Kind::Never;
        for kind in parts.iter().map(|it| self.annotated(it)).chain(more.iter().cloned()) {
            if kind == Kind::Never {
                return Kind::Never;
            }
            out = out.join(&kind);
        }
        out
    }
}
