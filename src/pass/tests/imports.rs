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
