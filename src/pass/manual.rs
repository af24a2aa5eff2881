//! A pass's manual page, the list of passes, and the schema of pass files.

use std::fmt::Write as _;

use schemars::generate::SchemaSettings;
use serde_json::Value;

use super::registry::Registry;
use super::schema::PassFile;
use super::{Action, Device, Example, Goal, Layer, Pass, Rule};

/// One pass in a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// Its id.
    pub id: String,
    /// What it does.
    pub summary: String,
    /// How deep its ports reach.
    pub layer: Layer,
    /// What its ports must show.
    pub goal: Goal,
    /// The libraries it moves away from.
    pub sources: Vec<String>,
    /// The library it moves to.
    pub target: String,
    /// True where it is the user's.
    pub own: bool,
}

/// All passes, by id.
pub fn list(registry: &Registry) -> Vec<Listed> {
    let listed = |pass: &std::sync::Arc<Pass>| Listed {
        id: pass.id.clone(),
        summary: pass.summary.clone(),
        layer: pass.layer,
        goal: pass.goal,
        sources: pass.source_modules.clone(),
        target: pass.target.module.clone(),
        own: registry.is_own(&pass.id),
    };
    registry.passes().map(listed).collect()
}

/// The JSON Schema of pass files, for editors.
pub fn json_schema() -> Value {
    let schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<PassFile>();
    schema.to_value()
}

/// The manual page of `pass`, as Markdown.
pub fn manual(pass: &Pass) -> String {
    let mut page = format!("# {}\n\n{}.\n", pass.id, pass.summary);
    facts(pass, &mut page);
    if !pass.doc.trim().is_empty() {
        let _ = write!(page, "\n{}\n", pass.doc.trim());
    }
    page.push_str("\n## Rules\n");
    for rule in &pass.rules {
        describe(pass, rule, &mut page);
    }
    if !pass.examples.is_empty() {
        page.push_str("\n## Examples\n");
        for example in &pass.examples {
            show(example, &mut page);
        }
    }
    page
}

fn facts(pass: &Pass, page: &mut String) {
    let rows = [
        ("Moves", format!("{} → {}", pass.source_modules.join(", "), pass.target.module)),
        ("Layer", pass.layer.name().to_owned()),
        ("Goal", pass.goal.promise().to_owned()),
        ("Needs", needs(pass)),
        ("Extends", pass.extends.clone().unwrap_or_default()),
        ("API table", pass.api.as_ref().map(|table| table.name.clone()).unwrap_or_default()),
        ("Left alone where", guards(pass)),
        ("File", pass.origin.display().to_string()),
    ];
    page.push('\n');
    for (name, value) in rows.into_iter().filter(|(_, value)| !value.is_empty()) {
        let _ = writeln!(page, "- {name}: {value}");
    }
}

fn needs(pass: &Pass) -> String {
    let device = match pass.target.device {
        Device::Cpu => None,
        Device::Cuda => Some("an NVIDIA GPU".to_owned()),
    };
    device
        .into_iter()
        .chain(pass.target.requires.iter().map(|it| format!("`{it}`")))
        .collect::<Vec<_>>()
        .join(", ")
}

fn guards(pass: &Pass) -> String {
    pass.guards.iter().map(|guard| guard.summary.clone()).collect::<Vec<_>>().join("; ")
}

fn describe(pass: &Pass, rule: &Rule, page: &mut String) {
    let _ = write!(page, "\n### {}\n\n{}", rule.id, action(rule));
    if let Some(safety) = rule.safety {
        let _ = write!(page, " {}", safety.promise());
    }
    page.push('\n');
    if let Some(note) = &rule.note {
        let _ = write!(page, "\n{}\n", note.trim());
    }
    let lines: Vec<String> = pass.texts_of(rule).collect();
    if !lines.is_empty() {
        let _ = write!(page, "\n```text\n{}\n```\n", lines.join("\n"));
    }
}

fn action(rule: &Rule) -> String {
    let code = rule.reason.as_ref().map(|code| format!(" ({code})")).unwrap_or_default();
    match rule.action {
        Action::Rewrite => "Rewrites.".to_owned(),
        Action::Activate => "Switches the library on at the entry point.".to_owned(),
        Action::Advise => format!("Says{code}: {}.", rule.advice.as_deref().unwrap_or_default().trim()),
        Action::Keep => match rule.place {
            Some(super::Place::Device) => "Stays as it is; its value lives on the device.".to_owned(),
            _ => format!("Stays as it is{code}."),
        },
    }
}

fn show(example: &Example, page: &mut String) {
    let title = example.title.as_deref().unwrap_or("An example");
    let _ = write!(page, "\n### {title}\n\n```python\n{}\n```\n", example.before.trim_end());
    match &example.after {
        Some(after) => {
            let _ = write!(page, "\nbecomes\n\n```python\n{}\n```\n", after.trim_end());
        }
        None => page.push_str("\nstays as it is"),
    }
    if let Some(code) = &example.refused {
        let _ = write!(
            page,
            "{} {code}",
            if example.after.is_some() { "\nWhat stays is told with" } else { ":" }
        );
    }
    if let Some(rule) = &example.advises {
        let _ = write!(page, "; `{rule}` says why");
    }
    if example.after.is_none() || example.refused.is_some() {
        page.push_str(".\n");
    }
}

impl Layer {
    /// The name in files and on the screen.
    pub fn name(self) -> &'static str {
        match self {
            Self::Accelerator => "accelerator",
            Self::Native => "native",
            Self::Kernel => "kernel",
        }
    }
}

impl Goal {
    fn promise(self) -> &'static str {
        match self {
            Self::Speed => "equal results, and faster",
            Self::Compatibility => "equal results",
        }
    }
}

impl super::Safety {
    fn promise(self) -> &'static str {
        match self {
            Self::Exact => "The result has the same bits.",
            Self::Numeric => "The result is the same up to rounding.",
            Self::Contract => "Whether the result is the same is for the workload's contract to say.",
        }
    }
}

impl Pass {
    /// What `rule` matches and what that becomes, as written in the file, a line each.
    fn texts_of(&self, rule: &Rule) -> impl Iterator<Item = String> {
        let index = self.rules.iter().position(|it| it.id == rule.id);
        self.alternatives.iter().filter(move |it| Some(it.rule_index) == index).map(|alternative| {
            let pattern = alternative.text.trim_end();
            let conditions: Vec<String> = alternative.tests.iter().map(ToString::to_string).collect();
            let mut line = match &alternative.rewrite {
                Some(rewrite) if rewrite.trim_end().contains('\n') || pattern.contains('\n') => {
                    format!("{pattern}\n→\n{}", rewrite.trim_end())
                }
                Some(rewrite) => format!("{pattern} → {}", rewrite.trim_end()),
                None => pattern.to_owned(),
            };
            if !conditions.is_empty() {
                let _ = write!(line, "\n    where {}", conditions.join(", "));
            }
            line
        })
    }
}
