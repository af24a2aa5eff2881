"""The pieces that a capture's tree is made of."""

from __future__ import annotations

import types

from .outcome import clean

# A text longer than this goes into a file of its own.
INLINE_TEXT = 4096
# Arrays of up to this many bytes are kept in the manifest: a file each would cost more than they hold.
INLINE_BYTES = 1024


class TooMuch(Exception):
    """A value that is beyond a limit of capturing."""


def class_name(cls: type) -> str:
    """A class's name with its module, `builtins` aside."""
    module = getattr(cls, "__module__", None)
    name = getattr(cls, "__qualname__", cls.__name__)
    return clean(name if module in ("builtins", None) else f"{module}.{name}")


def part(at: str, value: dict, optional: bool = False) -> dict:
    """A named part of a composite; `at` is appended to the composite's path."""
    node = {"at": at, "value": value}
    if optional:
        node["optional"] = True
    return node


def composite(cls: str, facts: dict[str, object], parts: list[dict], device: str | None = None) -> dict:
    """A value made of parts; `facts` must be equal as text."""
    node = {
        "type": "composite",
        "class": cls,
        "facts": {key: clean(str(fact)) for key, fact in facts.items()},
        "parts": parts,
    }
    if device is not None:
        node["device"] = device
    return node


def is_symbol(value: object) -> bool:
    """Modules, functions and classes: what a program is made of, not what it computed."""
    kinds = (
        type,
        types.ModuleType,
        types.FunctionType,
        types.BuiltinFunctionType,
        types.MethodType,
        types.MethodWrapperType,
        types.MethodDescriptorType,
        types.WrapperDescriptorType,
    )
    if isinstance(value, kinds) or type(value).__module__ == "__future__":
        return True
    return type(value).__module__.partition(".")[0] in ("numpy", "cupy", "cupyx", "numba", "typing") and (
        type(value).__name__ in ("ufunc", "_ArrayFunctionDispatcher", "vectorize", "CPUDispatcher", "ElementwiseKernel")
        or type(value).__name__.endswith(("Kernel", "Dispatcher", "TypeVar", "Alias"))
    )


def in_order(values) -> list:
    """A set's elements in an order that depends on the elements alone."""
    try:
        return sorted(values)
    except Exception:
        return sorted(values, key=lambda item: (class_name(type(item)), repr(item)))
