//! A rest in a replacement: its arguments as they stand, or as another callable wants them.

use ruff_text_size::TextRange;

use super::parentheses::outer_range_at;
use super::render::{Out, Refused, Renderer, RestArgument};

impl Renderer<'_, '_, '_> {
    pub(super) fn rest(&mut self, name: &str, callee: Option<&str>) -> Result<(), Refused> {
        let arguments = match self.spelling.rest(name, self.captures, callee)? {
            Some(arguments) => arguments,
            None => self
                .captures
                .ranges(name)
                .into_iter()
                .map(|range| RestArgument::Kept { before: String::new(), range })
                .collect(),
        };
        let mut previous: Option<TextRange> = None;
        for (i, argument) in arguments.iter().enumerate() {
            let RestArgument::Kept { before, range } = argument else {
                if i > 0 {
                    self.text(", ");
                }
                if let RestArgument::Text(text) = argument {
                    self.text(text.clone());
                }
                previous = None;
                continue;
            };
            let range = outer_range_at(self.site, *range);
            if let Some(last) = previous
                && before.is_empty()
                && self.adjacent(last, range)
                && let Some(Out::Kept { range: kept, .. }) = self.out.last_mut()
            {
                *kept = TextRange::new(kept.start(), range.end());
            } else {
                if i > 0 {
                    self.text(", ");
                }
                if !before.is_empty() {
                    self.text(before.clone());
                }
                self.out.push(Out::Kept { range, check: None, parentheses: false });
            }
            previous = Some(range);
        }
        Ok(())
    }

    /// True where only a comma stands between two arguments of the original.
    fn adjacent(&self, left: TextRange, right: TextRange) -> bool {
        left.end() <= right.start()
            && self
                .site
                .tokens
                .in_range(TextRange::new(left.end(), right.start()))
                .iter()
                .filter(|token| !token.kind().is_trivia())
                .count()
                == 1
    }
}
