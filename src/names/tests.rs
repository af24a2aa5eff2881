//! Resolution, one situation of Python's scoping at a time.

use std::path::Path;

use ruff_python_ast::Expr;
use ruff_python_ast::visitor::source_order::{SourceOrderVisitor, walk_expr};

use super::*;
use crate::source::{Module, SourceFile};

fn module(source: &str) -> Module {
    let file = SourceFile::from_bytes(Path::new("m.py"), source.as_bytes()).unwrap();
    Module::parse(file).unwrap_or_else(|problem| panic!("{problem}\n{source}"))
}

fn show(resolution: &Resolution) -> String {
    match resolution {
        Resolution::Qualified(path) => path.clone(),
        Resolution::Ambiguous(paths) => format!("?{}", paths.join("|")),
        Resolution::Local(variable) => format!("{}@{}", variable.name, variable.scope.0),
        Resolution::Builtin(name) => format!("builtin {name}"),
        Resolution::MaybeStar(modules) => format!("*{}", modules.join("|")),
        Resolution::Unbound => "unbound".to_owned(),
        Resolution::NotAName => "-".to_owned(),
    }
}

/// What the argument of each call of `t(…)` means.
fn answers(source: &str, exports: &dyn Exports) -> Vec<String> {
    struct Probe<'a>(&'a Names, Vec<String>);
    impl<'a> SourceOrderVisitor<'a> for Probe<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Call(call) = expr
                && call.func.as_name_expr().is_some_and(|name| name.id.as_str() == "t")
            {
                self.1.push(show(&self.0.resolve(&call.arguments.args[0])));
            }
            walk_expr(self, expr);
        }
    }
    let module = module(source);
    let names = Names::build(&module, "pkg.mod", false, exports);
    let mut probe = Probe(&names, Vec::new());
    probe.visit_body(module.body());
    probe.1
}

#[track_caller]
fn check(source: &str, expected: &[&str]) {
    assert_eq!(answers(source, &NoExports), expected, "{source}");
}

#[test]
fn imports_qualify_names() {
    check("import numpy as np\nt(np.linalg.norm)\nt(np)", &["numpy.linalg.norm", "numpy"]);
    check("import numpy\nt(numpy.sum)", &["numpy.sum"]);
    check("import sys as _sys\nt(_sys.exit)", &["sys.exit"]);
    check("import a.b.c\nt(a.b.c.d)\nt(a)\nt(b)", &["a.b.c.d", "a", "unbound"]);
    check("import a.b.c as d\nt(d.e)", &["a.b.c.e"]);
    check("import scipy.linalg, scipy.sparse\nt(scipy.sparse.eye)", &["scipy.sparse.eye"]);
    check(
        "from numpy import sum as total, dot\nt(total)\nt(dot)\nt(sum)",
        &["numpy.sum", "numpy.dot", "builtin sum"],
    );
    check(
        "from . import sib\nfrom .other import f\nfrom .. import up\nt(sib.x)\nt(f)\nt(up)",
        &["pkg.sib.x", "pkg.other.f", "..up"],
    );
    check(
        "t(f().x)\nt(print)\nt(str.join)\nt(nothing.x)",
        &["-", "builtin print", "builtin str.join", "unbound"],
    );
}

#[test]
fn a_function_sees_imports_that_stand_below_it() {
    check("def f():\n    t(np.sum)\nimport numpy as np", &["numpy.sum"]);
}

#[test]
fn two_meanings_are_ambiguous() {
    check(
        "try:\n    import cupy as xp\nexcept ImportError:\n    import numpy as xp\nt(xp.sum)",
        &["?cupy.sum|numpy.sum"],
    );
    check("if gpu:\n    import cupy as np\nelse:\n    import numpy as np\nt(np)", &["?cupy|numpy"]);
    check("import numpy as np\nnp = 3\nt(np.x)", &["?numpy.x"]);
    check("import numpy as np\ndef f():\n    global np\n    np = fake\nt(np.x)", &["?numpy.x"]);
    check("from numpy import sum\ndef sum(x): ...\nt(sum)", &["?numpy.sum"]);
    check("import numpy as np\nfor np in []: t(np)", &["?numpy"]);
    check("import numpy as np\nimport numpy as np\nt(np)", &["numpy"]);
    check("from numpy import abs\ndel abs\nt(abs)", &["?numpy.abs"]);
}

#[test]
fn none_and_deletion_leave_an_import_its_meaning() {
    check("try:\n    import numpy as np\nexcept ImportError:\n    np = None\nt(np.sum)", &["numpy.sum"]);
    check("import numpy as np\nt(np.sum)\ndel np", &["numpy.sum"]);
    check("np: object\nimport numpy as np\nt(np.sum)", &["numpy.sum"]);
    check("class A:\n    import numpy as np\n    del np\n    t(np)", &["?numpy"]);
}

#[test]
fn bindings_shadow_imports() {
    for (body, scope) in [
        ("def f(np): t(np.x)", 1),
        ("def f(*np): t(np.x)", 1),
        ("def f(*, np=1): t(np.x)", 1),
        ("def f(**np): t(np.x)", 1),
        ("def f():\n    np = 1\n    t(np.x)", 1),
        ("def f():\n    t(np.x)\n    np = 1", 1),
        ("def f():\n    for np in x: t(np.x)", 1),
        ("def f():\n    with x as np: t(np.x)", 1),
        ("def f():\n    with x as (a, [np, *b]): t(np.x)", 1),
        ("def f():\n    try: pass\n    except E as np: t(np.x)", 1),
        ("def f():\n    match x:\n        case np: t(np.x)", 1),
        ("def f():\n    match x:\n        case [1, *np]: t(np.x)", 1),
        ("def f():\n    match x:\n        case {'a': 1, **np}: t(np.x)", 1),
        ("def f():\n    match x:\n        case A(b=[np]): t(np.x)", 1),
        ("def f():\n    (np := 1)\n    t(np.x)", 1),
        ("def f():\n    [(np := 1) for i in x]\n    t(np.x)", 1),
        ("def f():\n    del np\n    t(np.x)", 1),
        ("def f():\n    np += 1\n    t(np.x)", 1),
        ("def f():\n    np: int\n    t(np.x)", 1),
        ("def f():\n    def np(): ...\n    t(np.x)", 1),
        ("def f():\n    class np: ...\n    t(np.x)", 1),
        ("lambda np: t(np.x)", 1),
        ("[t(np.x) for np in y]", 1),
        ("{t(np.x) for np in y}", 1),
        ("{1: t(np.x) for np in y}", 1),
        ("(t(np.x) for np in y)", 1),
        ("[0 for a in b for np in a if t(np.x)]", 1),
        ("def f[np](): t(np.x)", 1),
        ("def f():\n    type np = int\n    t(np.x)", 1),
        ("def f(np):\n    def g():\n        nonlocal np\n        np = 1\n    t(np.x)", 1),
    ] {
        check(&format!("import numpy as np\n{body}"), &[&format!("np@{scope}")]);
    }
}

#[test]
fn what_only_looks_like_shadowing() {
    for body in [
        "def f(x=t(np.x)): np = 1",
        "@t(np.x)\ndef f(np): ...",
        "def f(np: t(np.x)): ...",
        "def f(np) -> t(np.x): ...",
        "[np for np in t(np.x)]",
        "lambda np=t(np.x): np",
        "class A(t(np.x)):\n    np = 1",
        "class A:\n    np = 1\n    def f(self): t(np.x)",
        "class A:\n    np = 1\n    a = [t(np.x) for i in y]",
        "class A:\n    def np(self): ...\n    def f(self): return lambda: t(np.x)",
        "def f(): np = 1\nt(np.x)",
        "def f():\n    np = 1\n    def g():\n        global np\n        t(np.x)",
        "f(np=1)\nt(np.x)",
        "a.np = 1\nt(np.x)",
        "np.foo = 1\nt(np.x)",
        "np[0] += 1\nt(np.x)",
        "def f():\n    (np): int\n    t(np.x)",
        "match y:\n    case np.x: t(np.x)",
        "f'{t(np.x)}'",
        "f'{1:{t(np.x)}}'",
    ] {
        check(&format!("import numpy as np\n{body}"), &["numpy.x"]);
    }
}

#[test]
fn classes_and_type_parameters() {
    check("class A:\n    x = 1\n    t(x)", &["x@1"]);
    check("def f():\n    x = 1\n    class A:\n        t(x)\n        def g(self): t(x)", &["x@1", "x@1"]);
    check("class A:\n    import numpy as np\n    t(np.x)\n    def f(self): t(np.x)", &["numpy.x", "unbound"]);
    check("class A:\n    x = int\n    def f[T](self, a: t(x)): t(x)", &["x@1", "unbound"]);
    check("class A[T]:\n    def f(self): t(T)", &["T@1"]);
    check("type X[T] = t(T)", &["T@1"]);
    check("class _A:\n    __x = 1\n    t(__x)\n    def f(self): t(__x)", &["_A__x@1", "unbound"]);
    check("import m\nclass A:\n    def f(self): t(m.__x); t(m.__x__)", &["m._A__x", "m.__x__"]);
    check("class __:\n    __x = 1\n    t(__x)", &["__x@1"]);
}

#[test]
fn globals_and_nonlocals() {
    check("def f():\n    global np\n    import numpy as np\nt(np.x)", &["numpy.x"]);
    check("def f():\n    global x\n    x = 1\ndef g(): t(x)", &["x@0"]);
    check("def f():\n    import numpy as np\n    def g(): t(np.x)", &["numpy.x"]);
    check(
        "def f():\n    x = 1\n    def g():\n        nonlocal x\n        import numpy as x\n    t(x.y)",
        &["?numpy.y"],
    );
    check("def f():\n    global x\n    def g(): t(x)\n    x = 1", &["x@0"]);
    check("def f():\n    [x := 1 for i in y]\n    t(x)\n    t(i)", &["x@1", "unbound"]);
    check("x = 1\ndef f():\n    global x\n    [(x := 2) for i in y]\nt(x)", &["x@0"]);
}

/// A project with `pkg.compat` (its `np` is `NumPy`, its `xp` one of two, its `own` its own) and nothing else.
struct Project;

impl Exports for Project {
    fn lookup(&self, module: &str, name: &str) -> Option<String> {
        (module == "pkg.compat" && name == "np").then(|| "numpy".to_owned())
    }
    fn star(&self, module: &str) -> Option<Vec<String>> {
        (module == "pkg.compat").then(|| ["np", "xp", "own"].map(str::to_owned).to_vec())
    }
    fn meanings(&self, module: &str, name: &str) -> Vec<String> {
        match (module, name) {
            ("pkg.compat", "np") => vec!["numpy".to_owned()],
            ("pkg.compat", "xp") => vec!["cupy".to_owned(), "numpy".to_owned()],
            _ => Vec::new(),
        }
    }
    fn has(&self, module: &str) -> bool {
        module == "pkg"
    }
    fn shared(&self) -> Option<Arc<dyn Exports + Send + Sync>> {
        Some(Arc::new(Self))
    }
}

#[test]
fn re_exports_of_the_project_are_followed() {
    for (source, expected) in [
        ("from pkg.compat import np\nt(np.sum)", "numpy.sum"),
        ("from .compat import np as n\nt(n.sum)", "numpy.sum"),
        ("from pkg.compat import xp\nt(xp.sum)", "?cupy.sum|numpy.sum"),
        ("from pkg.compat import own\nt(own.sum)", "pkg.compat.own.sum"),
        ("import pkg.compat\nt(pkg.compat.np.sum)", "numpy.sum"),
        ("import pkg.compat as c\nt(c.np.sum)", "numpy.sum"),
        ("from pkg import compat\nt(compat.np)", "numpy"),
        ("from .compat import *\nt(np.sum)", "numpy.sum"),
        ("from .compat import *\nt(own)", "pkg.compat.own"),
        ("from .compat import *\nt(other)", "unbound"),
        ("import numpy as np\nfrom .compat import *\nt(np.sum)", "numpy.sum"),
        ("import cupy as np\nfrom .compat import *\nt(np.sum)", "?cupy.sum|numpy.sum"),
    ] {
        assert_eq!(answers(source, &Project), [expected], "{source}");
    }
}

#[test]
fn star_imports() {
    check(
        "from numpy import *\nt(zeros)\nt(sum)\nt(print)\nt(nothing)",
        &["numpy.zeros", "numpy.sum", "builtin print", "unbound"],
    );
    // NumPy 2 binds `abs`, NumPy 1 doesn't.
    check("from numpy import *\nt(abs)\nt(concat)", &["*numpy", "numpy.concat"]);
    check("from numpy import *\ndef sum(x): ...\nt(sum)", &["sum@0"]);
    check(
        "from math import *\nfrom numpy import *\nt(sin)\nt(zeros)",
        &["?math.sin|numpy.sin", "numpy.zeros"],
    );
    check("from pylab import *\nt(zeros)\nt(plot)", &["numpy.zeros", "pylab.plot"]);
    check(
        "from strange import *\nimport numpy as np\nt(np.x)\nt(sum)\nt(zeros)",
        &["numpy.x", "*strange", "*strange"],
    );
    check("from strange import *\nfrom numpy import *\nt(zeros)", &["numpy.zeros"]);
    check("from numpy import *\nfrom strange import *\nt(zeros)", &["*numpy|strange"]);
    check("if x:\n    from numpy import *\nt(zeros)", &["numpy.zeros"]);
}

#[test]
fn uses_and_mentions() {
    for (source, uses) in [
        ("import numpy as np\nnp.sum\nnp.x.y", 2),
        ("import numpy as np\ndef f(np): np", 0),
        ("import numpy as np\n__all__ = ['np']", 1),
        ("import numpy as np\n__all__ = []\n__all__ += ['np']\ndel np", 2),
        ("import numpy as np\ndef f():\n    return np", 1),
        ("import a.b, a.c\na.b", 1),
        ("from a import *\nx", 0),
    ] {
        let module = module(source);
        let names = Names::build(&module, "m", false, &NoExports);
        assert_eq!(names.uses_of(&names.imports()[0]), uses, "{source}");
    }
    let module = module("from numpy import *\ndef f(cp): pass\nx.xp");
    let names = Names::build(&module, "m", false, &NoExports);
    assert!(names.mentions("cp") && names.mentions("zeros") && names.mentions("x"));
    assert!(!names.mentions("xp") && !names.mentions("cupy"));
}

#[test]
fn when_imports_run() {
    use ImportTime::*;
    let source = "import a\nif x:\n    import b\ntry:\n    import c\nexcept E:\n    import d\n\
                  if TYPE_CHECKING:\n    import e\nelse:\n    import f\n\
                  if __name__ == '__main__':\n    import g\n    def h(): import i\n\
                  class A:\n    import j\ndef k():\n    if typing.TYPE_CHECKING: import l\n\
                  if not TYPE_CHECKING: import m\n";
    let module = module(source);
    let names = Names::build(&module, "m", false, &NoExports);
    let times: Vec<_> = names.imports().iter().map(|import| (&*import.bound, import.when)).collect();
    assert_eq!(
        times,
        [
            ("a", Top),
            ("b", Conditional),
            ("c", Conditional),
            ("d", Conditional),
            ("e", TypeChecking),
            ("f", Conditional),
            ("g", MainGuard),
            ("i", Deferred),
            ("j", Conditional),
            ("l", TypeChecking),
            ("m", Conditional),
        ]
    );
}

#[test]
fn places_of_variables() {
    let module = module("def f(a):\n    b = a\n    b += 1\n    return lambda: b\nx: int\nx = 1\n");
    let names = Names::build(&module, "m", false, &NoExports);
    let text = |range: &TextRange| (u32::from(range.start()), module.slice(*range).to_owned());
    let b = Variable { scope: ScopeId(1), name: "b".into() };
    assert_eq!(names.uses(&b).iter().map(text).collect::<Vec<_>>(), [(24, "b".into()), (50, "b".into())]);
    let kinds = |variable: &Variable| names.bindings(variable).iter().map(|it| it.kind).collect::<Vec<_>>();
    assert_eq!(kinds(&b), [BindingKind::Assignment, BindingKind::Augmented]);
    assert!(names.is_captured(&b) && names.only_binding(&b).is_none());
    let a = Variable { scope: ScopeId(1), name: "a".into() };
    assert_eq!(names.only_binding(&a).map(|it| it.kind), Some(BindingKind::Parameter));
    assert!(!names.is_captured(&a));
    let x = Variable { scope: ScopeId(0), name: "x".into() };
    assert_eq!(names.only_binding(&x).map(|it| it.kind), Some(BindingKind::Assignment));
    assert_eq!(names.variables(ScopeId(1)).map(|it| it.name.to_string()).collect::<Vec<_>>(), ["a", "b"]);
    assert_eq!(names.functions()[0].path, "f");
}

#[test]
fn scopes_by_position() {
    let source = "@d(lambda: 1)\ndef f(a=[i for i in b]):\n    return {j for j in c}\n";
    let module = module(source);
    let names = Names::build(&module, "m", false, &NoExports);
    let at = |text: &str| ruff_text_size::TextSize::try_from(source.find(text).unwrap()).unwrap();
    assert_eq!(names.scope_opened_at(at("@d")), Some(ScopeId(1)));
    assert_eq!(names.kind_of(names.scope_at(at("1)"))), ScopeKind::Lambda);
    assert_eq!(names.scope_at(at("d(")), ScopeId(0));
    assert_eq!(names.scope_at(at("a=")), ScopeId(1));
    assert_eq!(names.scope_at(at("[i")), names.scope_opened_at(at("[i")).unwrap());
    assert_eq!(names.scope_at(at("b]")), ScopeId(0));
    assert_eq!(names.scope_at(at("return")), ScopeId(1));
    assert_eq!(names.scope_at(at("c}")), ScopeId(1));
    assert_eq!(names.parent(names.scope_opened_at(at("{j")).unwrap()), Some(ScopeId(1)));
}

/// Checks what holds for every module: places are sorted and disjoint, and every name in the tree has its own.
fn check_invariants(module: &Module) {
    struct Every<'a>(&'a Names, usize);
    impl<'a> SourceOrderVisitor<'a> for Every<'_> {
        fn visit_expr(&mut self, expr: &'a Expr) {
            if let Expr::Name(name) = expr {
                let event = self.0.event_at(name.range.start());
                assert!(event.is_some_and(|event| event.range == name.range), "{name:?}");
                self.1 += 1;
            }
            walk_expr(self, expr);
        }
    }
    let names = Names::build(module, "pkg.mod", false, &NoExports);
    for pair in names.events.windows(2) {
        assert!(pair[0].range.end() <= pair[1].range.start(), "{}", module.place(pair[1].range.start()));
    }
    let mut every = Every(&names, 0);
    every.visit_body(module.body());
    let (mut reads, mut bindings) = (0, 0);
    for scope in (0..names.scopes.len() as u32).map(ScopeId) {
        for variable in names.variables(scope) {
            reads += names.uses(&variable).len();
            bindings += names.bindings(&variable).len();
        }
    }
    assert!(reads <= every.1 && bindings <= names.events.len());
}

#[test]
fn every_name_of_real_programs_has_a_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let paths: Vec<_> = ["python", "scripts", "tests"]
        .map(|folder| root.join(folder))
        .into_iter()
        .filter(|it| it.exists())
        .collect();
    let found = crate::source::discover(root, &paths, &crate::source::DiscoverOptions::default()).unwrap();
    assert!(!found.files.is_empty());
    for path in &found.files {
        let file = SourceFile::read(root, path).unwrap();
        check_invariants(&Module::parse(file).unwrap_or_else(|problem| panic!("{problem}")));
    }
}

#[test]
fn the_deepest_trees_fit_the_stack_of_a_worker() {
    let sources = [
        format!("x = {}1{}", "[".repeat(1_990), "]".repeat(1_990)),
        format!("x = {}1", "lambda: ".repeat(1_990)),
        format!("x = y{}", " + y".repeat(1_990)),
        format!("x = y{}", ".y".repeat(1_990)),
        format!("x = {}1{}", "[i for i in ".repeat(1_990), "]".repeat(1_990)),
    ];
    let worker = std::thread::Builder::new().stack_size(16 << 20);
    let work = move || sources.iter().for_each(|source| check_invariants(&module(source)));
    worker.spawn(work).unwrap().join().unwrap();
}

#[test]
fn names_can_be_shared_between_threads() {
    fn shared<T: Send + Sync>() {}
    shared::<Names>();
    shared::<Project>();
}
