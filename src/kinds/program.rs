//! The programs that kinds are inferred over: modules, their functions and classes, and every variable as slots.

use std::sync::Arc;

use ruff_python_ast::{Expr, HasNodeIndex, Stmt, StmtClassDef, StmtFunctionDef};
use ruff_text_size::{Ranged, TextRange, TextSize};
use rustc_hash::FxHashMap;

use super::collect;
use crate::api::{Attribute, Callable, HostCallable, Table};
use crate::names::{Names, ScopeId};
use crate::source::Module;

/// A module, by its place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A function or a module's own statements, by its place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RegionId(pub u32);

/// A class, by its place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ClassId(pub u32);

/// A variable between two of its unconditional assignments, by its place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SlotId(pub u32);

/// A dotted name that leads out of its module, by its place in the program.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct PathId(pub u32);

/// Who may call into a module.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// It is run: nobody calls its functions but the program itself.
    Script,
    /// Only the script and its other helpers import it: the program has all callers of its functions.
    Helper,
    /// Others may import it: its public functions have callers that nobody sees.
    Library,
    /// Tests and inputs: read, never changed.
    Fixed,
}

/// One module of the program.
pub struct Source<'a> {
    /// Its text and tree.
    pub module: &'a Module,
    /// What its names mean.
    pub names: &'a Names,
    /// Its dotted name (`pkg.mod`).
    pub dotted: String,
    /// Who may call into it.
    pub role: Role,
}

/// A function, or the statements of a module outside functions.
pub struct Region<'a> {
    /// Its module.
    pub source: SourceId,
    /// The definition; `None` for a module's own statements.
    pub def: Option<&'a StmtFunctionDef>,
    /// The region around it.
    pub outer: Option<RegionId>,
    /// The class it is a method of.
    pub class: Option<ClassId>,
    /// The scope of its variables.
    pub scope: ScopeId,
    /// Its name with those of classes and functions around it; `<module>` for a module's own statements.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param<'a>>,
    /// The variable it is bound to, where nothing else is ever bound to that.
    pub bound_to: Option<SlotId>,
    /// True where a `yield` stands in it.
    pub yields: bool,
    body: &'a [Stmt],
}

/// A parameter.
pub struct Param<'a> {
    /// Its variable.
    pub slot: SlotId,
    /// Its name.
    pub name: &'a str,
    /// Its default value.
    pub default: Option<&'a Expr>,
    /// Its annotation.
    pub annotation: Option<&'a Expr>,
    /// How it is given.
    pub given: Given,
}

/// How a parameter is given.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// Only by position.
    Position,
    /// By position or name.
    Either,
    /// Only by name.
    Name,
    /// `*args` or `**kwargs`.
    Rest,
}

/// A class of the project.
pub struct Class<'a> {
    /// Its module.
    pub source: SourceId,
    /// The definition.
    pub def: &'a StmtClassDef,
    /// Its methods.
    pub methods: FxHashMap<&'a str, RegionId>,
    /// The variable it is bound to, where nothing else is ever bound to that.
    pub bound_to: Option<SlotId>,
}

/// What a slot's variable is always bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Definition {
    /// A function.
    Function(RegionId),
    /// A class.
    Class(ClassId),
}

/// A variable, or one version of it.
#[derive(Debug)]
pub struct Slot {
    /// The module.
    pub source: SourceId,
    /// The function whose variable it is, or the module's own region.
    pub region: RegionId,
    /// The variable's scope.
    pub scope: ScopeId,
    /// Its name.
    pub name: Arc<str>,
    /// True where another function or class sees it.
    pub captured: bool,
    /// True where some function declares it `nonlocal`.
    pub nonlocal: bool,
    /// The one thing it is bound to, where that is a `def` or `class`.
    pub definition: Option<Definition>,
    /// The integer it is always bound to.
    pub literal: Option<i64>,
    /// True where it is indexed with text somewhere (`data["u"]`): no array is.
    pub text_index: bool,
    /// True where it is indexed somewhere: no scalar is.
    pub indexed: bool,
}

/// What a name, or a chain of attributes that leads out of the module, refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Ref {
    /// The node names nothing.
    #[default]
    None,
    /// A variable.
    Slot(SlotId),
    /// Something outside the module.
    Path(PathId),
    /// A builtin.
    Builtin(PathId),
    /// Several things, or nobody knows.
    Unclear,
}

/// What is known of a dotted name.
pub struct PathInfo<'a> {
    /// The name.
    pub name: String,
    /// The table's entry, where another library has it too.
    pub callable: Option<&'a Callable>,
    /// A table's entry for host code.
    pub host: Option<&'a HostCallable>,
    /// The project's own function or class of that name.
    pub definition: Option<Definition>,
}

/// Modules that are planned together.
pub struct Program<'a> {
    /// The modules.
    pub sources: Vec<Source<'a>>,
    /// The functions and module bodies.
    pub regions: Vec<Region<'a>>,
    /// The classes.
    pub classes: Vec<Class<'a>>,
    /// The variables.
    pub slots: Vec<Slot>,
    /// The dotted names.
    pub paths: Vec<PathInfo<'a>>,
    /// The main table: the library that programs use, and the one they move to.
    pub table: &'a Table,
    /// Tables that describe other host code.
    pub host_tables: Vec<&'a Table>,
    pub(super) refs: Vec<Vec<Ref>>,
    region_at: FxHashMap<(SourceId, TextSize), RegionId>,
}

impl<'a> Program<'a> {
    /// Lists the regions, classes and variables of `sources`. `table` is the pass's own; `host_tables` describe code
    /// that stays on the host.
    pub fn build(sources: Vec<Source<'a>>, table: &'a Table, host_tables: Vec<&'a Table>) -> Self {
        let collected = collect::collect(&sources);
        let region_at = (0u32..)
            .zip(&collected.regions)
            .filter_map(|(id, region)| Some(((region.source, region.def?.start()), RegionId(id))))
            .collect();
        let mut program = Self {
            sources,
            regions: collected.regions,
            classes: collected.classes,
            slots: collected.slots,
            paths: Vec::new(),
            table,
            host_tables,
            refs: collected.refs,
            region_at,
        };
        let definitions = program.definitions();
        program.paths =
            collected.paths.into_iter().map(|name| program.describe(name, &definitions)).collect();
        program
    }

    /// The project's functions and classes by their full names.
    fn definitions(&self) -> FxHashMap<String, Definition> {
        let mut out = FxHashMap::default();
        for slot in &self.slots {
            let source = &self.sources[slot.source.0 as usize];
            if let Some(definition) = slot.definition
                && slot.scope == ScopeId(0)
            {
                out.insert(format!("{}.{}", source.dotted, slot.name), definition);
            }
        }
        out
    }

    fn describe(&self, name: String, definitions: &FxHashMap<String, Definition>) -> PathInfo<'a> {
        let definition = definitions.get(&name).copied();
        let callable = self.table.callables.get(&name);
        let host = std::iter::once(&self.table)
            .chain(&self.host_tables)
            .find_map(|table| table.host_entry(&name))
            .filter(|_| callable.is_none() && definition.is_none());
        PathInfo { name, callable, host, definition }
    }

    /// A module.
    pub fn source(&self, id: SourceId) -> &Source<'a> {
        &self.sources[id.0 as usize]
    }

    /// A region.
    pub fn region(&self, id: RegionId) -> &Region<'a> {
        &self.regions[id.0 as usize]
    }

    /// A class.
    pub fn class(&self, id: ClassId) -> &Class<'a> {
        &self.classes[id.0 as usize]
    }

    /// A slot.
    pub fn slot(&self, id: SlotId) -> &Slot {
        &self.slots[id.0 as usize]
    }

    /// A dotted name.
    pub fn path(&self, id: PathId) -> &PathInfo<'a> {
        &self.paths[id.0 as usize]
    }

    /// All regions with their ids.
    pub fn region_ids(&self) -> impl Iterator<Item = RegionId> + use<> {
        (0..self.regions.len() as u32).map(RegionId)
    }

    /// The region that a function definition of `source` opens.
    pub fn region_of(&self, source: SourceId, def: &StmtFunctionDef) -> Option<RegionId> {
        self.region_at.get(&(source, def.start())).copied()
    }

    /// What `expression` of module `source` refers to.
    pub fn reference(&self, source: SourceId, expression: &Expr) -> Ref {
        node(expression).and_then(|at| self.refs[source.0 as usize].get(at).copied()).unwrap_or_default()
    }

    /// The dotted name outside the module that `expression` is.
    pub fn outside(&self, source: SourceId, expression: &Expr) -> Option<&PathInfo<'a>> {
        match self.reference(source, expression) {
            Ref::Path(path) => Some(self.path(path)),
            _ => None,
        }
    }

    /// The builtin that `expression` is.
    pub fn builtin(&self, source: SourceId, expression: &Expr) -> Option<&str> {
        match self.reference(source, expression) {
            Ref::Builtin(path) => Some(&self.path(path).name),
            _ => None,
        }
    }

    /// The variable that `expression` reads or writes.
    pub fn slot_of(&self, source: SourceId, expression: &Expr) -> Option<SlotId> {
        match self.reference(source, expression) {
            Ref::Slot(slot) => Some(slot),
            _ => None,
        }
    }

    /// The project's function or class that `expression` always names.
    pub fn definition(&self, source: SourceId, expression: &Expr) -> Option<Definition> {
        match self.reference(source, expression) {
            Ref::Slot(slot) => self.slot(slot).definition,
            Ref::Path(path) => self.path(path).definition,
            _ => None,
        }
    }

    /// How many expressions module `source` has.
    pub fn node_count(&self, source: SourceId) -> usize {
        self.refs[source.0 as usize].len()
    }

    /// The method `name` of arrays, where the target's arrays have it.
    pub fn array_method(&self, name: &str) -> Option<&'a Callable> {
        self.table.callables.get(&self.array_member(name))
    }

    /// The method `name` of arrays that only the source library has.
    pub fn host_array_method(&self, name: &str) -> Option<&'a HostCallable> {
        self.table.host.get(&self.array_member(name))
    }

    /// The attribute `name` of arrays.
    pub fn array_attribute(&self, name: &str) -> Option<&'a Attribute> {
        self.table.attributes.get(&self.array_member(name))
    }

    fn array_member(&self, name: &str) -> String {
        format!("{}.ndarray.{name}", self.table.source.module)
    }

    /// The host entry for the dotted name `name`, e.g. a method of a library's class.
    pub fn host_entry(&self, name: &str) -> Option<&'a HostCallable> {
        std::iter::once(&self.table).chain(&self.host_tables).find_map(|table| table.host_entry(name))
    }
}

impl<'a> Region<'a> {
    pub(super) fn new(source: SourceId, scope: ScopeId, name: String, body: &'a [Stmt]) -> Self {
        Self {
            source,
            def: None,
            outer: None,
            class: None,
            scope,
            name,
            params: Vec::new(),
            bound_to: None,
            yields: false,
            body,
        }
    }

    /// Its statements.
    pub fn body(&self) -> &'a [Stmt] {
        self.body
    }

    /// Where it stands; for a module's own statements from the first to the last.
    pub fn range(&self) -> TextRange {
        match (self.def, self.body) {
            (Some(def), _) => def.range(),
            (None, [first, .., last]) => TextRange::new(first.start(), last.end()),
            (None, [only]) => only.range(),
            (None, []) => TextRange::default(),
        }
    }

    /// Where its name stands.
    pub fn start(&self) -> TextSize {
        self.def.map_or(TextSize::default(), |def| def.name.start())
    }
}

/// The number that collecting gave to `expression` in its module.
pub fn node(expression: &Expr) -> Option<usize> {
    expression.node_index().load().as_u32().map(|at| at as usize)
}
