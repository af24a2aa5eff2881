//! What programs' variables and expressions are inferred to be.

use std::path::Path;

use ruff_python_ast::Expr;

use super::*;
use crate::api::Table;
use crate::names::{Names, NoExports, ScopeId};
use crate::source::{Module, SourceFile};

fn table() -> Table {
    Table::parse("numpy-on-cupy", include_str!("../../patterns/numpy-on-cupy.yaml")).unwrap()
}

fn parse(text: &str) -> (Module, Names) {
    let file = SourceFile::from_bytes(Path::new("main.py"), text.as_bytes()).unwrap();
    let module = Module::parse(file).unwrap();
    let names = Names::build(&module, "main", false, &NoExports);
    (module, names)
}

fn show(kind: &Kind) -> String {
    match kind {
        Kind::Array(array) => {
            let rank = array.rank.map_or(String::new(), |rank| rank.to_string());
            let dtype = match array.dtype {
                Dtype::Any => "",
                Dtype::Bool => " bool",
                Dtype::Integer => " int",
                Dtype::Number => "",
                Dtype::Float => " float",
                Dtype::Complex => " complex",
                Dtype::Unsupported => " unsupported",
            };
            let scalar = if array.maybe_scalar { "?" } else { "" };
            let none = if array.maybe_none { "|None" } else { "" };
            format!("array{rank}{scalar}{dtype}{none}")
        }
        Kind::Tuple(elements) => format!("({})", elements.iter().map(show).collect::<Vec<_>>().join(", ")),
        Kind::List(element) => format!("[{}]", show(element)),
        Kind::Dict(value) => format!("{{{}}}", show(value)),
        Kind::Record(fields) => {
            let fields: Vec<_> =
                fields.iter().map(|(name, kind)| format!("{name}: {}", show(kind))).collect();
            format!("{{{}}}", fields.join(", "))
        }
        Kind::Object(class) => class.to_string(),
        other => format!("{other:?}").to_lowercase(),
    }
}

/// Checks the kinds of what stands alone as a statement: `expression  # kind` (or `# kind` after any statement that
/// is only an expression).
fn check(text: &str) {
    let text = format!("import numpy as np\nimport numpy\n{text}");
    let (module, names) = parse(&text);
    let table = table();
    let source = Source { module: &module, names: &names, dotted: "main".to_owned(), role: Role::Script };
    let program = Program::build(vec![source], &table, Vec::new());
    let kinds = infer(&program);
    let mut checked = 0;
    let mut wrong = Vec::new();
    for region in program.region_ids() {
        each_expression(program.region(region).body(), &mut |value| {
            let place = module.place(ruff_text_size::Ranged::end(value));
            let line = text.lines().nth(place.line_number as usize - 1).unwrap();
            let Some((_, expected)) = line.split_once("# ") else { return };
            let got = show(kinds.of(SourceId(0), value));
            checked += 1;
            if got != expected.trim() {
                wrong.push(format!("{line}\n    got {got}"));
            }
        });
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(checked > 0, "nothing checked");
}

fn each_expression<'a>(body: &'a [ruff_python_ast::Stmt], then: &mut dyn FnMut(&'a Expr)) {
    use ruff_python_ast::Stmt;
    for stmt in body {
        match stmt {
            Stmt::Expr(it) => then(&it.value),
            Stmt::For(it) => each_expression(&it.body, then),
            Stmt::If(it) => each_expression(&it.body, then),
            Stmt::With(it) => each_expression(&it.body, then),
            _ => {}
        }
    }
}

#[test]
fn creation_gives_ranks() {
    check(
        "n = 8
np.zeros((n, n))  # array2
np.zeros(n)  # array1
np.zeros(n, dtype=bool)  # array1 bool
np.arange(n)  # array1
np.array([[1.0, 2.0], [3.0, 4.0]])  # array2 float
np.array(['a', 'b'])  # array unsupported
np.zeros_like(np.ones((n, n)))  # array2
x, y = np.mgrid[0:n, 0:n]
x  # array2
np.asarray(unknown)  # array?
np.array([1, None], dtype=object)  # array unsupported
",
    );
}

#[test]
fn arithmetic_broadcasts() {
    check(
        "u = np.ones((4, 4))
v = np.arange(4)
u * v + 1.0  # array2
-u  # array2
u > 0  # array2 bool
u[v > 2]  # array2
u[u > 0]  # array1
u @ v  # array1
v @ v  # numpy
2.0 * 3  # python
np.sqrt(2.0)  # numpy
'%d' % v  # text
u * [1, 2, 3, 4]  # array2
u * unknown  # unknown
",
    );
}

#[test]
fn reductions_leave_scalars() {
    check(
        "u = np.ones((4, 4))
u.sum()  # numpy
u.sum(axis=0)  # array1
u.mean(axis=(0, 1))  # numpy
u.mean(axis=(0, 1), keepdims=True)  # array2
np.linalg.norm(u)  # numpy
np.argmax(u, axis=1)  # array1 int
float(u.sum())  # python
u.max() - u.min()  # numpy
np.dot(u, u)  # array2
np.percentile(u, 95)  # numpy
np.percentile(u, [5, 95], axis=0)  # array2
np.array([0, 1, 1])[np.arange(4) % 3]  # array1 int
(u > 0) & unknown  # unknown
u.shape  # (python, python)
len(u)  # python
",
    );
}

#[test]
fn indices_take_axes() {
    check(
        "u = np.ones((4, 4))
i = 2
u[i]  # array1
u[i, i]  # numpy
u[1:-1, i]  # array1
u[:, None]  # array3
u[..., 0]  # array1
u[[0, 1]]  # array2
u[np.argsort(u[0])]  # array2
w = np.load('x.npy')
w[0]  # array?
w['u']  # array
w[1:]  # array
",
    );
}

#[test]
fn variables_join_and_are_renewed() {
    check(
        "x = 1
x  # python
x = np.zeros(3)
if n:
    x = None
x  # array1|None
total = 0
for i in range(3):
    total += x
total  # array?
parts = []
for i in range(3):
    parts.append(np.zeros(3))
np.stack(parts)  # array2
np.concatenate(parts)  # array1
",
    );
}

#[test]
fn calls_carry_kinds_both_ways() {
    check(
        "def step(u, dt, scale=2.0):
    u  # array2
    dt  # python
    scale  # python
    return u * dt, u.sum()

u, s = step(np.ones((3, 3)), 0.1)
u  # array2
s  # numpy

def never_called(q):
    q  # unknown
    np.sin(q)  # unknown
    q = np.asarray(q)
    q  # array?

def passed(f):
    f(np.ones(3))  # array1

def double(x):
    x  # array1
    return 2 * x

passed(double)

def given(*pair):
    pair  # unknown

def two(a, b):
    a  # array1
    b  # python

two(*(np.ones(2), 3))
",
    );
}

#[test]
fn records_classes_and_objects_are_seen_through() {
    check(
        "from dataclasses import dataclass
params = {'dx': 0.1, 'names': ['a']}
params['dx']  # python
params['names']  # [text]

@dataclass
class Grid:
    n: int
    u: np.ndarray
    h: float = 0.1

g = Grid(3, np.ones(3))
g.n  # python
g.u  # array
g.h  # python
rng = np.random.default_rng(3)
rng  # numpy.random.Generator
rng.normal(size=(3, 3))  # array2
rng.normal()  # number
np.random.rand(3, 4)  # array2
np.pi  # python
u, v = np.ones(3), 1
u  # array1
",
    );
}

#[test]
fn escaping_functions_have_unknown_parameters() {
    check(
        "import scipy.integrate
def rhs(t, y):
    y  # unknown
    return -y

def typed(t: float, y: np.ndarray):
    y  # array
    t  # python

rhs(0.0, np.ones(3))
scipy.integrate.solve_ivp(rhs, 0, 1)
scipy.integrate.solve_ivp(typed, 0, 1)
",
    );
}

#[test]
fn shadowed_and_captured_names_keep_their_meaning() {
    check(
        "def cluster(np):
    k = numpy.arange(np)
    k  # array1
    np  # python
cluster(3)

g = np.zeros(3)
def reader():
    g  # array1|None
g = None
",
    );
}

#[test]
fn scopes_have_an_owner() {
    let (module, names) = parse("def f():\n    return [x for x in range(3)]\n");
    let table = table();
    let source = Source { module: &module, names: &names, dotted: "main".to_owned(), role: Role::Script };
    let program = Program::build(vec![source], &table, Vec::new());
    let inner = program.slots.iter().find(|slot| &*slot.name == "x").unwrap();
    assert_eq!(inner.region, RegionId(1));
    assert_ne!(inner.scope, ScopeId(0));
}

#[test]
fn spectra_stay_arrays() {
    check(
        "u = np.ones((4, 4))
f = np.fft.fftshift(np.fft.fft2(u))
f  # array2
power = np.abs(f) ** 2
power  # array2
power.ravel()  # array1
which = np.digitize(power.ravel(), np.linspace(0.0, 0.5, 20))
which  # array1 int
np.bincount(which, weights=power.ravel(), minlength=8)  # array1
",
    );
}

#[test]
fn kinds_that_nest_without_end_are_unknown() {
    check(
        "def wrap(x, n):
    if n == 0:
        return x
    return wrap([x, (x, wrap(x, n - 1))], n - 1), wrap(x, n)

def grow(n):
    out = np.ones(n)
    for i in range(n):
        out = {'a': out, 'b': (i, out)}
    out  # unknown
    return out

class Tree:
    def __init__(self, left):
        self.left = left

    def add(self):
        self.left = [self.left, {'more': self.left}]
        return self.left

wrap(np.ones(3), 3)  # unknown
",
    );
}
