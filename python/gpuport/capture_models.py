"""Fitted models and graphs for the capture."""

from __future__ import annotations

from .nodes import composite, in_order, part

# Parameters that name the ambient machinery, not the model.
AMBIENT = {"n_jobs", "verbose", "memory", "random_state", "callbacks", "handle", "output_type"}


def model(capture, value: object, path: str, depth: int) -> dict | None:
    """An estimator: its parameters and its fitted public attributes, which end with an underscore.

    An accelerator's stand-in has the class name and the attributes of what it stands for.
    """
    if type(value).__name__ == "Tree" and hasattr(value, "__getstate__"):
        return tree(capture, value, path, depth)
    if isinstance(value, dict):  # sklearn.utils.Bunch and its like
        return None
    if not callable(getattr(value, "get_params", None)) or not hasattr(type(value), "__mro__"):
        return None
    parts = []
    for name, item in sorted(value.get_params(deep=False).items()):
        if name not in AMBIENT and not callable(item):
            parts.append(part(f".{name}", capture.value(item, f"{path}.{name}", depth + 1), optional=True))
    for name in fitted_names(value):
        try:
            item = getattr(value, name)
        except Exception:  # an attribute that this fit doesn't have
            continue
        if not callable(item) or hasattr(item, "get_params"):
            parts.append(part(f".{name}", capture.value(item, f"{path}.{name}", depth + 1)))
    return composite(type(value).__qualname__, {}, parts)


def fitted_names(value: object) -> list[str]:
    """Public attributes that fitting sets, by scikit-learn's convention."""
    names = set(dir(value)) | set(dir(getattr(value, "_cpu", None)))
    return sorted(name for name in names if name.endswith("_") and not name.startswith("_") and name[:-1])


def tree(capture, value, path: str, depth: int) -> dict:
    """A decision tree's nodes and values."""
    state = value.__getstate__()
    parts = [part(f".{name}", capture.value(item, f"{path}.{name}", depth + 1)) for name, item in sorted(state.items())]
    return composite("Tree", {}, parts)


def graph(capture, value, path: str, depth: int) -> dict:
    """A graph: nodes and edges in an order that depends on them alone, and their attributes by name."""
    nodes = in_order(list(value.nodes))
    position = {node: number for number, node in enumerate(nodes)}
    directed, multi = value.is_directed(), value.is_multigraph()
    edges = []
    for edge in value.edges(keys=True, data=True) if multi else value.edges(data=True):
        first, second, key, data = edge if multi else (edge[0], edge[1], 0, edge[2])
        u, v = position[first], position[second]
        if not directed and u > v:
            u, v = v, u
        edges.append((u, v, repr(key), data))
    edges.sort(key=lambda edge: edge[:3])
    parts = [
        part(".nodes", capture.value(nodes, f"{path}.nodes", depth + 1)),
        part(".graph", capture.value(dict(value.graph), f"{path}.graph", depth + 1)),
        part(".edges.from", capture.value([edge[0] for edge in edges], f"{path}.edges.from", depth + 1)),
        part(".edges.to", capture.value([edge[1] for edge in edges], f"{path}.edges.to", depth + 1)),
    ]
    if multi:
        parts.append(part(".edges.key", capture.value([e[2] for e in edges], f"{path}.edges.key", depth + 1)))
    parts += by_name(capture, [value.nodes[node] for node in nodes], ".nodes", path, depth)
    parts += by_name(capture, [edge[3] for edge in edges], ".edges", path, depth)
    return composite("networkx graph", {"directed": directed, "multigraph": multi}, parts)


def by_name(capture, records: list, at: str, path: str, depth: int) -> list[dict]:
    """Attributes of nodes or edges: one sequence for each name; what a node doesn't have is `None` there."""
    names = sorted({name for record in records for name in record}, key=str)
    parts = []
    for name in names:
        values = [record.get(name) for record in records]
        label = f"{at}[{name!r}]"
        parts.append(part(label, capture.value(values, f"{path}{label}", depth + 1)))
    return parts
