//! Copies of projects of every kind.

use super::*;
use std::os::unix::fs::{PermissionsExt as _, symlink};

struct Project {
    work: WorkFolder,
    folder: tempfile::TempDir,
}

impl Project {
    fn new(files: &[(&str, &str)]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let project = Self { work: WorkFolder::new(&folder.path().join("work")).unwrap(), folder };
        for (path, text) in files {
            let path = project.root().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        project
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn copy(&self, overlay: &[(&str, &str)]) -> Result<Sandbox, JudgeError> {
        let overlay =
            overlay.iter().map(|(path, text)| (PathBuf::from(path), text.as_bytes().to_vec())).collect();
        Sandbox::create(
            &Tree { root: self.root(), overlay },
            &self.work,
            &CopyRules::default(),
            &AtomicBool::new(false),
        )
    }
}

fn files(root: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut open = vec![root.to_owned()];
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                open.push(path);
            } else {
                found.push(path.strip_prefix(root).unwrap().to_str().unwrap().to_owned());
            }
        }
    }
    found.sort();
    found
}

#[test]
fn environments_caches_and_version_control_stay_behind() {
    let project = Project::new(&[
        ("main.py", ""),
        ("data/ignored.bin", "x"),
        (".git/HEAD", ""),
        (".gpuport/run", ""),
        ("pkg/__pycache__/a.pyc", ""),
        ("pkg/a.py", ""),
        ("env/pyvenv.cfg", ""),
        ("env/lib/x.py", ""),
        ("target/CACHEDIR.TAG", ""),
        ("node_modules/x.js", ""),
    ]);
    let sandbox = project.copy(&[]).unwrap();
    assert_eq!(files(&sandbox.project()), ["data/ignored.bin", "main.py", "pkg/a.py"]);
}

#[test]
fn patterns_leave_out_and_take_along() {
    let project = Project::new(&[
        ("main.py", ""),
        ("raw/huge.bin", ""),
        ("raw/small.csv", ""),
        ("notes.txt", ""),
        ("node_modules/used.json", ""),
    ]);
    let tree = Tree { root: project.root(), overlay: BTreeMap::new() };
    let copy = |exclude: &[&str]| {
        let exclude = exclude.iter().map(|pattern| (*pattern).to_owned()).collect();
        Sandbox::create(
            &tree,
            &project.work,
            &CopyRules { exclude, ..CopyRules::default() },
            &AtomicBool::new(false),
        )
    };
    let sandbox = copy(&["*.bin", "/notes.txt", "!node_modules"]).unwrap();
    assert_eq!(files(&sandbox.project()), ["main.py", "node_modules/used.json", "raw/small.csv"]);
    assert!(matches!(copy(&["a{b"]), Err(JudgeError::Pattern { .. })));
}

#[test]
fn the_copy_keeps_times_and_rights_and_takes_replacements() {
    let project = Project::new(&[("run.sh", "old"), ("main.py", "x = 1")]);
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(project.root().join("run.sh"), mode).unwrap();
    let sandbox = project.copy(&[("run.sh", "new"), ("new/module.py", "y")]).unwrap();
    let copied = sandbox.project();
    assert_eq!(fs::read_to_string(copied.join("run.sh")).unwrap(), "new");
    assert_eq!(fs::metadata(copied.join("run.sh")).unwrap().permissions().mode() & 0o777, 0o755);
    assert_eq!(fs::read_to_string(copied.join("new/module.py")).unwrap(), "y");
    let modified = |path: PathBuf| fs::metadata(path).unwrap().modified().unwrap();
    assert_eq!(modified(copied.join("main.py")), modified(project.root().join("main.py")));
    assert_eq!(fs::read_to_string(project.root().join("run.sh")).unwrap(), "old");
}

#[test]
fn replacements_outside_the_project_are_refused() {
    let check = |path: &str| {
        let project = Project::new(&[("main.py", "")]);
        assert!(matches!(project.copy(&[(path, "x")]), Err(JudgeError::Outside { .. })), "{path}");
    };
    check("../main.py");
    check("/tmp/x");
    check("");
}

#[test]
fn links_never_lead_out_of_the_copy() {
    let project = Project::new(&[("data/a.txt", "a"), ("pkg/main.py", ""), ("../outside/b.txt", "b")]);
    let root = project.root();
    symlink("../data/a.txt", root.join("pkg/inside")).unwrap();
    symlink(root.join("data"), root.join("absolute")).unwrap();
    symlink(project.folder.path().join("outside"), root.join("folder")).unwrap();
    symlink("../outside/b.txt", root.join("file")).unwrap();
    symlink("/nowhere/at/all", root.join("dangling")).unwrap();
    symlink("..", root.join("parent")).unwrap();
    symlink(".", root.join("self")).unwrap();
    let sandbox = project.copy(&[]).unwrap();
    let copied = sandbox.project();
    let found = ["absolute", "data/a.txt", "file", "folder/b.txt", "pkg/inside", "pkg/main.py", "self"];
    assert_eq!(files(&copied), found);
    assert_eq!(fs::read_link(copied.join("pkg/inside")).unwrap(), Path::new("../data/a.txt"));
    assert_eq!(fs::read_link(copied.join("absolute")).unwrap(), Path::new("data"));
    assert_eq!(fs::read_link(copied.join("self")).unwrap(), Path::new("."));
    assert!(!copied.join("file").is_symlink() && !copied.join("folder").is_symlink());
}

#[test]
fn too_much_is_refused_with_the_largest_files() {
    let project = Project::new(&[("small", "x"), ("large", "xxxxxxxxxxxxxxxxxxxxxx")]);
    let tree = Tree { root: project.root(), overlay: BTreeMap::new() };
    let rules = CopyRules { max_bytes: 10, ..CopyRules::default() };
    let error = Sandbox::create(&tree, &project.work, &rules, &AtomicBool::new(false)).unwrap_err();
    assert!(error.to_string().contains("exclude") && error.to_string().contains("large"), "{error}");
    let rules = CopyRules { max_files: 1, ..CopyRules::default() };
    assert!(matches!(
        Sandbox::create(&tree, &project.work, &rules, &AtomicBool::new(false)),
        Err(JudgeError::TooLarge { .. })
    ));
}

#[test]
fn an_interrupt_ends_copying() {
    let project = Project::new(&[("main.py", ""), ("other.py", "")]);
    let tree = Tree { root: project.root(), overlay: BTreeMap::new() };
    let result = Sandbox::create(&tree, &project.work, &CopyRules::default(), &AtomicBool::new(true));
    assert!(matches!(result, Err(JudgeError::Interrupted)));
}

#[test]
fn what_a_run_did_is_found_whatever_times_it_sets() {
    let project =
        Project::new(&[("same", "1"), ("changed", "1"), ("hidden", "1"), ("gone", "1"), ("link", "1")]);
    let sandbox = project.copy(&[]).unwrap();
    let copied = sandbox.project();
    assert_eq!(sandbox.written().unwrap(), Written::default());
    let modified = fs::metadata(copied.join("hidden")).unwrap().modified().unwrap();
    fs::write(copied.join("changed"), "2").unwrap();
    fs::write(copied.join("hidden"), "2").unwrap();
    fs::File::options().append(true).open(copied.join("hidden")).unwrap().set_modified(modified).unwrap();
    fs::remove_file(copied.join("gone")).unwrap();
    fs::remove_file(copied.join("link")).unwrap();
    symlink("/etc/passwd", copied.join("link")).unwrap();
    fs::create_dir_all(copied.join("out/__pycache__")).unwrap();
    fs::write(copied.join("out/new"), "").unwrap();
    fs::write(copied.join("out/__pycache__/x.pyc"), "").unwrap();
    symlink(project.root(), copied.join("out/tree")).unwrap();
    let written = sandbox.written().unwrap();
    assert_eq!(written.files, ["changed", "hidden", "out/new"].map(PathBuf::from));
    assert_eq!(written.removed, [PathBuf::from("gone")]);
    assert_eq!(written.special, ["link", "out/tree"].map(PathBuf::from));
}

#[test]
fn a_run_set_aside_leaves_its_place_to_the_next() {
    let project = Project::new(&[("main.py", "")]);
    let first = project.copy(&[]).unwrap();
    let place = first.project();
    fs::create_dir(place.join("locked")).unwrap();
    fs::write(place.join("locked/file"), "").unwrap();
    fs::set_permissions(place.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
    let first = first.set_aside(&project.work, "first").unwrap();
    assert_ne!(first.project(), place);
    let second = project.copy(&[]).unwrap();
    assert_eq!(second.project(), place);
    assert!(first.project().join("main.py").exists());
    first.remove().unwrap();
    second.remove().unwrap();
}
