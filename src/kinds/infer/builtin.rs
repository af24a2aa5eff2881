//! Builtins, and the methods of lists, mappings and text.

use ruff_python_ast::{Expr, ExprCall};

use super::Inference;
use crate::kinds::kind::Kind;

impl<'a> Inference<'_, 'a> {
    /// What a call of the builtin `name` yields.
    pub(super) fn builtin_call(&mut self, call: &'a ExprCall, name: &str) -> Kind {
        let kinds: Vec<Kind> = call.arguments.args.iter().map(|it| self.seen(it).clone()).collect();
        let first = kinds.first();
        match name {
            "int" | "float" | "complex" | "bool" | "len" | "ord" | "hash" | "id" | "isinstance"
            | "issubclass" | "callable" | "hasattr" | "all" | "any" => Kind::Python,
            "abs" | "round" | "pow" | "divmod" => match first {
                Some(kind @ (Kind::Array(_) | Kind::Python | Kind::Numpy | Kind::Number | Kind::Plain)) => {
                    if name == "divmod" {
                        Kind::list(kind.clone())
                    } else {
                        kind.clone()
                    }
                }
                _ => Kind::Unknown,
            },
            "min" | "max" => match &kinds[..] {
                [one] => one.element(),
                several => several.iter().fold(Kind::Never, |sum, kind| sum.join(kind)),
            },
            "sum" => first.map_or(Kind::Unknown, |it| match it.element() {
                element @ (Kind::Python | Kind::Array(_) | Kind::Plain | Kind::Never) => element,
                Kind::Numpy | Kind::Number => Kind::Number,
                _ => Kind::Unknown,
            }),
            "range" => Kind::list(Kind::Python),
            "enumerate" => {
                let element = first.map_or(Kind::Unknown, Kind::element);
                Kind::list(Kind::tuple([Kind::Python, element]))
            }
            "zip" => Kind::list(Kind::tuple(kinds.iter().map(Kind::element).collect::<Vec<_>>())),
            "list" | "tuple" | "set" | "frozenset" | "sorted" | "reversed" | "iter" | "filter" => {
                Kind::list(kinds.last().map_or(Kind::Never, Kind::element))
            }
            "map" => Kind::list(Kind::Unknown),
            "next" => first.map_or(Kind::Unknown, Kind::element),
            "dict" => self.dict_call(call, first),
            "str" | "repr" | "format" | "chr" | "hex" | "bin" | "oct" | "ascii" | "bytes" | "input" => {
                Kind::Text
            }
            "print" | "exit" | "quit" | "setattr" | "delattr" => Kind::Nothing,
            "open" | "type" | "slice" | "memoryview" | "bytearray" => Kind::Plain,
            _ if name.starts_with("str.") || name.starts_with("bytes.") => Kind::Text,
            _ if name.ends_with("Error") || name.ends_with("Exception") => Kind::Plain,
            _ => Kind::Unknown,
        }
    }

    fn dict_call(&mut self, call: &'a ExprCall, first: Option<&Kind>) -> Kind {
        let start = match first {
            None => Kind::Never,
            Some(kind @ (Kind::Dict(_) | Kind::Record(_))) => kind.element(),
            Some(kind) => match kind.element() {
                Kind::Tuple(pair) if pair.len() == 2 => pair[1].clone(),
                _ => Kind::Unknown,
            },
        };
        let keywords = call.arguments.keywords.iter().map(|it| self.seen(&it.value).clone());
        Kind::Dict(keywords.fold(start, |sum, kind| sum.join(&kind)).into())
    }

    /// What a method of a list, a mapping, text or something unknown yields.
    pub(super) fn container_method(
        &mut self,
        call: &'a ExprCall,
        receiver: &'a Expr,
        owner: &Kind,
        name: &str,
    ) -> Kind {
        match owner {
            Kind::Never => Kind::Never,
            Kind::List(_) | Kind::Tuple(_) => self.list_method(call, receiver, owner, name),
            Kind::Dict(_) | Kind::Record(_) => self.mapping_method(call, receiver, owner, name),
            Kind::Text => match name {
                "split" | "splitlines" | "rsplit" | "partition" | "rpartition" => Kind::list(Kind::Text),
                "find" | "index" | "count" | "startswith" | "endswith" | "isdigit" => Kind::Python,
                _ => Kind::Text,
            },
            Kind::Python => Kind::Python,
            Kind::Plain | Kind::Nothing => Kind::Plain,
            Kind::Loaded => match name {
                "items" => Kind::list(Kind::tuple([Kind::Text, Kind::ARRAY])),
                "keys" => Kind::list(Kind::Text),
                "values" => Kind::list(Kind::ARRAY),
                "close" => Kind::Nothing,
                "get" => Kind::ARRAY,
                // Otherwise it is taken for an array.
                _ => match self.program.array_method(name) {
                    Some(entry) => self.table_call(call, entry, Some(&Kind::ARRAY)),
                    None => Kind::Unknown,
                },
            },
            _ => Kind::Unknown,
        }
    }

    fn argument_kind(&self, call: &'a ExprCall, at: usize) -> Kind {
        call.arguments.args.get(at).map_or(Kind::Never, |it| self.seen(it).clone())
    }

    fn list_method(&mut self, call: &'a ExprCall, receiver: &'a Expr, owner: &Kind, name: &str) -> Kind {
        match name {
            "append" | "add" | "appendleft" => {
                let kind = self.argument_kind(call, 0);
                self.add_element(receiver, &kind);
                Kind::Nothing
            }
            "insert" => {
                let kind = self.argument_kind(call, 1);
                self.add_element(receiver, &kind);
                Kind::Nothing
            }
            "extend" | "update" => {
                let kind = self.argument_kind(call, 0).element();
                self.add_element(receiver, &kind);
                Kind::Nothing
            }
            "pop" | "popleft" => owner.element(),
            "copy" => owner.clone(),
            "index" | "count" => Kind::Python,
            "sort" | "reverse" | "remove" | "clear" | "discard" => Kind::Nothing,
            _ => Kind::Unknown,
        }
    }

    fn mapping_method(&mut self, call: &'a ExprCall, receiver: &'a Expr, owner: &Kind, name: &str) -> Kind {
        match name {
            "get" | "pop" => {
                let default = match call.arguments.args.get(1) {
                    Some(_) => self.argument_kind(call, 1),
                    None => Kind::Nothing,
                };
                let value = match (owner, call.arguments.args.first()) {
                    (Kind::Record(fields), Some(Expr::StringLiteral(key))) => {
                        fields.get(key.value.to_str()).cloned().unwrap_or(Kind::Never)
                    }
                    _ => owner.element(),
                };
                value.join(&default)
            }
            "setdefault" => {
                let kind = self.argument_kind(call, 1);
                self.add_element(receiver, &kind);
                owner.element().join(&kind)
            }
            "update" => {
                let given = self.argument_kind(call, 0).element();
                let keywords: Vec<Kind> =
                    (call.arguments.keywords.iter()).map(|it| self.seen(&it.value).clone()).collect();
                let kind = keywords.iter().fold(given, |sum, kind| sum.join(kind));
                self.add_element(receiver, &kind);
                Kind::Nothing
            }
            "items" => Kind::list(Kind::tuple([Kind::Plain, owner.element()])),
            "values" => Kind::list(owner.element()),
            "keys" => Kind::list(Kind::Plain),
            "copy" => owner.clone(),
            "clear" => Kind::Nothing,
            _ => Kind::Unknown,
        }
    }
}
