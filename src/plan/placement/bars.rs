//! What keeps a region on the host whatever its arrays do.

use ruff_python_ast::visitor::{Visitor, walk_expr, walk_stmt};
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged, TextSize};
use rustc_hash::{FxHashMap, FxHashSet};

use super::code::{self, Finding};
use super::render::change_id;
use super::risks;
use crate::kinds::program::{Ref, Region};
use crate::kinds::{Kind, Kinds, Program, RegionId, Role, SlotId, SourceId};
use crate::names::Resolution;
use crate::pass::Pass;
use crate::plan::Pinned;

/// What is known of every region before the search.
pub(super) struct Bars {
    /// By region: why it stays on the host; with nothing said it is not looked at.
    pub(super) barred: Vec<Option<Vec<Finding>>>,
    /// By region: true where it works with arrays at all.
    pub(super) works: Vec<bool>,
    /// The regions that mention a module's variables.
    pub(super) readers: FxHashMap<SlotId, FxHashSet<RegionId>>,
    /// By module: the place where it imports the target already.
    pub(super) ported: Vec<Option<TextSize>>,
}

/// Looks for what keeps regions on the host.
pub(super) fn bars(pass: &Pass, program: &Program<'_>, kinds: &Kinds, pinned: &Pinned) -> Bars {
    let ported = program.sources.iter().map(|source| imports_target(pass, source.names)).collect();
    let mut bars = Bars {
        barred: vec![None; program.regions.len()],
        works: vec![false; program.regions.len()],
        readers: FxHashMap::default(),
        ported,
    };
    let surveys: Vec<Survey<'_, '_>> =
        program.region_ids().map(|id| Survey::of(pass, program, kinds, id)).collect();
    for (id, survey) in program.region_ids().zip(&surveys) {
        bars.works[id.0 as usize] = survey.works;
        #[expect(clippy::iter_over_hash_type, reason = "sets are filled, in whatever order")]
        for slot in &survey.mentions {
            bars.readers.entry(*slot).or_default().insert(id);
        }
    }
    let risky = risks::findings(pass, program, kinds);
    let inner = inner_functions(program);
    for (id, survey) in program.region_ids().zip(surveys) {
        let silent = is_silent(pass, program, &bars, id) || pinned.contains(&change_id(pass, program, id));
        let mut findings = survey.findings;
        findings.extend(by_definition(program, kinds, id));
        findings.extend(closures(program, kinds, &bars, &inner, id));
        findings.extend(risky[id.0 as usize].iter().cloned());
        findings.sort();
        findings.dedup();
        if silent {
            bars.barred[id.0 as usize] = Some(Vec::new());
        } else if !findings.is_empty() {
            bars.barred[id.0 as usize] = Some(findings);
        }
    }
    bars
}

/// Where a module imports the library that the pass moves to.
fn imports_target(pass: &Pass, names: &crate::names::Names) -> Option<TextSize> {
    let target = pass.target.module.as_str();
    let root = |path: &str| path.split('.').next().unwrap_or_default().to_owned();
    names
        .imports()
        .iter()
        .find(|it| root(&it.qualified) == target || root(&it.module) == target)
        .map(|it| it.statement.start())
}

/// True for regions that are no candidates at all: nothing is said of them.
fn is_silent(pass: &Pass, program: &Program<'_>, bars: &Bars, id: RegionId) -> bool {
    let region = program.region(id);
    let source = program.source(region.source);
    let imported = region.def.is_none() && matches!(source.role, Role::Library | Role::Helper);
    source.role == Role::Fixed
        || imported
        || bars.ported[region.source.0 as usize].is_some()
        || !pass.concerns(source.names) && region.def.is_none()
}

/// What a function's definition says.
fn by_definition(program: &Program<'_>, kinds: &Kinds, id: RegionId) -> Vec<Finding> {
    let region = program.region(id);
    let Some(def) = region.def else { return Vec::new() };
    let mut out = Vec::new();
    let at = region.start();
    let name = def.name.as_str();
    if region.class.is_some() {
        out.push(Finding::new(at, code::METHOD, format!("`{}` is a method", region.name)));
        return out;
    }
    if def.is_async {
        out.push(Finding::new(at, code::DEFERRED, format!("`{name}` is a coroutine")));
    }
    if region.yields {
        out.push(Finding::new(at, code::DEFERRED, format!("`{name}` is a generator")));
    }
    if let Some(decorator) = def.decorator_list.first() {
        let message = format!("`{name}` is decorated, so its calls go elsewhere first");
        out.push(Finding::new(decorator.start(), code::HIDDEN_CALLS, message));
    } else if kinds.escapes(id) {
        let message = format!("`{name}` is used as a value, so not all of its calls are known");
        out.push(Finding::new(at, code::HIDDEN_CALLS, message));
    } else if region.bound_to.is_none() {
        let message = format!("`{name}` is bound more than once, so not all of its calls are known");
        out.push(Finding::new(at, code::HIDDEN_CALLS, message));
    }
    if let Some(param) = region.params.iter().find(|it| it.name == "xp") {
        let message = format!("`{name}` is given its array library as `{}`", param.name);
        out.push(Finding::new(at, code::AGNOSTIC, message));
    }
    out
}

/// True for functions defined inside another function.
fn is_inner(program: &Program<'_>, region: &Region<'_>) -> bool {
    region.outer.is_some_and(|outer| program.region(outer).def.is_some())
}

/// The functions defined directly inside each function.
fn inner_functions(program: &Program<'_>) -> FxHashMap<RegionId, Vec<RegionId>> {
    let mut out: FxHashMap<RegionId, Vec<RegionId>> = FxHashMap::default();
    for id in program.region_ids() {
        let region = program.region(id);
        if let Some(outer) = region.outer.filter(|_| is_inner(program, region)) {
            out.entry(outer).or_default().push(id);
        }
    }
    out
}

/// Functions inside functions: the inner one's variables are the outer one's too.
fn closures(
    program: &Program<'_>,
    kinds: &Kinds,
    bars: &Bars,
    inner: &FxHashMap<RegionId, Vec<RegionId>>,
    id: RegionId,
) -> Vec<Finding> {
    let region = program.region(id);
    let works = bars.works[id.0 as usize];
    if is_inner(program, region) {
        let message = format!("`{}` is defined inside another function", region.name);
        return if works { vec![Finding::new(region.start(), code::DEFERRED, message)] } else { Vec::new() };
    }
    let mut out = Vec::new();
    for inner in inner.get(&id).into_iter().flatten().copied() {
        let shares = bars.readers.iter().any(|(slot, readers)| {
            readers.contains(&inner) && program.slot(*slot).region == id && kinds.slot(*slot).holds_arrays()
        });
        if shares {
            let at = program.region(inner).start();
            let message =
                format!("`{}` shares arrays with the function around it", program.region(inner).name);
            out.push(Finding::new(at, code::DEFERRED, message));
        }
    }
    out
}

/// One walk over a region's own statements.
struct Survey<'s, 'a> {
    program: &'s Program<'a>,
    kinds: &'s Kinds,
    sources: &'s [String],
    source: SourceId,
    region: RegionId,
    works: bool,
    mentions: FxHashSet<SlotId>,
    findings: Vec<Finding>,
}

impl<'s, 'a> Survey<'s, 'a> {
    fn of(pass: &'s Pass, program: &'s Program<'a>, kinds: &'s Kinds, id: RegionId) -> Self {
        let region = program.region(id);
        let mut survey = Self {
            program,
            kinds,
            sources: &pass.source_modules,
            source: region.source,
            region: id,
            works: false,
            mentions: FxHashSet::default(),
            findings: Vec::new(),
        };
        region.body().iter().for_each(|stmt| survey.visit_stmt(stmt));
        survey
    }

    fn find(&mut self, at: TextSize, code: crate::reasons::Code, message: impl Into<String>) {
        self.findings.push(Finding::new(at, code, message));
    }

    /// A name that leads outside: does it ask for the array type, or belong to the array library's function table?
    fn outside(&mut self, expression: &Expr, name: &str) {
        let member =
            |source: &String| name.strip_prefix(source.as_str()).and_then(|rest| rest.strip_prefix('.'));
        let Some(member) = self.sources.iter().find_map(member) else { return };
        if member == "ndarray" {
            let message = format!("`{name}` is asked for as a type");
            self.find(expression.start(), code::TYPE_CHECK, message);
        }
        self.works |= self.program.table.callables.contains_key(name)
            || self.program.host_entry(name).is_some_and(|it| it.parameters.is_some());
    }

    fn unclear(&mut self, expression: &Expr) {
        let names = self.program.source(self.source).names;
        let Resolution::Ambiguous(paths) = names.resolve(expression) else { return };
        let is_source = |path: &String| {
            self.sources.iter().any(|source| path == source || path.starts_with(&format!("{source}.")))
        };
        if paths.iter().any(is_source) {
            let message = format!("`{}` may be another library's", paths.join("` or `"));
            self.find(expression.start(), code::AGNOSTIC, message);
        }
    }
}

impl<'b> Visitor<'b> for Survey<'_, '_> {
    fn visit_stmt(&mut self, stmt: &'b Stmt) {
        match stmt {
            Stmt::FunctionDef(def) => def.decorator_list.iter().for_each(|it| self.visit_decorator(it)),
            Stmt::Nonlocal(it) => {
                let message = "variables of the function around are assigned";
                self.find(it.start(), code::DEFERRED, message);
            }
            Stmt::Match(it) if self.kinds.of(self.source, &it.subject).holds_arrays() => {
                self.find(it.subject.start(), code::NO_COUNTERPART, "an array is matched against patterns");
            }
            _ => walk_stmt(self, stmt),
        }
    }

    fn visit_annotation(&mut self, _annotation: &'b Expr) {}

    fn visit_expr(&mut self, expression: &'b Expr) {
        match self.program.reference(self.source, expression) {
            Ref::Slot(slot) if self.program.slot(slot).region != self.region => {
                self.mentions.insert(slot);
            }
            Ref::Path(path) => {
                let name = &self.program.path(path).name;
                self.outside(expression, name);
                return;
            }
            Ref::Unclear => {
                self.unclear(expression);
                return;
            }
            _ => {}
        }
        if matches!(expression, Expr::BinOp(_) | Expr::Compare(_) | Expr::Call(_) | Expr::UnaryOp(_)) {
            self.works |= matches!(self.kinds.of(self.source, expression), Kind::Array(_));
        }
        walk_expr(self, expression);
    }
}
