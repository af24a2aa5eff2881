//! Conditions in words, for `gpuport explain`.

use std::fmt;

use super::condition::{InApi, LiteralEntry, Usage, Value};
use super::holds::{About, Test};

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Boolean(value) => f.write_str(if *value { "True" } else { "False" }),
            Self::Integer(value) => write!(f, "{value}"),
            Self::Float(value) => write!(f, "{value:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
        }
    }
}

impl fmt::Display for Test {
    /// What must hold, as a clause: "`$X` is an array".
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Usage(Usage::Statement) => f.write_str("it is a statement of its own"),
            Self::Usage(Usage::Expression) => f.write_str("its value is used"),
            Self::InsideLoop(true) => f.write_str("it stands in a loop"),
            Self::InsideLoop(false) => f.write_str("it stands in no loop"),
            Self::Not(tests) => {
                f.write_str("not: ")?;
                joined(f, tests, " and ")
            }
            Self::Any(all) => {
                for (i, tests) in all.iter().enumerate() {
                    f.write_str(if i > 0 { ", or " } else { "" })?;
                    joined(f, tests, " and ")?;
                }
                Ok(())
            }
            Self::Variable(name, about) => write!(f, "`${name}` {about}"),
        }
    }
}

fn joined<T: fmt::Display>(f: &mut fmt::Formatter<'_>, all: &[T], separator: &str) -> fmt::Result {
    for (i, it) in all.iter().enumerate() {
        write!(f, "{}{it}", if i > 0 { separator } else { "" })?;
    }
    Ok(())
}

impl fmt::Display for About {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let not = |wanted: bool| if wanted { "" } else { "not " };
        match self {
            Self::Is(names) => write!(f, "is {}", names.join(" or ")),
            Self::Literal(LiteralEntry::Any(wanted)) => write!(f, "is {}a literal", not(*wanted)),
            Self::Literal(kind) => write!(f, "is a literal {}", format!("{kind:?}").to_lowercase()),
            Self::OneOf(values) if values.len() > 8 => write!(f, "is one of {} values", values.len()),
            Self::OneOf(values) => {
                f.write_str("is one of ")?;
                joined(f, values, ", ")
            }
            Self::Regex(regex, _) => write!(f, "matches `{regex}`"),
            Self::Kind(kinds) => {
                let names: Vec<String> =
                    kinds.iter().map(|kind| format!("{kind:?}").to_lowercase()).collect();
                write!(f, "is known to be of kind {}", names.join(" or "))
            }
            Self::Rank(ranks) => {
                f.write_str("is known to have as many axes as ")?;
                joined(f, ranks, " or ")
            }
            Self::Dtype(dtypes) => {
                let names: Vec<String> = dtypes.iter().map(|it| format!("{it:?}").to_lowercase()).collect();
                write!(f, "is known to hold {}", names.join(" or "))
            }
            Self::InApi(InApi::Path(wanted)) => write!(f, "is {}in the API table", not(*wanted)),
            Self::InApi(InApi::Under(prefix)) => write!(f, "is in the API table under `{prefix}`"),
            Self::Ufunc(wanted) => write!(f, "is {}a ufunc", not(*wanted)),
            Self::Given(wanted) => write!(f, "is {}given", not(*wanted)),
            Self::Present(keywords) => write!(f, "has the keyword {}", keywords.join(" and ")),
            Self::Absent(keywords) => write!(f, "doesn't have the keyword {}", keywords.join(" or ")),
            Self::MaxPositional(most) => write!(f, "has at most {most} positional arguments"),
            Self::UsedLater(wanted) => write!(f, "is {}used later", not(*wanted)),
        }
    }
}
