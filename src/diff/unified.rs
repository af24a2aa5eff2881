//! Unified diffs over bytes, as `git apply` and `patch -p1 --binary` take them.

use std::fmt::Write as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use similar::{Algorithm, DiffOp, DiffTag, capture_diff_slices, group_diff_ops};

use super::{FileChange, sha256};

/// Unchanged lines around each hunk, as `git diff` and `diff -u` show.
const CONTEXT_LINES: usize = 3;

/// A patch of any number of files.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Patch {
    bytes: Vec<u8>,
    sha256: String,
}

impl Patch {
    /// The patch that makes `changes`: files in the order of their paths, files without a difference left out.
    pub fn new(changes: &[FileChange]) -> Self {
        Self::below(Path::new(""), changes)
    }

    /// The same for changes whose paths are relative to `prefix`, which the patch's names include.
    ///
    /// Anywhere in a repository, `git apply` takes names to be relative to the repository's top, and silently skips
    /// those that are not below the current folder. So where the root lies below the top, the printed patch must say
    /// where; [`prefix_in_repository`](super::prefix_in_repository) knows.
    pub fn below(prefix: &Path, changes: &[FileChange]) -> Self {
        let mut changes: Vec<&FileChange> = changes.iter().filter(|it| it.before != it.after).collect();
        changes.sort_by(|a, b| a.path.as_os_str().cmp(b.path.as_os_str()));
        let mut bytes = Vec::new();
        for change in changes {
            write_file(&mut bytes, &prefix.join(&change.path), change);
        }
        let sha256 = sha256(&bytes);
        Self { bytes, sha256 }
    }

    /// The patch as it is printed. Not UTF-8 where a file is not.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// SHA-256 of [`Patch::bytes`], lower-case hex: what evidence is tied to.
    pub fn sha256(&self) -> &str {
        &self.sha256
    }

    /// True where no file changes.
    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

fn write_file(out: &mut Vec<u8>, path: &Path, change: &FileChange) {
    let (old_name, new_name) = (name("a/", path), name("b/", path));
    out.extend_from_slice(format!("diff --git {old_name} {new_name}\n").as_bytes());
    out.extend_from_slice(format!("--- {}\n", stamped(&old_name)).as_bytes());
    out.extend_from_slice(format!("+++ {}\n", stamped(&new_name)).as_bytes());

    // A line ends at `\n` alone: git and patch count no other ending, and a lone `\r` taken for one corrupts the patch.
    let old: Vec<&[u8]> = change.before.split_inclusive(|&byte| byte == b'\n').collect();
    let new: Vec<&[u8]> = change.after.split_inclusive(|&byte| byte == b'\n').collect();
    // No deadline: the same files must give the same patch on every machine.
    let ops = capture_diff_slices(Algorithm::Histogram, &old, &new);
    for hunk in group_diff_ops(ops, CONTEXT_LINES) {
        write_hunk(out, &hunk, &old, &new);
    }
}

fn write_hunk(out: &mut Vec<u8>, ops: &[DiffOp], old: &[&[u8]], new: &[&[u8]]) {
    let (Some(first), Some(last)) = (ops.first(), ops.last()) else { return };
    let old_range = range_text(first.old_range().start, last.old_range().end);
    let new_range = range_text(first.new_range().start, last.new_range().end);
    out.extend_from_slice(format!("@@ -{old_range} +{new_range} @@\n").as_bytes());
    for op in ops {
        let (tag, old_range, new_range) = op.as_tag_tuple();
        if tag == DiffTag::Equal {
            old[old_range].iter().for_each(|line| write_line(out, b' ', line));
        } else {
            old[old_range].iter().for_each(|line| write_line(out, b'-', line));
            new[new_range].iter().for_each(|line| write_line(out, b'+', line));
        }
    }
}

fn write_line(out: &mut Vec<u8>, sign: u8, line: &[u8]) {
    out.push(sign);
    out.extend_from_slice(line);
    if !line.ends_with(b"\n") {
        out.extend_from_slice(b"\n\\ No newline at end of file\n");
    }
}

/// A hunk's range of lines from 0-based half-open indices. An empty one names the line before it.
fn range_text(start_index: usize, end_index: usize) -> String {
    match end_index - start_index {
        0 => format!("{start_index},0"),
        1 => format!("{}", start_index + 1),
        count => format!("{},{count}", start_index + 1),
    }
}

/// A path as git writes it: in quotes with C escapes where a byte is not printable ASCII (`core.quotePath`).
fn name(prefix: &str, path: &Path) -> String {
    let bytes = path.as_os_str().as_bytes();
    let mut out = String::with_capacity(bytes.len() + prefix.len());
    let mut quoted = false;
    for &byte in bytes {
        let escape = match byte {
            0x07 => Some('a'),
            0x08 => Some('b'),
            b'\t' => Some('t'),
            b'\n' => Some('n'),
            0x0b => Some('v'),
            0x0c => Some('f'),
            b'\r' => Some('r'),
            b'"' | b'\\' => Some(char::from(byte)),
            _ => None,
        };
        if let Some(letter) = escape {
            quoted = true;
            out.extend(['\\', letter]);
        } else if !(0x20..0x7f).contains(&byte) {
            quoted = true;
            let _ = write!(out, "\\{byte:03o}");
        } else {
            out.push(char::from(byte));
        }
    }
    if quoted { format!("\"{prefix}{out}\"") } else { format!("{prefix}{out}") }
}

/// A tab ends an unquoted name with a space in it: without one, `patch` would read what follows as a time.
fn stamped(name: &str) -> String {
    if name.contains(' ') && !name.starts_with('"') { format!("{name}\t") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, Copy)]
    enum Tool {
        Git,
        Patch,
    }

    /// Applies the patch of `changes` to a tree with their old bytes by a real tool and returns the tree's bytes. `None`
    /// where there is no `patch`, which not every system has.
    fn applied_by(tool: Tool, changes: &[FileChange]) -> Option<Vec<Vec<u8>>> {
        let folder = tempfile::tempdir().unwrap();
        for change in changes {
            let path = folder.path().join(&change.path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, &change.before).unwrap();
        }
        let patch = Patch::new(changes);
        let patch_path = tempfile::NamedTempFile::new().unwrap();
        fs::write(patch_path.path(), patch.bytes()).unwrap();
        let mut command = match tool {
            Tool::Git => Command::new("git"),
            Tool::Patch => Command::new("patch"),
        };
        match tool {
            // The warning about white space would only be noise.
            Tool::Git => command.args(["apply", "--whitespace=nowarn"]).arg(patch_path.path()),
            Tool::Patch => command.args(["-p1", "--binary", "--input"]).arg(patch_path.path()),
        };
        // Outside any repository, or git would take the paths for ones below the repository's top.
        let output = command
            .current_dir(folder.path())
            .env("GIT_CEILING_DIRECTORIES", folder.path().parent().unwrap())
            .env_remove("GIT_DIR")
            .output();
        if matches!((&output, tool), (Err(error), Tool::Patch) if error.kind() == std::io::ErrorKind::NotFound)
        {
            return None;
        }
        let output = output.unwrap();
        assert!(
            output.status.success(),
            "{tool:?}: {}{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
            String::from_utf8_lossy(patch.bytes())
        );
        Some(changes.iter().map(|change| fs::read(folder.path().join(&change.path)).unwrap()).collect())
    }

    fn check(changes: &[FileChange]) {
        let expected: Vec<Vec<u8>> = changes.iter().map(|change| change.after.clone()).collect();
        if Patch::new(changes).is_empty() {
            assert!(changes.iter().all(|change| change.before == change.after));
            return;
        }
        for tool in [Tool::Git, Tool::Patch] {
            assert_eq!(applied_by(tool, changes).unwrap_or_else(|| expected.clone()), expected, "{tool:?}");
        }
    }

    #[test]
    fn every_kind_of_line_survives_git_and_patch() {
        let cases: &[(&str, &[u8], &[u8])] = &[
            ("plain.py", b"a\nb\nc\nd\ne\nf\ng\nh\n", b"a\nb\nc\nD\ne\nf\ng\nh\n"),
            ("no_final_newline.py", b"a\nb\nc", b"a\nB\nc"),
            ("gains_final_newline.py", b"a\nb", b"a\nb\n"),
            ("loses_final_newline.py", b"a\nb\n", b"a\nb"),
            ("crlf.py", b"a\r\nb\r\nc\r\n", b"a\r\nB\r\nc\r\n"),
            ("mixed.py", b"a\r\nb\nc\r\n", b"a\nb\r\nc\r\n"),
            ("lone_cr.py", b"a\rb\nc\rd\ne\r", b"a\rB\nc\rd\ne\rf"),
            ("form_feed.py", b"a\n\x0c\nb\n", b"a\n\x0c\nB\n"),
            ("separator.py", "a = '\u{2028}'\nb\n".as_bytes(), "a = '\u{2028}'\nB\n".as_bytes()),
            ("bom.py", "\u{feff}a\nb\n".as_bytes(), "\u{feff}A\nb\n".as_bytes()),
            (
                "latin_1.py",
                b"# -*- coding: latin-1 -*-\nx = '\xe9'\n",
                b"# -*- coding: latin-1 -*-\ny = '\xe9'\n",
            ),
            ("blank_context.py", b"\n\n\na\n\n\n", b"\n\n\nb\n\n\n"),
            ("looks_like_patch.py", b"--- a\n+++ b\n@@ -1 +1 @@\n", b"-- a\n++ b\n@@ -1 +1 @@\n- x\n"),
            ("from_empty.py", b"", b"a\n"),
            ("tabs.py", b"if x:\n\ty\n \t z\n", b"if x:\n\ty\n \t w\n"),
            ("a.ipynb", b"{\n \"cells\": [\n  \"x\\n\"\n ]\n}", b"{\n \"cells\": [\n  \"y\\n\"\n ]\n}"),
        ];
        let changes: Vec<FileChange> =
            cases.iter().map(|&(path, before, after)| FileChange::new(path, before, after)).collect();
        for change in &changes {
            check(std::slice::from_ref(change));
        }
        check(&changes);
    }

    #[test]
    fn a_file_may_become_empty() {
        let change = FileChange::new("gone.py", "a\nb\n", "");
        assert_eq!(applied_by(Tool::Git, &[change]).unwrap(), [b""]);
    }

    #[test]
    fn names_are_quoted_as_git_quotes_them() {
        for (path, expected) in [
            ("a.py", "a/a.py"),
            ("with space.py", "a/with space.py"),
            ("ünï.py", "\"a/\\303\\274n\\303\\257.py\""),
            ("q\"b\\.py", "\"a/q\\\"b\\\\.py\""),
            ("t\tn\n.py", "\"a/t\\tn\\n.py\""),
            ("\x01\x7f.py", "\"a/\\001\\177.py\""),
        ] {
            assert_eq!(name("a/", Path::new(path)), expected);
        }
    }

    #[test]
    fn every_kind_of_name_survives_git_and_patch() {
        let paths = [
            "a b/c d.py",
            " leading.py",
            "trailing .py",
            "ünï/日本語.py",
            "q\"uote.py",
            "back\\slash.py",
            "tab\there.py",
            "b/a/b.py",
            "-dash.py",
            "é with space.py",
        ];
        let changes: Vec<FileChange> =
            paths.iter().map(|path| FileChange::new(path, "a\nb\n", "a\nc\n")).collect();
        check(&changes);
    }

    #[test]
    fn files_stand_in_the_order_of_their_paths_and_the_hash_covers_all() {
        let (a, b) = (FileChange::new("a.py", "1\n", "2\n"), FileChange::new("b.py", "1\n", "2\n"));
        let same = FileChange::new("c.py", "1\n", "1\n");
        let patch = Patch::new(&[b.clone(), same, a.clone()]);
        assert_eq!(patch, Patch::new(&[a.clone(), b]));
        assert_ne!(patch.sha256(), Patch::new(&[a]).sha256());
        assert_eq!(patch.sha256(), sha256(patch.bytes()));
        let expected = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n-1\n+2\n";
        assert!(patch.bytes().starts_with(expected.as_bytes()));
    }

    #[test]
    fn below_the_top_of_a_repository_git_finds_the_files() {
        let top = tempfile::tempdir().unwrap();
        assert!(Command::new("git").args(["init", "--quiet"]).current_dir(&top).status().unwrap().success());
        let root = top.path().join("a b/sub");
        fs::create_dir_all(&root).unwrap();
        let change = FileChange::new("x.py", "1\n", "2\n");
        fs::write(root.join("x.py"), &change.before).unwrap();
        let prefix = crate::diff::prefix_in_repository(&root).unwrap().unwrap();
        assert_eq!(prefix, Path::new("a b/sub"));
        let patch_path = top.path().join("patch");
        fs::write(&patch_path, Patch::below(&prefix, std::slice::from_ref(&change)).bytes()).unwrap();
        for folder in [&root, top.path()] {
            fs::write(root.join("x.py"), &change.before).unwrap();
            let status = Command::new("git").arg("apply").arg(&patch_path).current_dir(folder).status();
            assert!(status.unwrap().success());
            assert_eq!(fs::read(root.join("x.py")).unwrap(), change.after);
        }
    }

    #[test]
    fn a_hunk_has_three_lines_of_context() {
        let before: String = (1..=20).map(|number| number.to_string() + "\n").collect();
        let after = before.replace("10\n", "ten\n");
        let patch = Patch::new(&[FileChange::new("a.py", before, after)]);
        let text = String::from_utf8(patch.bytes().to_vec()).unwrap();
        assert!(text.ends_with("@@ -7,7 +7,7 @@\n 7\n 8\n 9\n-10\n+ten\n 11\n 12\n 13\n"), "{text}");
    }

    /// Files made of few distinct lines, so that equal lines abound, with every ending.
    fn content() -> impl Strategy<Value = Vec<u8>> {
        let line = prop::sample::select(vec![
            &b"a\n"[..],
            b"b\r\n",
            b"\n",
            b" \n",
            b"c\r",
            b"\x0c",
            b"-x\n",
            b"+y\n",
            b"\\ No newline at end of file\n",
            b"\xff\xe9\n",
            b"d",
        ]);
        prop::collection::vec(line, 1..24).prop_map(|lines| lines.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn any_change_survives_git_and_patch(
            files in prop::collection::vec((content(), content()), 1..4)
        ) {
            let changes: Vec<FileChange> = files
                .into_iter()
                .enumerate()
                .map(|(index, (before, after))| FileChange::new(format!("f{index}.py"), before, after))
                .collect();
            check(&changes);
        }
    }
}
