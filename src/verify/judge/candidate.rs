//! Whether the candidate can be verified here, and whether what it makes agrees with what the original makes.

use std::ffi::OsString;

use super::baseline::Baseline;
use super::trial::{Answer, Trial, end_of, place_of, short};
use crate::verify::compare::compare_captures;
use crate::verify::error::JudgeError;
use crate::verify::evidence::ComparisonRecord;
use crate::verify::protocol::{Device, End, Exit, Mode, Raised};
use crate::verify::requires::Requirement;
use crate::verify::run::{Role, Run};
use crate::verify::sandbox::is_convertible;
use crate::verify::{Verdict, codes, why};

impl Trial<'_, '_> {
    /// Whether this machine has a GPU and the interpreter the libraries, where the claim needs them.
    pub(super) fn can_be_verified_here(&mut self) -> Answer {
        if self.claim.device == Device::Cuda
            && let Err(absent) = &self.judge.gpu
        {
            let message = format!("this machine can't verify a port to the GPU: {absent}");
            self.cannot_verify = true;
            return Ok(Some(self.decide(Verdict::Unverified, codes::NO_GPU, message)));
        }
        let missing = self.missing_libraries()?;
        if missing.is_empty() {
            return Ok(None);
        }
        self.cannot_verify = true;
        let python = self.after.python.display();
        let message = format!(
            "{python} lacks {}: install it, or name another Python with --python",
            missing.join(", ")
        );
        Ok(Some(self.decide(Verdict::Unverified, codes::LIBRARY_MISSING, message)))
    }

    /// Requirements that the candidate's interpreter does not meet, with what it has.
    fn missing_libraries(&mut self) -> Result<Vec<String>, JudgeError> {
        let requirements: Vec<(&String, Requirement)> =
            self.claim.requires.iter().filter_map(|text| Some((text, Requirement::parse(text)?))).collect();
        if requirements.is_empty() {
            return Ok(Vec::new());
        }
        let mut arguments: Vec<OsString> = vec![self.judge.bench.worker_file("installed.py").into()];
        arguments.extend(requirements.iter().map(|(_, requirement)| requirement.top_module().into()));
        let (_, answer) = self.judge.bench.ask(&self.after.python, arguments)?;
        let Ok(found) = serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(&answer) else {
            // An interpreter that can't even say shows by its runs.
            return Ok(Vec::new());
        };
        let unmet = requirements.iter().filter_map(|(text, requirement)| {
            match found.get(requirement.top_module()).and_then(serde_json::Value::as_str) {
                None => Some((*text).clone()),
                Some(version) if requirement.accepts(version) => None,
                Some(version) => Some(format!("{text} (it has {version})")),
            }
        });
        Ok(unmet.collect())
    }

    /// Runs the candidate as the original was run, and compares.
    pub(super) fn results_agree(&mut self) -> Answer {
        let run = self.run(Role::After, Mode::Capture, true, None)?;
        if let Some(verdict) = self.candidate_failed(&run) {
            return Ok(Some(verdict));
        }
        let verdict = self.compare(&run)?;
        self.captured = Some(run);
        Ok(verdict)
    }

    /// Answers where a run of the candidate ended otherwise than well.
    pub(super) fn candidate_failed(&mut self, run: &Run) -> Option<Verdict> {
        if let Some(verdict) = self.unusable(run) {
            return Some(verdict);
        }
        if run.succeeded() {
            return None;
        }
        let message = format!("the candidate {}", end_of(run));
        if run.ended.exit == Exit::TimedOut {
            return Some(self.decide(Verdict::Rejected, codes::CANDIDATE_TIMED_OUT, message));
        }
        let Ok(outcome) = &run.outcome else {
            return Some(self.decide(Verdict::Rejected, codes::NO_OUTCOME, message));
        };
        let Some(raised) = outcome.exception.clone() else {
            return Some(self.decide(Verdict::Rejected, codes::CANDIDATE_FAILED, message));
        };
        if outcome.end != End::NotRun && self.is_missing_library(&raised) {
            self.cannot_verify = true;
            return Some(self.decide(Verdict::Unverified, codes::LIBRARY_MISSING, message));
        }
        self.find(codes::CANDIDATE_FAILED, message, place_of(&raised));
        if ran_out_of_memory(&raised) {
            self.limited(why::out_of_memory(short(&raised.type_name)));
        }
        Some(Verdict::Rejected)
    }

    fn is_missing_library(&self, raised: &Raised) -> bool {
        let Some(module) = &raised.module else { return false };
        let top = |name: &str| name.split('.').next().map(str::to_owned);
        self.claim.libraries.iter().any(|library| top(library) == top(module))
    }

    /// Compares the candidate's run with the original's, and answers where they don't agree.
    pub(super) fn compare(&mut self, run: &Run) -> Answer {
        self.convert_files(run)?;
        let Some(baseline) = &self.judge.baseline else { return Ok(None) };
        let (mut before, mut noise) = (baseline.first.capture(), baseline.second.capture());
        let after = run.capture();
        if !run.captured {
            // The run was made without looking inside: then only what was seen from outside is compared.
            for side in [&mut before, &mut noise] {
                side.dir = side.dir.with_extension("none");
            }
        }
        let result = compare_captures(&before, &after, Some(&noise), self.judge.contract);
        let special = special_files(&baseline.first, run);
        let overflow = overflows(&baseline.first, run);
        let before = baseline.first.name.clone();
        self.evidence.findings.extend(result.findings.iter().chain(&result.undecided).cloned());
        let (differs, undecided) = (!result.findings.is_empty(), !result.undecided.is_empty());
        let nothing = result.compared_count == 0;
        self.evidence.comparisons.push(ComparisonRecord { before, after: run.name.clone(), result });
        if let Some(message) = special {
            return Ok(Some(self.decide(Verdict::Rejected, codes::SPECIAL_FILES, message)));
        }
        if differs {
            return Ok(Some(Verdict::Rejected));
        }
        if overflow {
            let message =
                "there is more output than is kept, and it can't be compared whole: print or write less";
            self.find(codes::TOO_MUCH_OUTPUT, message, None);
        }
        if nothing {
            let message = "the workload leaves nothing behind that could be compared: print, return or write its results";
            self.find(codes::NOTHING_COMPARED, message, None);
        }
        Ok((undecided || overflow || nothing).then_some(Verdict::Inconclusive))
    }

    /// Turns files of known formats that differ into the capture form.
    fn convert_files(&mut self, run: &Run) -> Result<(), JudgeError> {
        let Some(Baseline { first, second }) = &self.judge.baseline else { return Ok(()) };
        let python = &self.judge.before.python;
        for path in run.written.files.iter().filter(|path| is_convertible(path)) {
            let everywhere = [first, second].iter().all(|other| other.written.files.contains(path));
            if !everywhere || (first.has_same_file(run, path) && first.has_same_file(second, path)) {
                continue;
            }
            for side in [first, second, run] {
                self.evidence.notes.extend(self.judge.bench.convert(python, side, path)?);
            }
        }
        Ok(())
    }

    #[expect(clippy::unnecessary_wraps, reason = "questions have one type")]
    /// Whether the modules of the changed files came from the copies, on both sides.
    pub(super) fn was_loaded_from_the_copy(&mut self) -> Answer {
        let baseline = self.judge.baseline.as_ref().map(|baseline| &baseline.first);
        let stray = baseline.into_iter().chain(self.captured.as_ref()).find_map(loaded_elsewhere);
        match stray {
            None => Ok(None),
            Some(message) => Ok(Some(self.decide(Verdict::Inconclusive, codes::LOADED_ELSEWHERE, message))),
        }
    }
}

/// How the links, pipes and devices of two runs differ, if they do.
fn special_files(before: &Run, after: &Run) -> Option<String> {
    let (one, other) = (&before.written.special, &after.written.special);
    let message =
        || format!("links, pipes or devices differ: {one:?} in the original, {other:?} in the candidate");
    (one != other).then(message)
}

/// Whether there was more output than is kept, beyond which the two may differ.
fn overflows(before: &Run, after: &Run) -> bool {
    let (one, other) = (&before.ended.stdout, &after.ended.stdout);
    let printed = !(one.complete && other.complete) && one.sha256 != other.sha256;
    printed || before.written.truncated || after.written.truncated
}

/// A changed module that `run` loaded from elsewhere than its copy.
fn loaded_elsewhere(run: &Run) -> Option<String> {
    let modules = &run.outcome.as_ref().ok()?.modules;
    let stray = modules.iter().find(|module| module.file != run.ran_at.join(&module.path))?;
    Some(format!(
        "{} was loaded from {}, not from {} of the {}: is the project installed elsewhere in this environment?",
        stray.name,
        stray.file.display(),
        stray.path.display(),
        run.role.name()
    ))
}

fn ran_out_of_memory(raised: &Raised) -> bool {
    let is_memory = |name: &String| {
        let name = name.rsplit('.').next().unwrap_or(name);
        name == "MemoryError" || name.contains("OutOfMemory")
    };
    is_memory(&raised.type_name) || raised.bases.iter().any(is_memory)
}
