//! Python's builtins as placement sees them.

/// What a builtin does with an array that it is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Builtin {
    /// Works on device arrays as on host arrays, and yields a Python value: `len`, `float`.
    Asks,
    /// Works on device arrays and yields an array: `abs`.
    Maps,
    /// Goes over the elements and yields them in a sequence: `list`, `enumerate`.
    Iterates,
    /// Goes over the elements and yields one of them, or their sum.
    Folds,
    /// Needs host values.
    Host,
}

/// What the builtin `name` does.
pub(super) fn builtin(name: &str) -> Builtin {
    match name {
        "len" | "float" | "int" | "bool" | "complex" | "id" | "type" | "callable" | "hasattr" => {
            Builtin::Asks
        }
        "abs" => Builtin::Maps,
        "list" | "tuple" | "enumerate" | "zip" | "reversed" | "iter" | "sorted" => Builtin::Iterates,
        "sum" | "next" | "min" | "max" => Builtin::Folds,
        _ => Builtin::Host,
    }
}
