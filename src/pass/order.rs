//! The order in which pass files are loaded: what another extends, or switches on before itself, comes first.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

/// The keys of a pass file that name other passes. Everything else is ignored here; errors are for the loader.
#[derive(Default, Deserialize)]
struct Head {
    #[serde(default)]
    id: Option<String>,
    #[serde(default)]
    extends: Option<String>,
    #[serde(default)]
    rules: Vec<RuleHead>,
}

#[derive(Deserialize)]
struct RuleHead {
    #[serde(default)]
    activate: Option<ActivateHead>,
}

#[derive(Deserialize)]
struct ActivateHead {
    #[serde(default)]
    after: Vec<String>,
}

/// Sorts `texts` so that each comes after those it names. Of two with one id, the later stays. Otherwise the order is
/// kept.
pub(super) fn sort_by_dependency<T>(
    texts: &mut Vec<T>,
    parts: impl Fn(&T) -> (&String, &std::path::PathBuf),
) {
    let heads: Vec<Head> =
        texts.iter().map(|text| serde_saphyr::from_str(parts(text).0).unwrap_or_default()).collect();
    let mut last: BTreeMap<String, usize> = BTreeMap::new();
    for (i, head) in heads.iter().enumerate() {
        last.insert(name(head, parts(&texts[i]).1), i);
    }
    let mut order = Vec::new();
    for i in 0..texts.len() {
        if last.get(&name(&heads[i], parts(&texts[i]).1)) == Some(&i) {
            place(i, &heads, &last, &mut order, &mut Vec::new());
        }
    }
    let mut taken: Vec<Option<T>> = std::mem::take(texts).into_iter().map(Some).collect();
    texts.extend(order.into_iter().filter_map(|i| taken[i].take()));
}

fn name(head: &Head, path: &Path) -> String {
    head.id.clone().unwrap_or_else(|| path.display().to_string())
}

fn place(
    i: usize,
    heads: &[Head],
    last: &BTreeMap<String, usize>,
    order: &mut Vec<usize>,
    open: &mut Vec<usize>,
) {
    if order.contains(&i) || open.contains(&i) {
        return;
    }
    open.push(i);
    let after = heads[i].rules.iter().filter_map(|rule| rule.activate.as_ref()).flat_map(|it| &it.after);
    for named in heads[i].extends.iter().chain(after) {
        if let Some(&before) = last.get(named) {
            place(before, heads, last, order, open);
        }
    }
    open.pop();
    order.push(i);
}
