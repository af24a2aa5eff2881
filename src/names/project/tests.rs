//! Projects of a few files each: re-exports, and which import leads where.

use std::cell::RefCell;

use super::*;
use crate::names::{ImportTime, Resolution};
use crate::source::SourceFile;

fn module(path: &str, source: &str) -> Arc<Module> {
    let file = SourceFile::from_bytes(Path::new(path), source.as_bytes()).unwrap();
    Arc::new(Module::parse(file).unwrap_or_else(|problem| panic!("{problem}")))
}

fn project(files: &[(&str, &str)]) -> Project {
    Project::load(
        Path::new("/home/me/proj"),
        files.iter().map(|(path, source)| module(path, source)).collect(),
    )
}

/// What the last expression statement of `path` means.
fn meaning(project: &Project, path: &str) -> Resolution {
    let id = project.by_path(Path::new(path)).unwrap();
    let last = project.module(id).body().last().unwrap().as_expr_stmt().unwrap();
    project.names(id).resolve(&last.value)
}

#[track_caller]
fn check_meaning(files: &[(&str, &str)], expected: &str) {
    let found = match meaning(&project(files), "main.py") {
        Resolution::Qualified(path) => path,
        Resolution::Ambiguous(paths) => format!("?{}", paths.join("|")),
        other => format!("{other:?}"),
    };
    assert_eq!(found, expected, "{files:?}");
}

#[test]
fn names_are_followed_through_modules() {
    let through = |compat: &str, main: &str, expected: &str| {
        check_meaning(
            &[("pkg/__init__.py", "from . import compat as c"), ("pkg/compat.py", compat), ("main.py", main)],
            expected,
        );
    };
    let np = "import numpy as np";
    through(np, "from pkg.compat import np\nnp.sum", "numpy.sum");
    through(np, "import pkg.compat\npkg.compat.np.sum", "numpy.sum");
    through(np, "import pkg\npkg.compat.np.sum", "numpy.sum");
    through(np, "from pkg import compat\ncompat.np.sum", "numpy.sum");
    through(np, "import pkg\npkg.c.np.sum", "numpy.sum");
    through(np, "from pkg import c\nc.np.sum", "numpy.sum");
    through(np, "from pkg.compat import *\nnp.sum", "numpy.sum");
    through("from numpy import *", "from pkg.compat import *\nzeros", "numpy.zeros");
    through("from numpy import *", "from pkg.compat import zeros\nzeros", "numpy.zeros");
    through(
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None",
        "from pkg.compat import np\nnp.x",
        "numpy.x",
    );
    through(
        "import numpy as np\n__all__ = ['f']\ndef f(): ...",
        "from pkg.compat import *\nf",
        "pkg.compat.f",
    );
    through("def f(): ...", "from pkg.compat import f\nf", "pkg.compat.f");
    through("from numpy import sum as total", "import pkg.compat as k\nk.total", "numpy.sum");
}

#[test]
fn what_is_not_sure_stays_so() {
    let through = |compat: &str, main: &str, expected: &str| {
        check_meaning(&[("compat.py", compat), ("main.py", main)], expected);
    };
    let two = "try:\n    import cupy as xp\nexcept ImportError:\n    import numpy as xp";
    through(two, "from compat import xp\nxp.sum", "?cupy.sum|numpy.sum");
    through(two, "from compat import *\nxp.sum", "?cupy.sum|numpy.sum");
    through(two, "import compat\ncompat.xp.sum", "compat.xp.sum");
    let rebound = "import numpy as np\ndef use(lib):\n    global np\n    np = lib";
    through(rebound, "from compat import np\nnp.sum", "?numpy.sum|compat.np.sum");
    through(
        "import numpy as np\nif (np := fake): pass",
        "from compat import np\nnp.sum",
        "?numpy.sum|compat.np.sum",
    );
    through(
        "import numpy as np\nmatch x:\n    case [np]: pass",
        "from compat import np\nnp.x",
        "?numpy.x|compat.np.x",
    );
    through("def f():\n    import numpy as np", "from compat import np\nnp.sum", "compat.np.sum");
    through("from main import np", "from compat import np\nnp.sum", "compat.np.sum");
    through("from strange import *", "from compat import np\nnp.sum", "compat.np.sum");
    through("from strange import *", "from compat import *\nnp.sum", "MaybeStar([\"compat\"])");
    through(
        "import numpy as np\n__all__ = names()",
        "from compat import *\nnp.sum",
        "MaybeStar([\"compat\"])",
    );
}

#[test]
fn modules_that_import_each_other_end() {
    let files = [
        ("a.py", "from b import *\nfrom b import x"),
        ("b.py", "from a import *\nfrom a import x"),
        ("main.py", "from a import x\nx.y"),
    ];
    check_meaning(&files, "a.x.y");
}

#[test]
fn a_folder_of_scripts_has_its_own_modules() {
    let files = [
        ("a/util.py", "import numpy as np"),
        ("a/main.py", "from util import np\nnp.sum"),
        ("b/util.py", "import cupy as np"),
        ("b/main.py", "from util import np\nnp.sum"),
    ];
    let project = project(&files);
    assert_eq!(meaning(&project, "a/main.py"), Resolution::Qualified("numpy.sum".to_owned()));
    assert_eq!(meaning(&project, "b/main.py"), Resolution::Qualified("cupy.sum".to_owned()));
}

#[test]
fn a_module_of_the_project_hides_the_library_of_its_name() {
    let files = [("numpy.py", "def sum(x): ..."), ("main.py", "import numpy as np\nnp.sum")];
    let project = project(&files);
    let main = project.by_path(Path::new("main.py")).unwrap();
    assert_eq!(
        project.locate(main, "numpy.sum"),
        Some((project.by_path(Path::new("numpy.py")).unwrap(), "sum"))
    );
    assert_eq!(project.locate(main, "pandas.sum"), None);
    assert!(
        project.names(main).is_project_module("numpy") && !project.names(main).is_project_module("pandas")
    );
}

/// The text of the clause that first leads to pandas, when, and through which modules.
fn reach(files: &[(&str, &str)]) -> Option<String> {
    let project = project(files);
    let main = project.by_path(Path::new("main.py")).unwrap();
    let reach = project.reaches(main, &["pandas"])?;
    let module = project.module(main);
    let through: Vec<&str> = reach.through.iter().map(|id| project.dotted(*id)).collect();
    let anchor = module.slice(reach.anchor).lines().next().unwrap();
    Some(format!("{} [{anchor}] {:?} {}", module.slice(reach.clause), reach.when, through.join(" ")))
}

#[test]
fn the_first_import_that_leads_to_a_library() {
    use ImportTime::{Conditional, Deferred, MainGuard, Top};
    let show = |clause: &str, anchor: &str, when: ImportTime, through: &str| {
        Some(format!("{clause} [{anchor}] {when:?} {through}"))
    };
    let main = |source: &'static str| ("main.py", source);
    let helper = ("helper.py", "import os\nimport pandas as pd");
    let lazy = ("lazy.py", "def f():\n    import pandas");
    for (files, expected) in [
        (vec![main("import os\nimport pandas as pd")], show("pandas as pd", "import pandas as pd", Top, "")),
        (vec![main("from pandas.api import types")], show("types", "from pandas.api import types", Top, "")),
        (vec![main("import pandasql, numpy")], None),
        (
            vec![main("import numpy\nimport helper\nimport pandas"), helper],
            show("helper", "import helper", Top, "helper"),
        ),
        (
            vec![main("import middle"), ("middle.py", "import helper"), helper],
            show("middle", "import middle", Top, "middle helper"),
        ),
        (vec![main("if x:\n    import helper"), helper], show("helper", "if x:", Conditional, "helper")),
        (
            vec![main("if __name__ == '__main__':\n    import helper"), helper],
            show("helper", "if __name__ == '__main__':", MainGuard, "helper"),
        ),
        (vec![main("def f():\n    import helper"), helper], show("helper", "def f():", Deferred, "helper")),
        (
            vec![main("import lazy\nimport helper"), lazy, helper],
            show("helper", "import helper", Top, "helper"),
        ),
        (vec![main("import os\nimport lazy"), lazy], show("lazy", "import lazy", Deferred, "lazy")),
        (vec![main("if TYPE_CHECKING:\n    import pandas")], None),
        (vec![main("import h"), ("h.py", "if __name__ == '__main__':\n    import pandas")], None),
        (
            vec![main("import p.q"), ("p/__init__.py", "import pandas"), ("p/q.py", "")],
            show("p.q", "import p.q", Top, "p"),
        ),
        (
            vec![main("from p import q"), ("p/__init__.py", ""), ("p/q.py", "import pandas")],
            show("q", "from p import q", Top, "p.q"),
        ),
        (
            vec![main("from p import *"), ("p/__init__.py", "from .q import r"), ("p/q.py", "import pandas")],
            show("*", "from p import *", Top, "p p.q"),
        ),
        (
            vec![main("import a"), ("a.py", "import b"), ("b.py", "import a\nimport pandas")],
            show("a", "import a", Top, "a b"),
        ),
        (vec![main("import a, b"), ("a.py", "import b"), ("b.py", "import a")], None),
    ] {
        assert_eq!(reach(&files), expected, "{files:?}");
    }
}

#[test]
fn an_entry_loads_only_what_it_reaches() {
    let files = [
        ("scripts/run.py", "import helper\nfrom pkg.a import f"),
        ("scripts/helper.py", "import numpy as np\nimport broken"),
        ("scripts/other.py", "import pandas"),
        ("src/pkg/__init__.py", ""),
        ("src/pkg/a.py", "from .b import np\nfrom . import c"),
        ("src/pkg/b.py", "import numpy as np"),
        ("src/pkg/c.py", ""),
        ("src/pkg/d.py", ""),
    ];
    let asked = RefCell::new(0);
    let load = |path: &Path| {
        *asked.borrow_mut() += 1;
        files.iter().find(|(name, _)| Path::new(name) == path).map(|(name, source)| module(name, source))
    };
    let project = Project::for_entry(Path::new("/home/me/proj"), module(files[0].0, files[0].1), &load);
    let paths: Vec<_> = project.ids().map(|id| project.module(id).file.path.display().to_string()).collect();
    assert_eq!(
        paths,
        [
            "scripts/helper.py",
            "scripts/run.py",
            "src/pkg/__init__.py",
            "src/pkg/a.py",
            "src/pkg/b.py",
            "src/pkg/c.py"
        ]
    );
    let a = project.by_path(Path::new("src/pkg/a.py")).unwrap();
    assert_eq!(project.dotted(a), "pkg.a");
    assert!(*asked.borrow() < 60, "{}", asked.borrow());
}

#[test]
fn what_others_use_of_a_module() {
    let files = [
        ("compat.py", "import numpy as np\nimport scipy as sp\nimport os"),
        ("main.py", "from compat import np"),
        ("other.py", "import compat\ncompat.sp.linalg"),
    ];
    let project = project(&files);
    let compat = project.by_path(Path::new("compat.py")).unwrap();
    assert!(project.is_used_outside(compat, "np") && project.is_used_outside(compat, "sp"));
    assert!(!project.is_used_outside(compat, "os"));
    assert_eq!(project.importers(compat).len(), 2);
}
