//! Imports that come and go with a rewrite.

use super::{HEADER, WITHIN, check};

const ANY: &str = "rules:\n  - {id: call, match: numpy.$F($$$A), rewrite: cupy.$F($$$A)}\n";

fn to_cupy() -> String {
    format!("{HEADER}{ANY}")
}

fn renaming() -> String {
    format!(
        "{WITHIN}rules:\n  - {{id: names, rename: {{numpy.float_: numpy.float64, numpy.Inf: numpy.inf}}}}\n"
    )
}

#[test]
fn the_source_goes_when_nothing_uses_it() {
    let check = |before: &str, after: &str| check(&to_cupy(), before, after);
    check("import numpy as np\nnp.f(1)\n", "import cupy as cp\ncp.f(1)\n");
    check("import numpy as np  # arrays\nnp.f(1)\n", "import cupy as cp  # arrays\ncp.f(1)\n");
    check("import numpy as np\nnp.f(np.pi)\n", "import numpy as np\nimport cupy as cp\ncp.f(np.pi)\n");
    check("import numpy\nnumpy.f(1)\n", "import cupy as cp\ncp.f(1)\n");
    check("import os, numpy as np\nnp.f(os)\n", "import os\nimport cupy as cp\ncp.f(os)\n");
    check("from numpy import f\nf(1)\n", "import cupy as cp\ncp.f(1)\n");
    check("from numpy import f, g\nf(g)\n", "from numpy import g\nimport cupy as cp\ncp.f(g)\n");
    check(
        "from numpy import (\n    f,\n    g,\n)\nf(g)\n",
        "from numpy import (\n    g,\n)\nimport cupy as cp\ncp.f(g)\n",
    );
    check(
        "import numpy as np\n__all__ = ['np']\nnp.f(1)\n",
        "import numpy as np\nimport cupy as cp\n__all__ = ['np']\ncp.f(1)\n",
    );
}

#[test]
fn a_new_import_stands_with_the_one_it_succeeds() {
    let check = |before: &str, after: &str| check(&to_cupy(), before, after);
    check(
        "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport os\nimport numpy as np\nimport sys\nnp.f(np)\n",
        "\"\"\"Doc.\"\"\"\nfrom __future__ import annotations\nimport os\nimport numpy as np\nimport cupy as cp\nimport sys\ncp.f(np)\n",
    );
    check(
        "def g():\n    import numpy as np\n    return np.f(np)\n",
        "def g():\n    import numpy as np\n    import cupy as cp\n    return cp.f(np)\n",
    );
    check(
        "def g():\r\n\timport numpy as np\r\n\treturn np.f(1)\r\n",
        "def g():\r\n\timport cupy as cp\r\n\treturn cp.f(1)\r\n",
    );
    check(
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\nx = np.f(1)\n",
        "try:\n    import numpy as np\nexcept ImportError:\n    np = None\nimport cupy as cp\nx = cp.f(1)\n",
    );
    check("import numpy as np; import os\nnp.f(os)\n", "import cupy as cp; import os\ncp.f(os)\n");
    check("import numpy as np\nnp.f(1)", "import cupy as cp\ncp.f(1)");
}

#[test]
fn imports_that_are_there_are_used() {
    let check = |before: &str, after: &str| check(&to_cupy(), before, after);
    check("import cupy\nimport numpy as np\nnp.f(cupy)\n", "import cupy\ncupy.f(cupy)\n");
    check("import numpy as np\nimport cupy as xp\nnp.f(xp)\n", "import cupy as xp\nxp.f(xp)\n");
    check("from cupy import f\nimport numpy as np\nnp.f(f)\n", "from cupy import f\nf(f)\n");
}

#[test]
fn a_taken_alias_is_avoided() {
    let check = |before: &str, after: &str| check(&to_cupy(), before, after);
    check(
        "import cvxpy as cp\nimport numpy as np\nnp.f(cp)\n",
        "import cvxpy as cp\nimport cupy\ncupy.f(cp)\n",
    );
    check(
        "import numpy as np\ndef g(cp):\n    return np.f(cp)\n",
        "import cupy\ndef g(cp):\n    return cupy.f(cp)\n",
    );
    check(
        "import numpy as np\ncp = cupy = 1\nnp.f(1)\n",
        "import cupy as cupy_gpu\ncp = cupy = 1\ncupy_gpu.f(1)\n",
    );
}

#[test]
fn names_of_one_module_keep_their_spelling() {
    let check = |before: &str, after: &str| check(&renaming(), before, after);
    check(
        "import numpy as np\nx = np.float_(3) + np.Inf\n",
        "import numpy as np\nx = np.float64(3) + np.inf\n",
    );
    check("import numpy\nx = numpy.float_\n", "import numpy\nx = numpy.float64\n");
    check("from numpy import float_\nx = float_(3)\n", "from numpy import float64\nx = float64(3)\n");
    check(
        "from numpy import float_, pi, Inf\nx = [float_, Inf]\n",
        "from numpy import float64, pi, inf\nx = [float64, inf]\n",
    );
    check(
        "from numpy import float_, float64\nx = [float_, float64]\n",
        "from numpy import float64\nx = [float64, float64]\n",
    );
    check("from numpy import float_ as f\nx = f(3)\n", "from numpy import float64\nx = float64(3)\n");
    check(
        "import numpy as np\nfrom numpy import float_\nx = float_(np)\n",
        "import numpy as np\nx = np.float64(np)\n",
    );
    check(
        "from numpy import float_\nfloat64 = 1\nx = float_\n",
        "import numpy as np\nfloat64 = 1\nx = np.float64\n",
    );
    check(
        "from numpy import *\nx = float_(3)\n",
        "from numpy import *\nimport numpy as np\nx = np.float64(3)\n",
    );
}

#[test]
fn modules_of_other_libraries_are_imported_as_declared() {
    let text = format!(
        "{HEADER}imports: {{cupyx.scipy.ndimage: cundi, cupyx: ~}}
rules:
  - {{id: a, match: numpy.a($X), rewrite: cupyx.scipy.ndimage.zoom($X)}}
  - {{id: b, match: numpy.b($X), rewrite: cupyx.rsqrt($X)}}
  - {{id: c, match: numpy.c($X), rewrite: math.sqrt($X)}}
  - {{id: d, match: numpy.d($X), rewrite: float($X)}}
"
    );
    let check = |before: &str, after: &str| check(&text, before, after);
    check("import numpy as np\nnp.a(1)\n", "import cupyx.scipy.ndimage as cundi\ncundi.zoom(1)\n");
    check("import numpy as np\nnp.b(1)\n", "import cupyx\ncupyx.rsqrt(1)\n");
    check("import numpy as np\nnp.c(1)\n", "import math\nmath.sqrt(1)\n");
    check("import numpy as np\nnp.d(1)\n", "float(1)\n");
    check("import numpy as np\nfloat = 1\nnp.d(1)\n", "import numpy as np\nfloat = 1\nnp.d(1)\n");
    check(
        "import numpy as np\nnp.a(np.b(np.c(1)))\n",
        "import cupyx\nimport cupyx.scipy.ndimage as cundi\nimport math\ncundi.zoom(cupyx.rsqrt(math.sqrt(1)))\n",
    );
}

#[test]
fn an_import_stays_that_texts_may_mean() {
    let check = |before: &str, after: &str| check(&to_cupy(), before, after);
    check(
        "import numpy as np\ndef g(x: 'np.ndarray'):\n    return np.f(x)\n",
        "import numpy as np\nimport cupy as cp\ndef g(x: 'np.ndarray'):\n    return cp.f(x)\n",
    );
    check(
        "import numpy as np\ndef g():\n    \"\"\"\n    >>> np.f(1)\n    \"\"\"\n    return np.f(1)\n",
        "import numpy as np\nimport cupy as cp\ndef g():\n    \"\"\"\n    >>> np.f(1)\n    \"\"\"\n    return cp.f(1)\n",
    );
    check("import numpy as np\nnp.f('inp.x, the np')\n", "import cupy as cp\ncp.f('inp.x, the np')\n");
}

#[test]
fn names_that_are_handed_on_are_renamed_where_they_are_imported() {
    let check = |before: &str, after: &str| check(&renaming(), before, after);
    check(
        "from numpy import float_\n__all__ = ['float_']\nx = float_(1)\n",
        "from numpy import float64 as float_, float64\n__all__ = ['float_']\nx = float64(1)\n",
    );
    check("from numpy import float_, pi\n", "from numpy import float64 as float_, pi\n");
    check("from numpy import float_ as f, pi\n", "from numpy import float64 as f, pi\n");
    check("from numpy import inf, Inf\n", "from numpy import inf, inf as Inf\n");
    check("import numpy as np\nnp.float_ = 1\n", "import numpy as np\nnp.float_ = 1\n");
    check(
        "try:\n    from numpy import float_\nexcept ImportError:\n    float_ = float\n",
        "try:\n    from numpy import float_\nexcept ImportError:\n    float_ = float\n",
    );
}

#[test]
fn a_name_that_moved_to_another_module_is_imported_from_there() {
    let text = format!(
        "{WITHIN}rules:\n  - {{id: moved, rename: {{numpy.AxisError: numpy.exceptions.AxisError}}}}\n"
    );
    let check = |before: &str, after: &str| check(&text, before, after);
    check("from numpy import AxisError\n", "from numpy.exceptions import AxisError\n");
    check(
        "from numpy import AxisError, pi\n",
        "from numpy import pi\nfrom numpy.exceptions import AxisError\n",
    );
    check(
        "from numpy import AxisError\ndef f():\n    raise AxisError(pi)\n",
        "from numpy import exceptions\ndef f():\n    raise exceptions.AxisError(pi)\n",
    );
}

#[test]
fn imports_that_may_not_have_run_are_not_relied_on() {
    let check = |before: &str, after: &str| check(&to_cupy(), before, after);
    check(
        "from typing import TYPE_CHECKING\nimport numpy as np\nif TYPE_CHECKING:\n    import cupy\nnp.f(1)\n",
        "from typing import TYPE_CHECKING\nimport cupy as cp\nif TYPE_CHECKING:\n    import cupy\ncp.f(1)\n",
    );
    check(
        "import numpy as np\nif gpu:\n    import cupy as xp\nnp.f(1)\n",
        "import cupy as cp\nif gpu:\n    import cupy as xp\ncp.f(1)\n",
    );
    check(
        "import numpy as np\ndef f():\n    import cupy as xp\n    xp.g()\nnp.f(1)\n",
        "import cupy as cp\ndef f():\n    import cupy as xp\n    xp.g()\ncp.f(1)\n",
    );
}

#[test]
fn of_several_spellings_the_one_in_use_is_kept() {
    let check = |before: &str, after: &str| check(&renaming(), before, after);
    check(
        "import numpy\nimport numpy as np\nx = [np.float_, numpy.float_]\n",
        "import numpy\nimport numpy as np\nx = [np.float64, numpy.float64]\n",
    );
}
