//! Comparing arrays, frames, models, graphs and sparse matrices of the real libraries.

use super::*;

/// Many expressions in one pair of scripts: before, after, and what is told of the global that holds it; nothing: they
/// agree.
fn check_expressions(modules: &[&str], prelude: &str, cases: &[(&str, &str, &str)]) {
    if !modules.iter().all(|module| has(module)) {
        return;
    }
    let program = |pick: fn(&(&str, &str, &str)) -> String| {
        let lines = cases.iter().enumerate().map(|(index, case)| format!("x{index}_ = {}\n", pick(case)));
        format!("{prelude}\n{}", lines.collect::<String>())
    };
    let (before, after) = (program(|case| case.0.to_owned()), program(|case| case.1.to_owned()));
    let (a, b) = (run_script(&before), run_script(&after));
    assert!(a.status.success() && b.status.success(), "{}\n{}", a.stderr, b.stderr);
    let comparison = compare_captures(&a.left, &b.left, None, &contract());
    let told = messages(&comparison);
    for (index, (before, after, expected)) in cases.iter().enumerate() {
        let here: Vec<&str> =
            told.lines().filter(|line| line.contains(&format!("globals.x{index}_"))).collect();
        let fits = match *expected {
            "" => here.is_empty(),
            expected => {
                here.iter().any(|line| line.replace(&format!("globals.x{index}_"), "x").contains(expected))
            }
        };
        assert!(fits, "{before}\n{after}\nexpected {expected:?}, told {here:#?}");
    }
    assert!(comparison.not_compared.is_empty(), "{:?}", comparison.not_compared);
}

#[test]
fn arrays_are_compared_elementwise() {
    let prelude = r#"
import numpy as np
_record = [("a", "i4"), ("b", "f8")]
def _at(shape, place, value):
    u = np.zeros(shape)
    u[place] = value
    return u
"#;
    let cases = [
        (
            "np.linspace(0, 1, 1000).reshape(10, 100)",
            "np.linspace(0, 1, 1000).reshape(10, 100) * (1 + 1e-12)",
            "",
        ),
        ("np.arange(6).reshape(2, 3).T", "np.ascontiguousarray(np.arange(6).reshape(2, 3).T)", ""),
        ("np.float64(1.5)", "1.5", ""),
        ("np.int64(3)", "3", ""),
        ("[np.float64(i) for i in range(40)]", "[float(i) for i in range(40)]", ""),
        (
            "[np.float64(i) for i in range(40)]",
            "[float(i) for i in range(39)] + [0.5]",
            "x[39]: 39.0 became 0.5",
        ),
        ("np.ma.array([1.0, 2.0], mask=[0, 1])", "np.ma.array([1.0, 3.0], mask=[0, 1])", ""),
        ("np.ma.array([1.0, 2.0], mask=[0, 1])", "np.ma.array([1.0, 2.0], mask=[0, 0])", "x.mask[1]"),
        ("np.zeros((4, 50))", "_at((4, 50), (3, 17), 1.0)", "x[3, 17]: 0.0 became 1.0"),
        ("np.zeros((40, 50))", "_at((40, 50), (3, 17), 1.0)", "1 of 2000 elements differ"),
        ("np.zeros(3)", "np.zeros(3, 'f4')", "GP501 x: dtype <f8 became <f4"),
        ("np.zeros(3)", "np.zeros((3, 1))", "GP502 x: shape [3] became [3, 1]"),
        ("np.array([1.0, np.nan])", "np.array([1.0, 2.0])", "x[1]: NaN became 2.0"),
        ("np.array([1.0, np.inf])", "np.array([1.0, np.inf])", ""),
        ("np.arange(3)", "np.arange(3) + 1", "3 of 3"),
        ("np.array([True, False])", "np.array([True, True])", "x[1]: False became True"),
        ("np.array([1 + 2j])", "np.array([1 + 2.5j])", "x[0]: 1.0+2.0j became 1.0+2.5j"),
        ("np.array([(1, 2.0)], _record)", "np.array([(1, 3.0)], _record)", "x['b'][0]: 2.0 became 3.0"),
        ("np.array(['2020-01-01'], 'M8[s]')", "np.array(['2020-01-02'], 'M8[s]')", "x[0]"),
        (
            "np.array(['2020-01-01'], 'M8[s]')",
            "np.array(['2020-01-01'], 'M8[D]')",
            "dtype <M8[s] became <M8[D]",
        ),
        ("np.array(['ab', 'c'])", "np.array(['ab', 'd'])", "x[1]: \"c\" became \"d\""),
        ("np.array([b'ab'])", "np.array([b'ab'])", ""),
        ("np.array([1, 'a'], object)", "np.array([1, 'b'], object)", "x[1]"),
        ("np.array([[1.0]]).view(np.matrix)", "np.array([[1.0]])", "numpy.matrix became numpy.ndarray"),
        ("np.float32(1)", "1.0", "GP501"),
        ("np.zeros(3)", "[0.0, 0.0, 0.0]", "GP501"),
        ("np.float16([1, 2])", "np.float16([1, 2.01])", ""),
        ("np.longdouble(1)", "np.longdouble(2)", "1.0 became 2.0"),
        ("np.arange(3, dtype='>f8')", "(np.arange(3) + 1).astype('>f8')", "x[0]: 0.0 became 1.0"),
        ("{'u': [np.zeros(2)]}", "{'u': [np.ones(2)]}", "x[\"u\"][0][0]"),
    ];
    check_expressions(&["numpy"], prelude, &cases);
}

#[test]
fn frames_are_compared_column_by_column() {
    let prelude = r#"
import pandas as pd
def _frame(**columns):
    return pd.DataFrame({"a": [1, 2, 3], "s": ["x", None, "z"], "c": pd.Categorical(["p", "q", "p"]), **columns})
def _texts(last):
    return pd.Series([f"row {i}" for i in range(2000)] + [last])
_day = pd.Timestamp("2020-01-01", tz="Europe/Berlin")
"#;
    let cases = [
        ("_frame()", "_frame()", ""),
        ("_frame()", "_frame(a=[1, 7, 3])", "x['a'][1]: 2 became 7"),
        ("_frame()", "_frame(a=[1.0, 2.0, 3.0])", "x['a']: dtype <i8 became <f8"),
        ("_frame()", "_frame(s=['x', 'y', 'z'])", "x['s'][1]: missing became \"y\""),
        ("_frame()", "_frame(c=pd.Categorical(['q', 'q', 'p']))", "x['c'].codes[0]"),
        ("_frame()", "_frame(c=['p', 'q', 'p'])", "GP501 x['c']"),
        ("_frame()", "_frame()[['s', 'a', 'c']]", "x.columns[0]: \"a\" became \"s\""),
        ("_frame()", "_frame().set_index(pd.Index([5, 6, 7]))", "x.index[0]: 0 became 5"),
        ("_frame()", "_frame().set_index(pd.Index([0, 1, 2]))", ""),
        ("_frame()", "_frame().iloc[:2]", "GP502"),
        ("_frame()", "_frame(extra=[1, 2, 3])", "GP504 x['extra']"),
        ("_frame()['a']", "_frame()['a'].rename('b')", "its name 'a' became 'b'"),
        (
            "_frame(b=pd.array([1, None, 3], 'Int64'))",
            "_frame(b=pd.array([1, 2, 3], 'Int64'))",
            "x['b'].missing[1]",
        ),
        ("_frame(t=[_day] * 3)", "_frame(t=[_day + pd.Timedelta('1h')] * 3)", "x['t'][0]"),
        (
            "_frame().groupby('c', observed=True)['a'].sum()",
            "_frame().groupby('c', observed=True)['a'].mean()",
            "GP501",
        ),
        (
            "_frame().set_index(['a', 's'])",
            "_frame(s=['x', None, 'w']).set_index(['a', 's'])",
            "x.index.level[1][2]",
        ),
        ("pd.period_range('2020', periods=3)", "pd.period_range('2021', periods=3)", "x[0]"),
        ("pd.Timestamp('2020')", "pd.Timestamp('2021')", "GP500"),
        ("_texts('end')", "_texts('end')", ""),
        ("_texts('end')", "_texts('END')", "x[2000]: \"end\" became \"END\"; 1 of 2001"),
        ("_texts('end')", "_texts(None)", "x[2000]: \"end\" became missing"),
        ("pd.Series([1, 'a', 2.5])", "pd.Series([1, 'b', 2.5])", "x[1]"),
    ];
    check_expressions(&["pandas"], prelude, &cases);
}

#[test]
fn models_graphs_and_sparse_matrices_are_compared_by_their_parts() {
    let prelude = r"
from sklearn.linear_model import Ridge as _Ridge
from sklearn.ensemble import RandomForestClassifier as _Forest
from sklearn.pipeline import make_pipeline as _pipeline
from sklearn.preprocessing import StandardScaler as _Scaler
import networkx as nx, scipy.sparse as sp
_x = [[0.0], [1.0], [2.0], [3.0]]
def _graph(*edges, **more):
    g = nx.Graph(**more)
    g.add_weighted_edges_from(edges)
    return g
_m = sp.csr_matrix([[0, 1.0], [2.0, 0]])
";
    let cases = [
        ("_Ridge().fit(_x, [0, 1, 2, 3])", "_Ridge().fit(_x, [0, 1, 2, 3])", ""),
        ("_Ridge().fit(_x, [0, 1, 2, 3])", "_Ridge().fit(_x, [0, 1, 2, 4])", "x.coef_[0]"),
        ("_Ridge().fit(_x, [0, 1, 2, 3])", "_Ridge()", "GP503 x.coef_"),
        (
            "_Forest(2, random_state=0).fit(_x, [0, 1, 0, 1])",
            "_Forest(2, random_state=0).fit(_x, [0, 1, 0, 1])",
            "",
        ),
        (
            "_Forest(2, random_state=0).fit(_x, [0, 1, 0, 1])",
            "_Forest(2, random_state=1).fit(_x, [0, 1, 0, 1])",
            "x.estimators_[0].tree_",
        ),
        (
            "_pipeline(_Scaler(), _Ridge()).fit(_x, [0, 1, 2, 3])",
            "_pipeline(_Scaler(), _Ridge()).fit(_x, [0, 1, 2, 4])",
            "coef_[0]",
        ),
        ("_graph(('a', 'b', 1.0))", "_graph(('b', 'a', 1.0))", ""),
        ("_graph(('a', 'b', 1.0))", "_graph(('a', 'b', 2.0))", "x.edges['weight'][0]: 1.0 became 2.0"),
        ("_graph(('a', 'b', 1.0))", "_graph(('a', 'b', 1.0), ('b', 'c', 1.0))", "GP502 x.nodes"),
        (
            "_graph(('a', 'b', 1.0))",
            "_graph(('a', 'b', 1.0)).to_directed()",
            "its directed False became True",
        ),
        ("_m", "_m[[1, 0]][[1, 0]]", ""),
        ("_m", "_m * 2", "x.data[0]: 1.0 became 2.0"),
        ("_m", "_m.tocsc()", "GP501"),
        ("_m.tocoo()", "_m.T.tocoo().T", ""),
    ];
    check_expressions(&["sklearn", "networkx", "scipy"], prelude, &cases);
}
