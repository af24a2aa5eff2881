//! A patch as a terminal shows it.

use crate::diff::Patch;

use super::style::{Role, Style};

/// The bytes of `patch`, with colours where `style` has them. Only those without colours can be applied.
pub fn patch(patch: &Patch, style: Style) -> Vec<u8> {
    if style == Style::Plain {
        return patch.bytes().to_vec();
    }
    let mut out = Vec::with_capacity(patch.bytes().len() * 2);
    for line in patch.bytes().split_inclusive(|&byte| byte == b'\n') {
        let is_header = [&b"diff "[..], b"--- ", b"+++ "].iter().any(|start| line.starts_with(start));
        let role = match line.first() {
            _ if is_header => Some(Role::Strong),
            Some(b'@') => Some(Role::Code),
            Some(b'+') => Some(Role::Good),
            Some(b'-') => Some(Role::Bad),
            _ => None,
        };
        match (role, line.strip_suffix(b"\n")) {
            (Some(role), Some(text)) => {
                let (before, after) = style.around(role);
                out.extend([before.as_bytes(), text, after.as_bytes(), b"\n"].concat());
            }
            _ => out.extend_from_slice(line),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::FileChange;

    #[test]
    fn lines_are_coloured_by_what_they_do() {
        let made = Patch::new(&[FileChange::new("a.py", b"a\xff\nb\n", b"a\xff\nc\n")]);
        assert_eq!(patch(&made, Style::Plain), made.bytes());
        let expected =
            b"\x1b[1mdiff --git a/a.py b/a.py\x1b[0m\n\x1b[1m--- a/a.py\x1b[0m\n\x1b[1m+++ b/a.py\x1b[0m\n\
            \x1b[36m@@ -1,2 +1,2 @@\x1b[0m\n a\xff\n\x1b[31m-b\x1b[0m\n\x1b[32m+c\x1b[0m\n";
        assert_eq!(patch(&made, Style::Ansi), expected);
    }
}
