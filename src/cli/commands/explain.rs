//! `gpuport explain`: what a reason code means, or why a line was or was not ported.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use super::super::args::ExplainArgs;
use super::super::exit::Exit;
use super::super::printer::Printer;
use super::super::project;
use super::super::settings::Settings;
use super::super::sources::Sources;
use crate::kinds::NoFacts;
use crate::pass::{FindOptions, Pass, find_with};
use crate::plan::{Pinned, plan_unit};
use crate::reasons::Code;
use crate::report::{Reasons, Role, Style, explain};

/// Prints the page of a code, or what each pass says of a line.
pub(crate) fn run(args: &ExplainArgs, printer: &Printer) -> Result<Exit> {
    let text = match place(&args.what) {
        Some((path, line_number)) => line(&path, line_number, args, printer.out_style())?,
        None => code(&args.what, printer.out_style())?,
    };
    printer.out(text.as_bytes());
    Ok(Exit::Done)
}

/// `FILE:LINE` or `FILE:LINE:COLUMN`, where the file exists.
fn place(text: &str) -> Option<(PathBuf, u32)> {
    let mut parts = text.rsplitn(3, ':');
    let (last, before, rest) = (parts.next()?, parts.next()?, parts.next());
    if let (Some(path), Ok(_), Ok(line_number)) = (rest, last.parse::<u32>(), before.parse()) {
        return Some((PathBuf::from(path), line_number));
    }
    let path = rest.map_or(before.to_owned(), |rest| format!("{rest}:{before}"));
    Some((PathBuf::from(path), last.parse().ok()?))
}

fn code(text: &str, style: Style) -> Result<String> {
    let reasons = Reasons::shipped();
    let code = Code::from_text(&text.to_ascii_uppercase());
    match reasons.get(&code) {
        Some(reason) => Ok(explain(reason, style)),
        None => bail!("`{text}` is neither a reason code nor FILE:LINE; codes run from {}", range(reasons)),
    }
}

fn range(reasons: &Reasons) -> String {
    let codes: Vec<&Code> = reasons.iter().map(|reason| &reason.code).collect();
    match (codes.first(), codes.last()) {
        (Some(first), Some(last)) => format!("{first} to {last}"),
        _ => "none".to_owned(),
    }
}

/// What was planned, left, advised or nearly matched on one line.
fn line(path: &Path, line_number: u32, args: &ExplainArgs, style: Style) -> Result<String> {
    let settings = Settings::new(&[path.to_owned()], &args.passes.passes)?;
    let path = project::canonical(path)?;
    let entry = path.strip_prefix(&settings.root).context("the file is outside its project")?.to_owned();
    let sources = Sources::new(settings.root.clone());
    let module = sources
        .module(&entry)
        .map_err(|refusal| anyhow::anyhow!("{}: {}", refusal.place, refusal.message))?;
    let Some(text) = module.text().split_inclusive('\n').nth(line_number.saturating_sub(1) as usize) else {
        bail!("{} has no line {line_number}", entry.display());
    };
    let mut out = format!("{}:{line_number}: {}\n", entry.display(), text.trim());
    for pass in &settings.passes {
        let said = of_pass(pass, &sources, &entry, line_number)?;
        let said = if said.is_empty() { "  nothing on this line concerns it\n".to_owned() } else { said };
        let _ = write!(out, "\n{}\n{said}", style.paint(Role::Strong, &pass.id));
    }
    Ok(out)
}

fn of_pass(pass: &Pass, sources: &Sources, entry: &Path, line_number: u32) -> Result<String> {
    let module = sources.module(entry).map_err(|refusal| anyhow::anyhow!("{}", refusal.message))?;
    let project = sources.project_of(module);
    let plan = plan_unit(&project, entry, pass, &Pinned::new());
    let here = |place: &crate::reasons::Place| place.line_number == line_number && place.path == entry;
    let mut out = String::new();
    for change in &plan.changes {
        if change.place.path == entry && change.lines.0 <= line_number && line_number <= change.lines.1 {
            let rules = change.rules.join(", ");
            let _ = writeln!(out, "  part of the change {} ({}; rules {rules})", change.id.0, change.what);
        }
    }
    for refusal in plan.left.iter().filter(|refusal| here(&refusal.place)) {
        let _ = writeln!(out, "  left: {} {}", refusal.code, refusal.message);
    }
    for advice in plan.advice.iter().filter(|advice| here(&advice.place)) {
        let _ = writeln!(out, "  advice: {}", advice.message);
    }
    if let Some(id) = project.by_path(entry) {
        let (module, names) = (project.module(id), project.names(id));
        let options = FindOptions { aliases: None, explain: true };
        let (_, misses) = find_with(pass, module, names, &NoFacts, options);
        for miss in misses.iter().filter(|miss| here(&module.place(miss.range.start()))) {
            let code = miss.code.as_ref().map(|code| format!("{code} ")).unwrap_or_default();
            let rule = &pass.rules[miss.rule_index].id;
            let _ = writeln!(out, "  rule {rule} does not match: {code}{}", miss.message);
        }
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::place;

    #[test]
    fn places_and_codes_are_told_apart() {
        assert_eq!(place("a/b.py:12"), Some(("a/b.py".into(), 12)));
        assert_eq!(place("a/b.py:12:3"), Some(("a/b.py".into(), 12)));
        assert_eq!(place("GP204"), None);
    }
}
