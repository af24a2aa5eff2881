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
use crate::pass::{Action, Device, Goal, Layer, Pass, PassFile};
use crate::plan::check_examples;
use crate::report::{Role, Style};

/// Runs the command.
pub fn run(command: &PassesCommand, printer: &Printer) -> Result<Exit> {
    let style = printer.out_style();
    match command {
        PassesCommand::List => printer.out(list(&named(&[])?, style).as_bytes()),
        PassesCommand::Show { pass } => {
            for pass in named(std::slice::from_ref(pass))? {
                printer.out(show(&pass, style).as_bytes());
            }
        }
        PassesCommand::Check { passes } => {
            let checked = named(passes)?;
            printer.note(&format!("{} checked, no errors", count(checked.len())));
        }
        PassesCommand::Test { passes } => return test(&named(passes)?, printer),
        PassesCommand::Schema => {
            let schema = schemars::schema_for!(PassFile);
            printer.out((serde_json::to_string_pretty(&schema)? + "\n").as_bytes());
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
        let _ = writeln!(out, "{name}{padding}  {:<11}  {}", layer(pass.layer), pass.summary);
        out
    })
}

/// A pass's manual page.
fn show(pass: &Pass, style: Style) -> String {
    let mut out = format!("{}: {}\n\n", style.paint(Role::Strong, &pass.id), pass.summary);
    if !pass.doc.trim().is_empty() {
        let _ = writeln!(out, "{}\n", pass.doc.trim());
    }
    let goal = match pass.goal {
        Goal::Speed => "equal results, and faster",
        Goal::Compatibility => "equal results",
    };
    let device = match pass.target.device {
        Device::Cpu => "any machine",
        Device::Cuda => "a machine with an NVIDIA GPU",
    };
    let _ = writeln!(out, "layer     {}\njudged    for {goal}, on {device}", layer(pass.layer));
    if !pass.target.requires.is_empty() {
        let _ = writeln!(out, "requires  {}", pass.target.requires.join(", "));
    }
    let guards: Vec<&str> = pass.guards.iter().map(|guard| guard.id.as_str()).collect();
    if !guards.is_empty() {
        let _ = writeln!(out, "guards    {}", guards.join(", "));
    }
    let _ = writeln!(out, "file      {}\n\n{}", pass.origin.display(), style.paint(Role::Strong, "Rules"));
    for rule in &pass.rules {
        let what = match rule.action {
            Action::Rewrite => "rewrites",
            Action::Activate => "switches on",
            Action::Advise => "advises",
            Action::Keep => "keeps",
        };
        let reason = rule.reason.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
        let note =
            rule.note.as_deref().or(rule.advice.as_deref()).map(|text| format!(": {}", one_line(text)));
        let _ = writeln!(
            out,
            "  {} {what}{reason}{}",
            style.paint(Role::Code, &rule.id),
            note.unwrap_or_default()
        );
    }
    for (index, example) in pass.examples.iter().enumerate() {
        let title = example.title.clone().unwrap_or_else(|| format!("Example {}", index + 1));
        let _ = write!(out, "\n{}\n{}", style.paint(Role::Strong, &title), indented(&example.before));
        match &example.after {
            Some(after) => {
                let _ = write!(out, "  becomes\n{}", indented(after));
            }
            None => out.push_str("  stays\n"),
        }
    }
    out
}

fn layer(layer: Layer) -> &'static str {
    match layer {
        Layer::Accelerator => "accelerator",
        Layer::Native => "native",
        Layer::Kernel => "kernel",
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
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
