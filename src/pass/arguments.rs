//! The arguments of a rest as the target's signature wants them: what moved is given by name, what has another
//! default is made explicit, what the target lacks is a reason not to match.

use ruff_python_ast::{Expr, ExprCall, Keyword};
use ruff_text_size::{Ranged, TextRange};

use crate::api::{Callable, Parameter, ParameterKind};
use crate::pattern::{Refused, RestArgument};
use crate::reasons::Code;

/// The target has no counterpart of what is called.
pub(super) const NO_COUNTERPART: Code = Code::new("GP201");
/// The target has it, but not with these arguments.
pub(super) const ARGUMENT_UNSUPPORTED: Code = Code::new("GP202");

/// A rest that is to be arguments of another callable.
pub(super) struct Rest<'r, 'a> {
    /// The call it is from.
    pub(super) call: &'a ExprCall,
    /// Its positional arguments.
    pub(super) positional: &'r [&'a Expr],
    /// Its keyword arguments.
    pub(super) keywords: &'r [&'a Keyword],
}

/// The rest as arguments of `callable`'s target. `path` names the source callable for people.
pub(super) fn for_target(
    rest: &Rest<'_, '_>,
    callable: &Callable,
    path: &str,
) -> Result<Vec<RestArgument>, Refused> {
    let unsupported = |what: String| Refused {
        code: Some(ARGUMENT_UNSUPPORTED),
        message: format!("`{}` takes no {what} as `{path}` does", callable.target),
    };
    let hides_names = rest.keywords.iter().any(|it| it.arg.is_none());
    let unpacks = hides_names || rest.positional.iter().any(|it| it.is_starred_expr());
    if unpacks && differs(callable, hides_names) {
        return Err(unsupported("unpacked arguments".to_owned()));
    }
    let all_there = rest.positional.len() == rest.call.arguments.args.len();
    let mut rendered: Vec<(TextRange, RestArgument)> = Vec::new();
    for argument in rest.positional {
        let position =
            rest.call.arguments.args.iter().position(|it| std::ptr::eq(it, *argument)).unwrap_or(0);
        let given = positional(callable, position, all_there).map_err(|what| {
            unsupported(what.unwrap_or_else(|| format!("argument at position {}", position + 1)))
        })?;
        let before = given.map_or_else(String::new, |name| format!("{name}="));
        rendered.push((argument.range(), RestArgument::Kept { before, range: argument.range() }));
    }
    for keyword in rest.keywords {
        if let Some(name) = &keyword.arg
            && !takes_name(callable, name)
        {
            return Err(unsupported(format!("`{name}`")));
        }
        rendered.push((keyword.range, RestArgument::Kept { before: String::new(), range: keyword.range }));
    }
    rendered.sort_by_key(|(range, _)| range.start());
    let mut arguments: Vec<RestArgument> = rendered.into_iter().map(|(_, argument)| argument).collect();
    put_names_last(&mut arguments);
    if !unpacks {
        arguments.extend(changed_defaults(callable, rest.call));
    }
    Ok(arguments)
}

/// True where arguments that `*` or `**` hide may mean something else to the target.
fn differs(callable: &Callable, hides_names: bool) -> bool {
    if callable.ufunc {
        return false;
    }
    let placed = |all: &[Parameter]| -> Vec<Parameter> {
        all.iter().take_while(|it| it.takes_position() || it.kind == ParameterKind::Rest).cloned().collect()
    };
    let (here, there) = (placed(&callable.source_parameters), placed(&callable.target_parameters));
    let moved = here.len() > there.len()
        || here.iter().zip(&there).any(|(h, t)| {
            (h.kind == ParameterKind::Rest) != (t.kind == ParameterKind::Rest)
                || (h.name != t.name && !renamed(callable, h, t) && h.kind != ParameterKind::Rest)
                || default_changed(h, t)
        });
    let lost = |it: &&Parameter| it.takes_name() && !takes_name(callable, &it.name);
    let lacks = hides_names && callable.source_parameters.iter().any(|it| lost(&it));
    let defaults = callable.source_parameters.iter().any(|source| {
        let target = callable.target_parameters.iter().find(|it| it.name == source.name);
        target.is_some_and(|target| default_changed(source, target))
    });
    moved || lacks || defaults
}

/// Given by position, does the argument stay so, or what name must it have? The error says what the target lacks.
fn positional(callable: &Callable, position: usize, all_there: bool) -> Result<Option<&str>, Option<String>> {
    let source = callable.source_parameters.get(position);
    let target = callable.target_parameters.get(position);
    let has_rest = |all: &[Parameter]| all.iter().any(|it| it.kind == ParameterKind::Rest);
    if has_rest(&callable.source_parameters) && source.is_none_or(|it| !it.takes_position()) {
        return if has_rest(&callable.target_parameters) { Ok(None) } else { Err(None) };
    }
    let Some(source) = source else { return Err(None) };
    let same_place = target.is_some_and(|target| {
        target.takes_position() && (target.name == source.name || renamed(callable, source, target))
    });
    if same_place && all_there {
        return Ok(None);
    }
    let by_name = callable.target_parameters.iter().find(|it| it.name == source.name && it.takes_name());
    match by_name {
        Some(parameter) => Ok(Some(parameter.name.as_str())),
        None if same_place => Ok(None),
        None => Err(Some(format!("`{}`", source.name))),
    }
}

/// True where the two libraries only call one parameter differently.
fn renamed(callable: &Callable, source: &Parameter, target: &Parameter) -> bool {
    !callable.target_parameters.iter().any(|it| it.name == source.name)
        && !callable.source_parameters.iter().any(|it| it.name == target.name)
}

fn takes_name(callable: &Callable, name: &str) -> bool {
    callable
        .target_parameters
        .iter()
        .any(|it| it.kind == ParameterKind::KeywordRest || (it.takes_name() && it.name == name))
}

/// Arguments by name come after those by position.
fn put_names_last(arguments: &mut [RestArgument]) {
    let named =
        |argument: &RestArgument| matches!(argument, RestArgument::Kept { before, .. } if !before.is_empty());
    if arguments.iter().any(named) {
        arguments.sort_by_key(named);
    }
}

/// The source's defaults that the target doesn't share, for parameters that the call leaves out.
fn changed_defaults(callable: &Callable, call: &ExprCall) -> Vec<RestArgument> {
    let given = |name: &str, position: usize| {
        position < call.arguments.args.len()
            || call.arguments.keywords.iter().any(|it| it.arg.as_ref().is_some_and(|it| it.as_str() == name))
    };
    let mut explicit = Vec::new();
    for (position, source) in callable.source_parameters.iter().enumerate() {
        let target = callable.target_parameters.iter().find(|it| it.name == source.name && it.takes_name());
        if let (Some(target), Some(default)) = (target, &source.default)
            && default_changed(source, target)
            && !given(&source.name, position)
        {
            explicit.push(RestArgument::Text(format!("{}={default}", source.name)));
        }
    }
    explicit
}

fn default_changed(source: &Parameter, target: &Parameter) -> bool {
    match (source.default.as_deref(), target.default.as_deref()) {
        (Some(here), Some(there)) => here != there && here != "..." && there != "...",
        // What the target must be given.
        (Some(here), None) => here != "...",
        _ => false,
    }
}
