//! What a name would mean where nothing mentions it yet: needed before new code is written there.

use ruff_text_size::{TextRange, TextSize};

use super::answer::Answer;
use super::builtins::is_builtin;
use super::collect::SlotId;
use super::resolved::Names;
use super::{ImportBinding, Resolution, ScopeKind};

impl Names {
    /// What the name that `import` binds means; `None` where it is a variable too.
    pub fn meaning_of(&self, import: &ImportBinding) -> Option<&Resolution> {
        Some(&self.answers.kept[self.kept_of(import)?])
    }

    /// True where a path through the name that `import` binds may lead on through the project's re-exports.
    pub fn may_lead_on(&self, import: &ImportBinding) -> bool {
        self.kept_of(import).is_some_and(|kept| self.kept_in_project[kept])
    }

    /// The places that read what `import` binds, and what else is bound to the same variable.
    pub fn reads_of(&self, import: &ImportBinding) -> &[TextRange] {
        self.owner_slot(import).map_or(&[], |owner| self.places().reads(owner))
    }

    fn kept_of(&self, import: &ImportBinding) -> Option<usize> {
        match self.answers.by_slot[self.owner_slot(import)? as usize] {
            Answer::Kept(kept) => Some(kept as usize),
            Answer::Variable(_) => None,
        }
    }

    fn owner_slot(&self, import: &ImportBinding) -> Option<SlotId> {
        let symbol = self.symbol_of.get(&import.bound)?;
        let slot = self.slot_at.get(&(import.scope.0, *symbol))?;
        self.answers.owners[*slot as usize]
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
