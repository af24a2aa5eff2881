//! The passes in the binary.

use crate::pass::Registry;

#[test]
fn the_embedded_files_load() {
    let registry = Registry::load(&crate::pass::Sources::default()).unwrap_or_else(|errors| {
        panic!("{}", errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n\n"))
    });
    assert!(registry.pass("numpy-modern").is_some());
    assert!(registry.passes().all(|pass| pass.origin.file_stem().is_some_and(|stem| *stem == *pass.id)));
}
