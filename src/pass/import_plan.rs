//! Import statements as they become: clauses taken out, put in their place, added to them, and new statements.

use std::collections::BTreeMap;

use ruff_text_size::{TextRange, TextSize};

use super::imports::{Need, Needs};
use super::{clauses, layout};
use crate::names::{ImportBinding, Names, ScopeId};
use crate::source::{Edit, Module};

/// Gathers the edits.
pub(super) struct Planner<'p> {
    module: &'p Module,
    names: &'p Names,
    edits: Vec<Edit>,
    /// Imports that nothing uses any more.
    gone: Vec<&'p ImportBinding>,
    /// Statements of the imports by which replaced code was spelled.
    near: Vec<TextRange>,
    /// What is still to be imported.
    new: Vec<New>,
}

/// Something to import.
#[derive(Debug, Clone, PartialEq, Eq)]
struct New {
    module: String,
    /// The member; `None` for the module itself.
    member: Option<String>,
    bound: String,
    scope: ScopeId,
}

impl New {
    /// The statement that imports it.
    fn statement(&self) -> String {
        match &self.member {
            Some(_) => format!("from {} import {}", self.module, self.clause()),
            None => format!("import {}", self.clause()),
        }
    }

    /// What stands after `import`.
    fn clause(&self) -> String {
        let name = self.member.as_ref().unwrap_or(&self.module);
        if *name == self.bound { name.clone() } else { format!("{name} as {}", self.bound) }
    }
}

impl<'p> Planner<'p> {
    /// A planner for `module`.
    pub(super) fn new(
        module: &'p Module,
        names: &'p Names,
        gone: Vec<&'p ImportBinding>,
        near: Vec<TextRange>,
    ) -> Self {
        Self { module, names, edits: Vec::new(), gone, near, new: Vec::new() }
    }

    /// The edits that satisfy `needs`.
    pub(super) fn plan(mut self, needs: &Needs) -> Vec<Edit> {
        for need in needs.iter() {
            match need {
                Need::Module { module, bound, scope } => {
                    let (module, bound) = (module.clone(), bound.clone());
                    self.new.push(New { module, member: None, bound, scope: *scope });
                }
                Need::Name { module, name, bound, scope } => {
                    let (module, member, bound) = (module.clone(), Some(name.clone()), bound.clone());
                    self.new.push(New { module, member, bound, scope: *scope });
                }
                Need::Existing { .. } | Need::Renamed { .. } | Need::Taken { .. } => {}
            }
        }
        self.rename(needs);
        let mut by_statement: BTreeMap<u32, Vec<&ImportBinding>> = BTreeMap::new();
        for import in std::mem::take(&mut self.gone) {
            by_statement.entry(u32::from(import.statement.start())).or_default().push(import);
        }
        for gone in by_statement.into_values() {
            self.edit_statement(&gone);
        }
        self.add_names();
        self.add_statements();
        self.edits
    }

    /// Clauses that stay, of things that have another name now.
    fn rename(&mut self, needs: &Needs) {
        for need in needs.iter() {
            let Need::Renamed { clause, module, name } = need else { continue };
            let Some(import) = self.names.imports().iter().find(|it| it.clause == *clause) else { continue };
            if self.gone.iter().any(|gone| gone.clause == *clause) {
                continue;
            }
            let new = New {
                module: module.clone(),
                member: Some(name.clone()),
                bound: import.bound.to_string(),
                scope: import.scope,
            };
            if import.module == *module {
                self.edits.push(Edit { range: *clause, text: new.clause() });
            } else {
                self.gone.push(import);
                self.new.push(new);
            }
        }
    }

    /// Takes the clauses of `gone` out of their statement, putting what is needed in their place.
    fn edit_statement(&mut self, gone: &[&ImportBinding]) {
        let first = gone[0];
        let (statement, scope) = (first.statement, first.scope);
        let is_from = self.module.slice(statement).starts_with("from");
        let all: Vec<TextRange> =
            self.names.imports().iter().filter(|it| it.statement == statement).map(|it| it.clause).collect();
        let mut outgoing: Vec<TextRange> = gone.iter().map(|it| it.clause).collect();
        outgoing.sort_by_key(|clause| clause.start());
        if is_from {
            // Successors take the place of the names they succeed.
            let wanted = |new: &New| new.module == first.module && new.member.is_some() && new.scope == scope;
            while let Some(at) = self.new.iter().position(wanted)
                && !outgoing.is_empty()
            {
                let new = self.new.remove(at);
                self.edits.push(Edit { range: outgoing.remove(0), text: new.clause() });
            }
        }
        if outgoing.is_empty() {
            return;
        }
        if outgoing.len() < all.len() {
            self.edits.extend(clauses::remove(self.module, &all, &outgoing));
            return;
        }
        if let Some(at) = self.new.iter().position(|new| new.scope == scope) {
            let new = self.new.remove(at);
            self.edits.push(Edit { range: statement, text: new.statement() });
        } else if let Some(range) = layout::removable(self.module, statement) {
            self.edits.push(Edit { range, text: String::new() });
        }
    }

    /// Names go into a statement that imports from their module already.
    fn add_names(&mut self) {
        let mut left = Vec::new();
        let mut added: BTreeMap<u32, (TextSize, String)> = BTreeMap::new();
        for new in std::mem::take(&mut self.new) {
            match self.host(&new) {
                Some((statement, end)) if new.member.is_some() => {
                    let entry =
                        added.entry(u32::from(statement.start())).or_insert_with(|| (end, String::new()));
                    entry.1.push_str(", ");
                    entry.1.push_str(&new.clause());
                }
                _ => left.push(new),
            }
        }
        for (end, text) in added.into_values() {
            self.edits.push(Edit { range: TextRange::empty(end), text });
        }
        self.new = left;
    }

    /// A `from` statement that stays and imports from the module of `new`, and where its last clause ends.
    fn host(&self, new: &New) -> Option<(TextRange, TextSize)> {
        let imports = self.names.imports();
        let host = imports.iter().rfind(|import| {
            import.module == new.module
                && import.scope == new.scope
                && !import.is_star()
                && (import.top_level || new.scope != ScopeId(0))
                && self.module.slice(import.statement).starts_with("from")
                && !self.edits.iter().any(|edit| edit.range.contains_range(import.statement))
        })?;
        let clauses = imports.iter().filter(|import| import.statement == host.statement);
        let end = clauses.map(|import| import.clause.end()).max()?;
        // Not behind a clause that is taken out.
        let touched = self.edits.iter().any(|edit| edit.range.end() == end && edit.text.is_empty());
        (!touched).then_some((host.statement, end))
    }

    /// What is left becomes statements of their own.
    fn add_statements(&mut self) {
        let mut at: BTreeMap<u32, (layout::Spot, Vec<String>)> = BTreeMap::new();
        for new in &self.new {
            let spot = layout::insertion(self.module, self.names, new.scope, &self.near);
            let entry = at.entry(u32::from(spot.offset)).or_insert_with(|| (spot, Vec::new()));
            entry.1.push(new.statement());
        }
        let newline = layout::newline(self.module);
        for (spot, statements) in at.into_values() {
            let mut text = String::new();
            for statement in &statements {
                if spot.after_line {
                    text.push_str(newline);
                    text.push_str(&spot.indent);
                    text.push_str(statement);
                } else {
                    text.push_str(statement);
                    text.push_str(newline);
                    text.push_str(&spot.indent);
                }
            }
            self.edits.push(Edit { range: TextRange::empty(spot.offset), text });
        }
    }
}
