//! Runs `golden-tests/<pass>/<scenario>.md`. Waits for the registry of passes.

fn main() {}
