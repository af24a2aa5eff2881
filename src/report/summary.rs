//! The summary of a run: each unit with its verdict, speed, changes and reasons, and what became of the tree.

use std::fmt::Write as _;

use crate::verify::{Finding, Verdict};

use super::figures::{bytes, count, factor, seconds};
use super::listing::tally;
use super::model::{
    Baseline, ChangeReport, GpuUse, RunReport, Timing, TreeOutcome, UnitReport, metric_name, verdict_name,
};
use super::style::{Role, Style, printable};

/// Callables that fell back to the CPU are named up to this many; the JSON report has them all.
const FALLBACKS_SHOWN: usize = 3;

/// The summary of `run`.
pub fn summary(run: &RunReport, style: Style) -> String {
    let mut out = String::new();
    let name_width = run.units.iter().map(|unit| printable(&unit.unit).chars().count()).max().unwrap_or(0);
    for unit in &run.units {
        write_unit(&mut out, unit, name_width, style);
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let _ = writeln!(out, "{}", totals(run));
    let _ = writeln!(out, "{}", tree(run));
    out
}

fn write_unit(out: &mut String, unit: &UnitReport, name_width: usize, style: Style) {
    let verdict = painted_verdict(unit.verdict, style);
    let name = printable(&unit.unit);
    let padding = " ".repeat(name_width - name.chars().count());
    let mut parts = vec![format!("{verdict}  {}{padding}", style.paint(Role::Strong, &name))];
    parts.extend(unit.timing.as_ref().map(timing));
    parts.extend(unit.limited_by.map(|factor| format!("limited by {factor}")));
    let _ = writeln!(out, "{}", parts.join("  ").trim_end());
    if let Some(gpu) = &unit.gpu {
        let _ = writeln!(out, "    gpu: {}", gpu_use(gpu));
    }
    for change in &unit.changes {
        write_change(out, change, style);
    }
    for finding in &unit.findings {
        let _ = writeln!(out, "    {}", self::finding(finding, style));
    }
}

/// All verdicts as wide as the longest, `inconclusive`.
fn painted_verdict(verdict: Verdict, style: Style) -> String {
    let role = match verdict {
        Verdict::Accepted => Role::Good,
        Verdict::Rejected => Role::Bad,
        Verdict::Inconclusive | Verdict::Unverified => Role::Unsure,
    };
    style.paint(role, &format!("{:<12}", verdict_name(verdict)))
}

/// `4.20x (3.90x to 4.60x)  1.20 s → 285 ms  process, 5 runs`.
fn timing(timing: &Timing) -> String {
    let bound = match timing.baseline {
        Baseline::Measured => "",
        Baseline::LowerBound => "at least ",
    };
    let (low, high) = timing.interval;
    format!(
        "{bound}{} ({} to {})  {bound}{} → {}  {}, {}",
        factor(timing.speedup),
        factor(low),
        factor(high),
        seconds(timing.before),
        seconds(timing.after),
        metric_name(timing.metric),
        count(timing.runs as usize, "run")
    )
}

fn gpu_use(gpu: &GpuUse) -> String {
    let mut parts = vec![match usize::try_from(gpu.kernels) {
        Ok(kernels) => count(kernels, "kernel"),
        Err(_) => format!("{} kernels", gpu.kernels),
    }];
    parts.extend(gpu.busy.map(|busy| format!("busy {}", seconds(busy))));
    parts.extend(gpu.bytes_to_device.map(|count| format!("{} to the device", bytes(count))));
    parts.extend(gpu.bytes_to_host.map(|count| format!("{} back", bytes(count))));
    parts.extend(gpu.peak_bytes.map(|count| format!("{} at most in use", bytes(count))));
    if !gpu.fallbacks.is_empty() {
        parts.push(format!("on the CPU: {}", fallbacks(gpu)));
    }
    parts.join(", ")
}

fn fallbacks(gpu: &GpuUse) -> String {
    let shown = gpu.fallbacks.iter().take(FALLBACKS_SHOWN);
    let mut names: Vec<String> =
        shown.map(|it| format!("{} ×{}", printable(&it.callable), it.calls)).collect();
    if gpu.fallbacks.len() > FALLBACKS_SHOWN {
        names.push(format!("{} more", gpu.fallbacks.len() - FALLBACKS_SHOWN));
    }
    names.join(", ")
}

/// `+` marks what is or would be in the tree, `-` what is not.
fn write_change(out: &mut String, report: &ChangeReport, style: Style) {
    let change = &report.change;
    let (sign, suffix) = match report.verdict {
        Verdict::Accepted => (style.paint(Role::Good, "+"), String::new()),
        verdict => (style.paint(Role::Bad, "-"), format!(" {}", verdict_name(verdict))),
    };
    let pass = style.paint(Role::Faint, &format!("[{}]", printable(&change.pass)));
    let place = printable(&change.place.to_string());
    let _ = writeln!(out, "    {sign} {place}: {} {pass}{suffix}", printable(&change.what));
    for finding in &report.findings {
        let _ = writeln!(out, "      {}", self::finding(finding, style));
    }
}

/// `GP670 main.py:44:9: message`.
fn finding(finding: &Finding, style: Style) -> String {
    let code = style.paint(Role::Code, finding.code.as_str());
    let place =
        finding.place.as_ref().map_or_else(String::new, |it| format!("{}: ", printable(&it.to_string())));
    format!("{code} {place}{}", printable(&finding.message))
}

/// `3 units: 1 accepted, 2 rejected; 2 of 4 changes accepted; 7 places in 2 files left as they were`.
fn totals(run: &RunReport) -> String {
    let mut parts = Vec::new();
    let verdicts = [Verdict::Accepted, Verdict::Rejected, Verdict::Inconclusive, Verdict::Unverified];
    let counts =
        verdicts.map(|verdict| (verdict, run.units.iter().filter(|it| it.verdict == verdict).count()));
    let counts: Vec<String> = counts
        .iter()
        .filter(|(_, number)| *number > 0)
        .map(|(verdict, number)| format!("{number} {}", verdict_name(*verdict)))
        .collect();
    if counts.is_empty() {
        parts.push("nothing to port".to_owned());
    } else {
        parts.push(format!("{}: {}", count(run.units.len(), "unit"), counts.join(", ")));
    }
    let changes = || run.units.iter().flat_map(|unit| &unit.changes);
    let accepted = changes().filter(|change| change.verdict == Verdict::Accepted).count();
    if changes().count() > 0 {
        parts.push(format!("{accepted} of {} accepted", count(changes().count(), "change")));
    }
    let left = || run.units.iter().flat_map(|unit| &unit.left).map(|refusal| refusal.place.path.as_path());
    if left().count() > 0 {
        parts.push(format!("{} left as they were", tally(left())));
    }
    if !run.skipped.is_empty() {
        parts.push(format!("{} not understood", count(run.skipped.len(), "file")));
    }
    parts.join("; ")
}

fn tree(run: &RunReport) -> String {
    match (&run.tree, &run.run) {
        (TreeOutcome::Untouched, _) => "no file was changed".to_owned(),
        (TreeOutcome::Applied(files), None) => format!("{} changed", count(files.len(), "file")),
        (TreeOutcome::Applied(files), Some(run)) => {
            format!("{} changed; `gpuport undo {run}` takes that back", count(files.len(), "file"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::samples::run_report;
    use super::*;

    #[test]
    fn a_run_is_told_in_full() {
        let expected = "\
accepted      main.py      4.20x (3.90x to 4.60x)  1.20 s → 285 ms  process, 5 runs
    gpu: 1240 kernels, busy 180 ms, 80.0 MB to the device, 8.00 MB back, 1.20 GB at most in use, on the CPU: a ×2, b ×1, c ×1, 1 more
    + main.py:12:1: function simulate [numpy-to-cupy]
    - main.py:40:1: function step [numpy-to-cupy] rejected
      GP670 main.py:44:9: element 3 differs by 0.1
rejected      lib/step.py  at least 0.41x (0.38x to 0.45x)  at least 210 ms → 512 ms  warm, 1 run  limited by transfers
    GP673 slower than before
unverified    c.py

3 units: 1 accepted, 1 rejected, 1 unverified; 1 of 2 changes accepted; 2 places in 1 file left as they were; 1 file not understood
2 files changed; `gpuport undo 0007` takes that back
";
        assert_eq!(summary(&run_report(), Style::Plain), expected);
    }

    #[test]
    fn colours_add_nothing_but_colours() {
        let coloured = summary(&run_report(), Style::Ansi);
        let stripped = coloured
            .split("\x1b[")
            .enumerate()
            .map(|(index, piece)| if index == 0 { piece } else { piece.split_once('m').unwrap().1 });
        assert_eq!(stripped.collect::<String>(), summary(&run_report(), Style::Plain));
    }

    #[test]
    fn an_empty_run_says_so() {
        assert_eq!(summary(&RunReport::default(), Style::Plain), "nothing to port\nno file was changed\n");
    }
}
