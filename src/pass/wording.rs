//! What the rendering of a replacement asks: how paths are written here, and what becomes of a rest.

use ruff_text_size::TextSize;

use crate::names::{Names, Resolution, ScopeId};
use crate::pattern::{Bound, Captures, Refused, RestArgument, Spelling};

use super::arguments::{self, NO_COUNTERPART, Rest};
use super::spelling::Speller;
use super::{Needs, Pass};

/// Answers for one match.
pub(super) struct Wording<'w> {
    pub(super) pass: &'w Pass,
    pub(super) speller: &'w Speller<'w>,
    pub(super) names: &'w Names,
    /// Where the match begins.
    pub(super) at: TextSize,
    /// Where new imports go.
    pub(super) scope: ScopeId,
    /// The name that the replaced code begins with.
    pub(super) like: Option<&'w str>,
    /// The imports that the replacement turns out to need.
    pub(super) needs: &'w mut Needs,
}

impl<'a> Spelling<'a> for Wording<'_> {
    fn path(&mut self, path: &str) -> Result<String, Refused> {
        let (text, need) = self.speller.spell_like(path, self.at, self.scope, self.like)?;
        if let Some(need) = need {
            self.needs.add(need);
        }
        Ok(text)
    }

    fn rest(
        &mut self,
        name: &str,
        captures: &Captures<'a>,
        callee: Option<&str>,
    ) -> Result<Option<Vec<RestArgument>>, Refused> {
        let (Some(Bound::Arguments { positional, keywords }), Some(call)) =
            (captures.get(name), captures.call(name))
        else {
            return Ok(None);
        };
        let Some(callee) = callee.filter(|path| self.is_target(path)) else { return Ok(None) };
        let Some(table) = &self.pass.api else { return Ok(None) };
        let Resolution::Qualified(source) = self.names.resolve(&call.func) else { return Ok(None) };
        let Some(callable) = table.callables.get(&source) else {
            return Err(Refused {
                code: Some(NO_COUNTERPART),
                message: format!("`{source}` has no counterpart in `{}`", self.pass.target.module),
            });
        };
        if callable.target != callee {
            return Ok(None);
        }
        let rest = Rest { call, positional, keywords };
        arguments::for_target(&rest, callable, &source).map(Some)
    }
}

impl Wording<'_> {
    fn is_target(&self, path: &str) -> bool {
        path.strip_prefix(self.pass.target.module.as_str()).is_some_and(|rest| rest.starts_with('.'))
    }
}
