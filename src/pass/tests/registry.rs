//! Passes from folders and files: which take the place of which, and what they inherit.

use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use super::{HEADER, apply};
use crate::pass::{Registry, Sources, json_schema, list, manual};

/// A folder with these files.
fn folder(files: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    folder
}

fn base() -> String {
    HEADER.replace("id: test", "id: base")
        + "rules:\n  - {id: f, match: numpy.f($X), rewrite: cupy.f($X)}\n  - {id: g, match: numpy.g($X), rewrite: cupy.g($X)}\n"
}

fn data(passes: &[(&str, &str)]) -> TempDir {
    let mut files = vec![
        ("patterns/reasons.yaml", "- code: GP204\n"),
        ("patterns/guards.yaml", "schema: gpuport/guards/1\nguards: []\n"),
    ];
    files.extend_from_slice(passes);
    folder(&files)
}

fn sources(data: &TempDir) -> Sources {
    Sources { data: Some(data.path().to_owned()), ..Sources::default() }
}

fn ids(registry: &Registry) -> Vec<String> {
    registry.default_passes().iter().map(|pass| pass.id.clone()).collect()
}

fn errors(sources: &Sources) -> Vec<String> {
    let errors = Registry::load(sources).expect_err("a file is wrong");
    errors.iter().flat_map(|file| file.errors.iter().map(|error| error.message.clone())).collect()
}

#[test]
fn a_data_folder_replaces_the_embedded_files() {
    let data = data(&[("transforms/base.yaml", &base())]);
    let registry = Registry::load(&sources(&data)).unwrap();
    assert_eq!(ids(&registry), ["base"]);
    assert!(!registry.is_own("base"));
}

#[test]
fn a_users_pass_of_the_same_id_takes_the_place() {
    let data = data(&[("transforms/base.yaml", &base())]);
    let own = folder(&[("base.yaml", &base().replace("cupy.f($X)", "cupy.own($X)"))]);
    let registry =
        Registry::load(&Sources { folders: vec![own.path().to_owned()], ..sources(&data) }).unwrap();
    assert_eq!(ids(&registry), ["base"]);
    assert!(registry.is_own("base"));
    let pass = registry.pass("base").unwrap();
    assert_eq!(apply(&pass, "import numpy as np\nnp.f(1)\n"), "import cupy as cp\ncp.own(1)\n");
}

#[test]
fn a_pass_may_extend_another() {
    let data = data(&[("transforms/base.yaml", &base())]);
    let text = "schema: gpuport/pass/1\nid: mine\nextends: base\nrules:\n  - {id: any, match: numpy.$F($X), rewrite: cupy.any($X)}\ndisable: [g]\n";
    let file = folder(&[("mine.yaml", text)]);
    let registry =
        Registry::load(&Sources { files: vec![file.path().join("mine.yaml")], ..sources(&data) }).unwrap();
    // The extended pass is left to the one that extends it, whose rules come first although they are more general.
    assert_eq!(ids(&registry), ["mine"]);
    let pass = registry.pass("mine").unwrap();
    assert_eq!(pass.summary, "Test");
    assert_eq!(pass.rules.iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>(), ["any", "f"]);
    assert_eq!(apply(&pass, "import numpy as np\nnp.f(1)\n"), "import cupy as cp\ncp.any(1)\n");
}

#[test]
fn mistakes_are_told_of_every_file() {
    let data = data(&[
        ("transforms/base.yaml", &base().replace("layer: native", "layer: deep")),
        ("transforms/other.yaml", "schema: gpuport/pass/1\nid: other\nextends: nothing\n"),
        ("transforms/third.yaml", "id: third\n"),
    ]);
    assert_eq!(
        errors(&sources(&data)),
        [
            "unknown variant `deep`, expected one of accelerator, native, kernel",
            "there is no pass `nothing` to extend",
            "missing field `schema`",
        ]
    );
    let missing = Sources { files: vec![PathBuf::from("/nowhere/x.yaml")], ..Sources::default() };
    assert!(errors(&missing)[0].starts_with("can't be read: "), "{:?}", errors(&missing));
}

#[test]
fn two_passes_that_extend_each_other_are_an_error() {
    let pass = |id: &str, other: &str| format!("schema: gpuport/pass/1\nid: {id}\nextends: {other}\n");
    let data = data(&[("transforms/a.yaml", &pass("a", "b")), ("transforms/b.yaml", &pass("b", "a"))]);
    assert_eq!(errors(&sources(&data)), ["there is no pass `a` to extend", "there is no pass `b` to extend"]);
}

#[test]
fn guards_and_lists_are_found() {
    let guards = "schema: gpuport/guards/1\nguards:\n  - {id: torch, summary: Uses torch, effect: refuse, reason: GP204, message: m, any: [{imports: [torch]}]}\n";
    let list = "schema: gpuport/names/1\nid: some\nsummary: s\nnames: [f, h]\n";
    let text = HEADER.to_owned()
        + "guards: [torch]\nrules:\n  - {id: r, match: numpy.$F, where: {F: {one_of: {names: some}}}, rewrite: cupy.$F}\n";
    let data = folder(&[
        ("patterns/reasons.yaml", "- code: GP204\n"),
        ("patterns/guards.yaml", guards),
        ("patterns/some.yaml", list),
        ("transforms/test.yaml", &text),
    ]);
    let registry = Registry::load(&sources(&data)).unwrap();
    let pass = registry.pass("test").unwrap();
    assert_eq!(pass.guards[0].id, "torch");
    let program = "import numpy as np\nx = [np.f, np.g, np.h]\n";
    assert_eq!(apply(&pass, program), "import numpy as np\nimport cupy as cp\nx = [cp.f, np.g, cp.h]\n");
}

#[test]
fn a_manual_page_says_what_a_pass_does() {
    let text = base()
        + "examples:\n  - {title: One, before: \"import numpy\\nnumpy.f(1)\\n\", after: \"import cupy as cp\\ncp.f(1)\\n\"}\n";
    let data = data(&[("transforms/base.yaml", &text)]);
    let registry = Registry::load(&sources(&data)).unwrap();
    let page = manual(&registry.pass("base").unwrap());
    for expected in [
        "# base\n",
        "- Moves: numpy → cupy\n",
        "- Needs: an NVIDIA GPU\n",
        "### f\n\nRewrites.\n\n```text\nnumpy.f($X) → cupy.f($X)\n```\n",
        "### One\n\n```python\nimport numpy\nnumpy.f(1)\n```\n\nbecomes\n\n```python\nimport cupy as cp\ncp.f(1)\n```\n",
    ] {
        assert!(page.contains(expected), "{expected:?} is not in\n{page}");
    }
    assert_eq!(list(&registry)[0].summary, "Test");
}

#[test]
fn the_schema_describes_every_key() {
    let schema = json_schema();
    let properties = schema["properties"].as_object().unwrap();
    assert_eq!(schema["additionalProperties"], false);
    for (key, property) in properties {
        assert!(property.get("description").is_some(), "`{key}` has no description");
    }
    let rule = &schema["$defs"]["RuleEntry"];
    assert!(rule["properties"]["match"]["description"].as_str().unwrap().contains("metavariables"));
    assert!(Path::new("transforms").is_dir());
}
