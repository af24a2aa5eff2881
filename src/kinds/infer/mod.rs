//! Infers kinds: over all assignments of every variable, across calls inside the program, to a fixpoint.

mod annotation;
mod builtin;
mod call;
mod dtype;
mod expr;
mod index;
mod returns;
mod stmt;

use std::collections::VecDeque;

use ruff_python_ast::Expr;
use rustc_hash::{FxHashMap, FxHashSet};

use super::kind::Kind;
use super::program::{ClassId, Definition, Program, RegionId, SlotId, SourceId, node};

/// How often a kind may grow before it counts as unknown: chains in the lattice are short unless tuples
/// nest without end.
const MAX_GROWTH: u8 = 12;

/// The kinds of a program's variables and expressions.
pub struct Kinds {
    slots: Vec<Kind>,
    nodes: Vec<Vec<Kind>>,
    returns: Vec<Kind>,
    /// Functions that are used as values, so that calls nobody sees may happen.
    escaped: Vec<bool>,
    /// Functions that some call reaches in a way that hides which parameters are given.
    opaque: Vec<bool>,
    callers: Vec<Vec<RegionId>>,
}

impl Kinds {
    /// The kind of a variable.
    pub fn slot(&self, slot: SlotId) -> &Kind {
        &self.slots[slot.0 as usize]
    }

    /// The kind of an expression of module `source`; unknown where it is in code that nothing is known to reach.
    pub fn of(&self, source: SourceId, expression: &Expr) -> &Kind {
        const UNKNOWN: &Kind = &Kind::Unknown;
        match node(expression).and_then(|at| self.nodes[source.0 as usize].get(at)) {
            None | Some(Kind::Never) => UNKNOWN,
            Some(kind) => kind,
        }
    }

    /// What calls of a function yield.
    pub fn returned(&self, region: RegionId) -> &Kind {
        &self.returns[region.0 as usize]
    }

    /// True where a function is used as a value, so that calls nobody sees may happen.
    pub fn escapes(&self, region: RegionId) -> bool {
        self.escaped[region.0 as usize]
    }

    /// True where some call hides which parameters it gives.
    pub fn is_opaque(&self, region: RegionId) -> bool {
        self.opaque[region.0 as usize]
    }

    /// The regions that call a function.
    pub fn callers(&self, region: RegionId) -> &[RegionId] {
        &self.callers[region.0 as usize]
    }
}

/// Infers the kinds of `program`.
pub fn infer(program: &Program<'_>) -> Kinds {
    let mut inference = Inference::new(program);
    inference.seed();
    inference.run();
    inference.open_what_is_left();
    inference.kinds
}

/// How often each kind has grown.
#[derive(Default)]
struct Growth {
    slots: Vec<u8>,
    returns: Vec<u8>,
    fields: FxHashMap<(ClassId, String), u8>,
}

/// `kind`, unless this one has grown so often, or so much, that it counts as unknown.
fn grown(count: &mut u8, kind: Kind) -> Kind {
    *count = count.saturating_add(1);
    if *count > MAX_GROWTH { Kind::Unknown } else { kind.bounded() }
}

struct Inference<'p, 'a> {
    program: &'p Program<'a>,
    kinds: Kinds,
    growth: Growth,
    fields: FxHashMap<(ClassId, String), Kind>,
    readers: FxHashMap<SlotId, FxHashSet<RegionId>>,
    field_readers: FxHashMap<ClassId, FxHashSet<RegionId>>,
    queue: VecDeque<RegionId>,
    queued: Vec<bool>,
    region: RegionId,
    source: SourceId,
    class: Option<ClassId>,
    changed: bool,
}

impl<'p, 'a> Inference<'p, 'a> {
    fn new(program: &'p Program<'a>) -> Self {
        let regions = program.regions.len();
        let nodes = (0..program.sources.len() as u32)
            .map(|source| vec![Kind::Never; program.node_count(SourceId(source))])
            .collect();
        Self {
            program,
            kinds: Kinds {
                slots: vec![Kind::Never; program.slots.len()],
                nodes,
                returns: vec![Kind::Never; regions],
                escaped: vec![false; regions],
                opaque: vec![false; regions],
                callers: vec![Vec::new(); regions],
            },
            growth: Growth {
                slots: vec![0; program.slots.len()],
                returns: vec![0; regions],
                ..Growth::default()
            },
            fields: FxHashMap::default(),
            readers: FxHashMap::default(),
            field_readers: FxHashMap::default(),
            queue: VecDeque::new(),
            queued: vec![false; regions],
            region: RegionId(0),
            source: SourceId(0),
            class: None,
            changed: false,
        }
    }

    /// What parameters are known to be before any call is looked at.
    fn seed(&mut self) {
        let program = self.program;
        for id in program.region_ids() {
            let region = program.region(id);
            (self.region, self.source) = (id, region.source);
            for (at, param) in region.params.iter().enumerate() {
                let kind = match (at, region.class) {
                    (0, Some(class)) if !self.is_static(id) => Kind::Instance(class),
                    _ => param.annotation.map_or(Kind::Never, |it| self.annotated(it)),
                };
                self.update(param.slot, &kind);
                if let Some(default) = param.default {
                    let outer = region.outer.unwrap_or(id);
                    self.region = outer;
                    let kind = self.expr(default);
                    self.region = id;
                    self.update(param.slot, &kind);
                }
                if param.given == super::program::Given::Rest {
                    self.update(param.slot, &Kind::Unknown);
                }
            }
            self.enqueue(id);
        }
    }

    fn is_static(&self, region: RegionId) -> bool {
        let Some(def) = self.program.region(region).def else { return false };
        def.decorator_list.iter().any(|decorator| {
            self.program.builtin(self.source, &decorator.expression).is_some_and(|it| it == "staticmethod")
        })
    }

    fn run(&mut self) {
        while let Some(region) = self.queue.pop_front() {
            self.queued[region.0 as usize] = false;
            self.run_region(region);
        }
    }

    fn run_region(&mut self, id: RegionId) {
        let region = self.program.region(id);
        (self.region, self.source, self.class) = (id, region.source, region.class);
        loop {
            self.changed = false;
            region.body().iter().for_each(|stmt| self.stmt(stmt));
            if !self.changed {
                break;
            }
        }
    }

    /// What no call seen so far reaches may be called from outside: its parameters are unknown.
    fn open_what_is_left(&mut self) {
        loop {
            let mut any = false;
            for id in self.program.region_ids() {
                for param in &self.program.region(id).params {
                    let unseen = *self.kinds.slot(param.slot) == Kind::Never;
                    let hidden = self.has_hidden_callers(id) && param.annotation.is_none();
                    if (unseen || hidden) && *self.kinds.slot(param.slot) != Kind::Unknown {
                        self.update(param.slot, &Kind::Unknown);
                        self.enqueue(id);
                        any = true;
                    }
                }
            }
            if !any {
                break;
            }
            self.run();
        }
    }

    /// True where a function has callers that give it what nobody sees. A library's public functions have callers
    /// outside too; what the project's own calls give them is taken as typical.
    fn has_hidden_callers(&self, id: RegionId) -> bool {
        let region = self.program.region(id);
        let at = id.0 as usize;
        let unbound = region.def.is_some() && region.bound_to.is_none() && region.class.is_none();
        let decorated = region.def.is_some_and(|def| !def.decorator_list.is_empty());
        region.class.is_none() && (self.kinds.escaped[at] || self.kinds.opaque[at] || unbound || decorated)
    }

    fn enqueue(&mut self, region: RegionId) {
        if !std::mem::replace(&mut self.queued[region.0 as usize], true) {
            self.queue.push_back(region);
        }
    }

    /// Adds a possibility to a variable.
    fn update(&mut self, slot: SlotId, kind: &Kind) {
        // What a file holds is an array unless it is used as a mapping.
        let kind = match kind {
            Kind::Loaded if !self.program.slot(slot).text_index => &Kind::ARRAY,
            other => other,
        };
        let old = &self.kinds.slots[slot.0 as usize];
        if *kind == Kind::Never || old == kind {
            return;
        }
        let joined = old.join(kind);
        if joined == *old {
            return;
        }
        for part in [old.clone(), kind.clone()] {
            if let Kind::Function(function) = part
                && joined != part
            {
                self.escape(function);
            }
        }
        let joined = grown(&mut self.growth.slots[slot.0 as usize], joined);
        if joined == self.kinds.slots[slot.0 as usize] {
            return;
        }
        self.kinds.slots[slot.0 as usize] = joined;
        self.changed = true;
        let owner = self.program.slot(slot).region;
        if owner != self.region {
            self.enqueue(owner);
        }
        if let Some(readers) = self.readers.get(&slot) {
            let mut readers: Vec<_> = readers.iter().copied().collect();
            readers.sort_unstable();
            readers.into_iter().for_each(|reader| self.enqueue(reader));
        }
    }

    /// The kind of a variable, as this region reads it.
    fn read(&mut self, slot: SlotId) -> Kind {
        let data = self.program.slot(slot);
        if data.region != self.region {
            self.readers.entry(slot).or_default().insert(self.region);
        }
        match data.definition {
            Some(Definition::Function(function)) => Kind::Function(function),
            Some(Definition::Class(class)) => Kind::Class(class),
            None => self.kinds.slots[slot.0 as usize].clone(),
        }
    }

    /// Notes that a function is used as a value where its calls can't be seen.
    fn escape(&mut self, function: RegionId) {
        self.kinds.escaped[function.0 as usize] = true;
    }

    /// Lets everything callable in `kind` escape.
    fn release(&mut self, kind: &Kind) {
        match kind {
            Kind::Function(function) => self.escape(*function),
            Kind::Tuple(elements) => elements.iter().for_each(|it| self.release(it)),
            Kind::List(element) | Kind::Dict(element) => self.release(element),
            Kind::Record(fields) => fields.values().for_each(|it| self.release(it)),
            _ => {}
        }
    }

    /// Adds a possibility to an attribute of a class's instances.
    fn update_field(&mut self, class: ClassId, name: &str, kind: &Kind) {
        let field = self.fields.entry((class, name.to_owned())).or_default();
        let joined = field.join(kind);
        if *field != joined {
            let joined = grown(self.growth.fields.entry((class, name.to_owned())).or_default(), joined);
            if *field == joined {
                return;
            }
            *field = joined;
            self.changed = true;
            let readers = self.field_readers.get(&class);
            let mut readers: Vec<_> = readers.into_iter().flatten().copied().collect();
            readers.sort_unstable();
            readers.into_iter().for_each(|reader| self.enqueue(reader));
        }
    }

    /// The kind of an expression that has been looked at.
    fn seen(&self, expression: &Expr) -> &Kind {
        const NEVER: &Kind = &Kind::Never;
        node(expression).and_then(|at| self.kinds.nodes[self.source.0 as usize].get(at)).unwrap_or(NEVER)
    }

    /// The kind of an argument; of a starred one, of its elements.
    fn seen_argument(&self, expression: &Expr) -> Kind {
        match expression {
            Expr::Starred(it) => self.seen(&it.value).element(),
            // A function takes a file's contents for an array.
            _ => match self.seen(expression) {
                Kind::Loaded => Kind::ARRAY,
                kind => kind.clone(),
            },
        }
    }

    fn set(&mut self, expression: &Expr, kind: Kind) -> Kind {
        if let Some(at) = node(expression) {
            self.kinds.nodes[self.source.0 as usize][at] = kind.clone();
        }
        kind
    }
}
