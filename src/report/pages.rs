//! A reason code explained: on the terminal, and as the pages under `docs/reasons/`.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use super::reasons::{Reason, Reasons};
use super::style::{Role, Style};

/// Characters in a line of an explanation, as terminals are wide.
const LINE_WIDTH: usize = 80;

const GENERATED: &str =
    "<!-- Generated from patterns/reasons.yaml by `UPDATE_DOCS=1 cargo test --test tidy`. -->\n\n";

/// What `gpuport explain` prints for a code.
pub fn explain(reason: &Reason, style: Style) -> String {
    let heading = |text: &str| style.paint(Role::Strong, text);
    let mut out = String::new();
    let code = style.paint(Role::Code, reason.code.as_str());
    let _ = writeln!(out, "{code} {}\n", heading(&reason.title));
    let _ = writeln!(out, "{}\n", wrapped(&reason.why));
    let _ = writeln!(out, "{}\n", heading("Example"));
    for line in reason.example.trim_end().lines() {
        let _ = writeln!(out, "{}", format!("    {line}").trim_end());
    }
    let _ = writeln!(out, "\n{}\n\n{}", heading("What to do"), wrapped(&reason.remedy));
    out
}

/// The pages under `docs/reasons/` by file name: one for each code, and `README.md` that lists them.
pub fn pages(reasons: &Reasons) -> BTreeMap<String, String> {
    let mut pages: BTreeMap<String, String> =
        reasons.iter().map(|reason| (format!("{}.md", reason.code), page(reason))).collect();
    pages.insert("README.md".to_owned(), index(reasons));
    pages
}

fn page(reason: &Reason) -> String {
    let Reason { code, title, why, example, remedy } = reason;
    format!(
        "{GENERATED}# {code}: {title}\n\n{}\n\n## Example\n\n```python\n{}\n```\n\n## What to do\n\n{}\n",
        why.trim(),
        example.trim_end(),
        remedy.trim()
    )
}

fn index(reasons: &Reasons) -> String {
    let start = format!(
        "{GENERATED}# Reason codes\n\nEverything that gpuport leaves alone, refuses or rejects has one of these codes; \
         `gpuport explain CODE` prints its page.\n\n| code | what is the case |\n|---|---|\n"
    );
    reasons.iter().fold(start, |mut out, Reason { code, title, .. }| {
        let _ = writeln!(out, "| [{code}]({code}.md) | {} |", title.replace('|', "\\|"));
        out
    })
}

/// `text` in lines of [`LINE_WIDTH`]; a blank line still ends a paragraph.
fn wrapped(text: &str) -> String {
    let paragraphs = text.trim().split("\n\n").map(|paragraph| {
        let mut lines = vec![String::new()];
        for word in paragraph.split_whitespace() {
            let line = lines.last_mut().expect("there is a first line");
            if line.is_empty() {
                line.push_str(word);
            } else if line.chars().count() + 1 + word.chars().count() <= LINE_WIDTH {
                line.push(' ');
                line.push_str(word);
            } else {
                lines.push(word.to_owned());
            }
        }
        lines.join("\n")
    });
    paragraphs.collect::<Vec<_>>().join("\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reasons() -> Reasons {
        let long = "word ".repeat(30);
        Reasons::parse(&format!(
            "- code: GP204\n  title: Random draws stay | on the host\n  why: {long}\n  example: |\n    \
             x = np.random.rand(3)\n\n    y = x\n  remedy: Draw once\n"
        ))
        .unwrap()
    }

    #[test]
    fn an_explanation_is_wrapped_and_keeps_the_example() {
        let reasons = reasons();
        let text = explain(reasons.iter().next().unwrap(), Style::Plain);
        assert!(text.starts_with("GP204 Random draws stay | on the host\n\nword word"));
        assert!(text.ends_with(
            "word\n\nExample\n\n    x = np.random.rand(3)\n\n    y = x\n\nWhat to do\n\nDraw once\n"
        ));
        assert!(text.lines().all(|line| line.len() <= LINE_WIDTH));
    }

    #[test]
    fn there_is_a_page_for_each_code_and_an_index() {
        let pages = pages(&reasons());
        assert_eq!(pages.keys().collect::<Vec<_>>(), ["GP204.md", "README.md"]);
        assert!(pages["README.md"].ends_with("| [GP204](GP204.md) | Random draws stay \\| on the host |\n"));
        let page = &pages["GP204.md"];
        assert!(page.contains("# GP204: Random draws stay | on the host\n\nword word"));
        assert!(
            page.ends_with("```python\nx = np.random.rand(3)\n\ny = x\n```\n\n## What to do\n\nDraw once\n")
        );
    }
}
