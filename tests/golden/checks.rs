//! What must hold for every scenario, whatever it expects.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use gpuport::source::{Edits, Module, SourceFile};
use ruff_python_ast::token::TokenKind;
use ruff_text_size::Ranged as _;

/// The files of a program, by path.
pub(crate) type Files = BTreeMap<PathBuf, Vec<u8>>;

/// `git apply` of `diff` turns `before` into exactly `after`.
pub(crate) fn git_applies(diff: &[u8], before: &Files, after: &Files) -> Result<(), String> {
    if diff.is_empty() {
        return (before == after).then_some(()).ok_or_else(|| "files change without a patch".to_owned());
    }
    let folder = tempfile::tempdir().map_err(|error| error.to_string())?;
    let root = folder.path();
    for (path, bytes) in before {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap_or(root)).map_err(|error| error.to_string())?;
        fs::write(file, bytes).map_err(|error| error.to_string())?;
    }
    git(root, diff)?;
    for (path, bytes) in after {
        let written = fs::read(root.join(path)).map_err(|error| format!("{}: {error}", path.display()))?;
        if written != *bytes {
            return Err(format!("`git apply` makes another {} than the plan", path.display()));
        }
    }
    Ok(())
}

fn git(root: &Path, patch: &[u8]) -> Result<(), String> {
    let mut child = Command::new("git")
        .args(["apply", "--whitespace=nowarn", "-"])
        .current_dir(root)
        // No repository around the folder and no user's settings may change what the patch does.
        .env("GIT_CEILING_DIRECTORIES", root.parent().unwrap_or(root))
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_SYSTEM", "/dev/null")
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| format!("git: {error}"))?;
    let sent = child.stdin.take().map(|mut stdin| stdin.write_all(patch));
    let output = child.wait_with_output().map_err(|error| format!("git: {error}"))?;
    match sent {
        Some(Ok(())) if output.status.success() => Ok(()),
        _ => Err(format!("`git apply` refuses the patch: {}", String::from_utf8_lossy(&output.stderr))),
    }
}

/// Lines that `edits` don't touch keep every byte, and no comment is lost.
pub(crate) fn keeps_the_rest(before: &Module, edits: &Edits, after: &Module) -> Result<(), String> {
    let mut rest = after.text();
    for line in untouched_lines(before.text(), edits) {
        let Some(at) = rest.find(line) else {
            return Err(format!("{}: this line changed: {line:?}", before.file.path.display()));
        };
        rest = &rest[at + line.len()..];
    }
    let mut left = comments(after);
    for comment in comments(before) {
        match left.iter().position(|other| *other == comment) {
            Some(at) => drop(left.remove(at)),
            None => return Err(format!("{}: this comment is gone: {comment}", before.file.path.display())),
        }
    }
    Ok(())
}

/// The lines of `text` that no edit changes: an insertion between two lines touches neither.
fn untouched_lines<'t>(text: &'t str, edits: &Edits) -> Vec<&'t str> {
    let mut lines = Vec::new();
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        let end = start + line.len();
        let touched = edits.iter().any(|edit| {
            let (from, to) = (edit.range.start().to_usize(), edit.range.end().to_usize());
            from < end && (to > start || from > start && from == to)
        });
        if !touched {
            lines.push(line);
        }
        start = end;
    }
    lines
}

fn comments(module: &Module) -> Vec<&str> {
    let tokens = module.parsed().tokens().iter();
    tokens
        .filter(|token| token.kind() == TokenKind::Comment)
        .map(|token| module.slice(token.range()))
        .collect()
}

/// `bytes` as a module, where they are Python that parses.
pub(crate) fn module(path: &Path, bytes: &[u8]) -> Option<Module> {
    Module::parse(SourceFile::from_bytes(path, bytes).ok()?).ok()
}
