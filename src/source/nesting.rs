//! How deeply a file is nested, from its tokens: whoever walks the tree recurses that deep.

use ruff_python_ast::token::{TokenKind, Tokens};
use ruff_text_size::{Ranged, TextSize};

/// Levels that a tree may have. Walking one takes well under 4 KiB of stack a level, and Python itself gives up at
/// 200 brackets and 100 blocks; what is left is long chains of operators.
pub(super) const MAX_DEPTH: u32 = 2_000;

/// The offset of the first token that is nested deeper than `limit`. Blocks, brackets, and what grows a tree within a
/// bracket (operators, calls, attributes) count one level each; a comma begins anew.
pub(super) fn deeper_than(tokens: &Tokens, limit: u32) -> Option<TextSize> {
    // Levels of each open bracket's contents, outermost first; the statement itself is the first.
    let mut open: Vec<u32> = vec![0];
    let mut total: u32 = 0;
    for token in tokens {
        match token.kind() {
            TokenKind::Indent => total += 1,
            TokenKind::Dedent => total = total.saturating_sub(1),
            TokenKind::Newline | TokenKind::Semi => {
                total -= open.iter().sum::<u32>() + (open.len() as u32 - 1);
                open.clear();
                open.push(0);
            }
            TokenKind::Comma => total -= open.last_mut().map_or(0, std::mem::take),
            TokenKind::Lpar
            | TokenKind::Lsqb
            | TokenKind::Lbrace
            | TokenKind::FStringStart
            | TokenKind::TStringStart => {
                open.push(0);
                total += 1;
            }
            TokenKind::Rpar
            | TokenKind::Rsqb
            | TokenKind::Rbrace
            | TokenKind::FStringEnd
            | TokenKind::TStringEnd
                if open.len() > 1 =>
            {
                // What was in brackets becomes an operand, or the bracket a call or subscript.
                total -= open.pop().unwrap_or(0);
                let around = open.last_mut().expect("the statement's own level stays");
                *around += 1;
            }
            kind if deepens(kind) => {
                if let Some(level) = open.last_mut() {
                    *level += 1;
                    total += 1;
                }
            }
            _ => {}
        }
        if total > limit {
            return Some(token.start());
        }
    }
    None
}

/// True for tokens that put a node around what stands beside them.
fn deepens(kind: TokenKind) -> bool {
    use TokenKind::{
        Amper, At, Await, CircumFlex, ColonEqual, Dot, DoubleSlash, DoubleStar, Elif, Else, If, Lambda,
        LeftShift, Minus, Not, Percent, Plus, RightShift, Slash, Star, Tilde, Vbar, Yield,
    };
    matches!(
        kind,
        Amper
            | At
            | Await
            | CircumFlex
            | ColonEqual
            | Dot
            | DoubleSlash
            | DoubleStar
            | Elif
            | Else
            | If
            | Lambda
            | LeftShift
            | Minus
            | Not
            | Percent
            | Plus
            | RightShift
            | Slash
            | Star
            | Tilde
            | Vbar
            | Yield
    )
}

#[cfg(test)]
mod tests {
    use ruff_python_ast::PySourceType;
    use ruff_python_parser::parse_unchecked_source;

    use super::*;

    fn is_deeper(text: &str, limit: u32) -> bool {
        deeper_than(parse_unchecked_source(text, PySourceType::Python).tokens(), limit).is_some()
    }

    #[test]
    fn depth_counts_what_recursion_counts() {
        for (text, limit, deeper) in [
            (format!("x = {}1{}\n", "(".repeat(50), ")".repeat(50)), 49, true),
            (format!("x = {}1{}\n", "(".repeat(50), ")".repeat(50)), 51, false),
            (format!("x = 1{}\n", " + 1".repeat(50)), 49, true),
            (format!("x = y{}\n", ".z".repeat(50)), 49, true),
            (format!("x = y{}\n", "()".repeat(50)), 49, true),
            (format!("x = [{}]\n", "-1, ".repeat(500)), 5, false),
            (format!("x = [{}]\n", "(1, 2), ".repeat(500)), 5, false),
            ("x = (1 + 2)\n".repeat(500), 5, false),
            (format!("f({})\n", "a=b.c(d), ".repeat(500)), 10, false),
            ("if x:\n    if y:\n        z\n".repeat(100), 4, false),
            (format!("x = {}1\n", "not ".repeat(50)), 49, true),
            (format!("x = {}1\n", "lambda: ".repeat(50)), 49, true),
            (
                (0..50).map(|level| " ".repeat(level) + "if x:\n").collect::<String>()
                    + &" ".repeat(50)
                    + "y\n",
                49,
                true,
            ),
            ("x = f'{a}{b}{c}'\n".repeat(500), 6, false),
            (format!("x = {}1\n", ")".repeat(50)), 5, false),
        ] {
            assert_eq!(is_deeper(&text, limit), deeper, "{limit} {}", &text[..text.len().min(80)]);
        }
    }
}
