//! What a name would mean where nothing mentions it yet: needed before new code is written there.

use ruff_python_ast::Expr;
use ruff_text_size::TextSize;

use super::answer::Answer;
use super::builtins::is_builtin;
use super::resolved::Names;
use super::{Resolution, ScopeKind};

impl Names {
    /// True where the path that `expression` begins may lead on through the project's re-exports, so that its first
    /// component does not tell the library it leads to.
    pub fn leads_into_project(&self, expression: &Expr) -> bool {
        let mut base = expression;
        while let Expr::Attribute(attribute) = base {
            base = &attribute.value;
        }
        let event = base.as_name_expr().and_then(|name| self.event_at(name.range.start()));
        match event.map(|event| self.answers.by_slot[event.slot as usize]) {
            Some(Answer::Kept(kept)) => self.kept_in_project[kept as usize],
            _ => false,
        }
    }

    /// What `name` means to code at `offset`. Where only a star import may bind it, the modules are not told.
    pub fn meaning_at(&self, name: &str, offset: TextSize) -> Resolution {
        let Some(&symbol) = self.symbol_of.get(name) else { return self.unmentioned(name) };
        let mut scope = Some(self.scope_at(offset));
        let mut innermost = true;
        while let Some(id) = scope {
            if (innermost || self.kind_of(id) != ScopeKind::Class)
                && let Some(&slot) = self.slot_at.get(&(id.0, symbol))
            {
                return match self.answers.by_slot[slot as usize] {
                    Answer::Variable(owner) => Resolution::Local(self.variable_of_slot(owner)),
                    Answer::Kept(kept) => self.answers.kept[kept as usize].clone(),
                };
            }
            innermost = false;
            scope = self.parent(id);
        }
        self.unmentioned(name)
    }

    fn unmentioned(&self, name: &str) -> Resolution {
        if self.mentioned_by_star(name) {
            Resolution::MaybeStar(Vec::new())
        } else if is_builtin(name) {
            Resolution::Builtin(name.to_owned())
        } else {
            Resolution::Unbound
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::names::NoExports;
    use crate::source::{Module, SourceFile};

    fn check(text: &str, name: &str, at: &str, expected: &str) {
        let file = SourceFile::from_bytes(Path::new("m.py"), text.as_bytes()).unwrap();
        let module = Module::parse(file).unwrap();
        let names = Names::build(&module, "m", false, &NoExports);
        let offset = TextSize::new(text.find(at).unwrap() as u32);
        let meaning = match names.meaning_at(name, offset) {
            Resolution::Qualified(path) => path,
            Resolution::Local(variable) => format!("local {}", variable.name),
            Resolution::Builtin(name) => format!("builtin {name}"),
            other => format!("{other:?}"),
        };
        assert_eq!(meaning, expected, "{text:?} {name} at {at}");
    }

    #[test]
    fn a_name_is_looked_up_from_where_it_would_stand() {
        check("import cupy as cp\nx = 1\n", "cp", "x", "cupy");
        check("import cupy as cp\ndef f():\n    x = 1\n", "cp", "x", "cupy");
        check("import cupy as cp\ndef f(cp):\n    x = 1\n", "cp", "x", "local cp");
        check(
            "import cupy as cp\nclass A:\n    cp = 1\n    def f(self):\n        x = 1\n",
            "cp",
            "x",
            "cupy",
        );
        check("def f():\n    import cupy as cp\nx = 1\n", "cp", "x", "Unbound");
        check("x = 1\n", "int", "x", "builtin int");
        check("x = 1\nint = 3\n", "int", "x", "local int");
        check("x = 1\n", "cp", "x", "Unbound");
    }
}
