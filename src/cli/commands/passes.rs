//! `gpuport passes`: lists, shows, checks and tests passes, and prints their schema.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Result, bail};

use super::super::args::PassesCommand;
use super::super::config::Config;
use super::super::exit::Exit;
use super::super::passes::{id_of, registry};
use super::super::printer::Printer;
use super::super::project;
use crate::pass::{Goal, Pass, json_schema, manual};
use crate::plan::check_examples;
use crate::report::{Role, Style};

/// Runs the command.
pub(crate) fn run(command: &PassesCommand, printer: &Printer) -> Result<Exit> {
    let style = printer.out_style();
    match command {
        PassesCommand::List => printer.out(list(&named(&[])?, style).as_bytes()),
        PassesCommand::Show { pass } => {
            for pass in named(std::slice::from_ref(pass))? {
                printer.out(manual(&pass).as_bytes());
            }
        }
        PassesCommand::Check { passes } => {
            let checked = named(passes)?;
            printer.note(&format!("{} checked, no errors", count(checked.len())));
        }
        PassesCommand::Test { passes } => return test(&named(passes)?, printer),
        PassesCommand::Schema => {
            printer.out((serde_json::to_string_pretty(&json_schema())? + "\n").as_bytes());
        }
    }
    Ok(Exit::Done)
}

/// The passes with these ids or files; all that the project here can name where there are none.
fn named(asked: &[String]) -> Result<Vec<Arc<Pass>>> {
    let root = project::root_of(&[Path::new(".").to_owned()])?;
    let config = Config::load(&root)?;
    let registry = registry(&root, &config, asked)?;
    if asked.is_empty() {
        return Ok(registry.passes().cloned().collect());
    }
    let mut found = Vec::new();
    for text in asked {
        match registry.pass(&id_of(text)) {
            Some(pass) => found.push(pass),
            None => bail!("there is no pass `{text}`; `gpuport passes list` shows all"),
        }
    }
    Ok(found)
}

fn count(passes: usize) -> String {
    if passes == 1 { "1 pass".to_owned() } else { format!("{passes} passes") }
}

fn list(passes: &[Arc<Pass>], style: Style) -> String {
    let mut ordered: Vec<&Arc<Pass>> = passes.iter().collect();
    ordered.sort_by_key(|pass| (pass.goal == Goal::Speed, pass.layer, pass.id.clone()));
    let width = ordered.iter().map(|pass| pass.id.len()).max().unwrap_or(0);
    ordered.iter().fold(String::new(), |mut out, pass| {
        let padding = " ".repeat(width - pass.id.len());
        let name = style.paint(Role::Strong, &pass.id);
        let _ = writeln!(out, "{name}{padding}  {:<11}  {}", pass.layer.name(), pass.summary);
        out
    })
}

fn indented(text: &str) -> String {
    text.lines().fold(String::new(), |mut out, line| {
        let _ = writeln!(out, "    {line}");
        out
    })
}

fn test(passes: &[Arc<Pass>], printer: &Printer) -> Result<Exit> {
    let (mut passed, mut failed) = (0, 0);
    for pass in passes {
        let failures = check_examples(pass);
        passed += pass.examples.len().saturating_sub(failures.len());
        failed += failures.len();
        for failure in failures {
            printer.error(&format!("{}, {}: {}", pass.id, failure.title, failure.message), None);
            if let Some((wanted, got)) = failure.texts {
                printer.note(&format!("expected:\n{}got:\n{}", indented(&wanted), indented(&got)));
            }
        }
    }
    printer.note(&format!("{passed} passed, {failed} failed"));
    Ok(if failed == 0 { Exit::Done } else { Exit::Rejected })
}
