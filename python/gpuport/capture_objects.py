"""Values of libraries and of the project's own classes for the capture."""

from __future__ import annotations

import os
import sys

from . import capture_arrays, capture_frames, capture_models
from .nodes import class_name, composite, is_symbol, part

# Standard classes whose attributes are what they hold.
RECORDS = {("types", "SimpleNamespace"), ("argparse", "Namespace")}


def library_value(capture, value: object, path: str, depth: int) -> dict:
    """The node of a value that is no plain scalar or container."""
    if is_symbol(value):
        return {"type": "symbol", "class": class_name(type(value))}
    for attempt in (numeric, frame_or_model, plain_class, subclass, own_class):
        node = attempt(capture, value, path, depth)
        if node is not None:
            return node
    return capture.opaque(value, path, "its type is unknown")


def families(value: object) -> set[str]:
    """The top-level packages that the value's classes come from."""
    return {cls.__module__.partition(".")[0] for cls in type(value).__mro__ if isinstance(cls.__module__, str)}


def numeric(capture, value: object, path: str, depth: int) -> dict | None:
    """Arrays of NumPy and of the libraries that keep theirs on a device; sparse matrices."""
    numpy = sys.modules.get("numpy")
    if numpy is None:
        return None
    if isinstance(value, (numpy.ndarray, numpy.generic)):
        return capture_arrays.numpy_value(capture, value, path, depth)
    found = families(value)
    if hasattr(value, "format") and hasattr(value, "tocoo"):
        if "scipy" in found:
            return capture_arrays.sparse(capture, value, path, depth, None)
        if "cupyx" in found:
            return capture_arrays.sparse(capture, value.get(), path, depth, "cupy")
    host = on_host(value, found)
    if host is None:
        return None
    array, library, cls = host
    node = capture_arrays.numpy_value(capture, numpy.asarray(array), path, depth, library)
    if cls is not None and node["type"] == "array":
        node["class"] = cls
    return node


def on_host(value: object, found: set[str]):
    """A device library's array as a NumPy array, the library, and its class where that is no drop-in for NumPy's."""
    if "cupy" in found and hasattr(value, "__cuda_array_interface__"):
        return sys.modules["cupy"].asnumpy(value), "cupy", None
    if "torch" in found and hasattr(value, "detach"):
        tensor = value.detach()
        tensor = tensor.float() if str(tensor.dtype) == "torch.bfloat16" else tensor
        device = "torch" if tensor.device.type != "cpu" else None
        return tensor.cpu().resolve_conj().resolve_neg().numpy(), device, "torch.Tensor"
    if found & {"jax", "jaxlib"} and hasattr(value, "dtype"):
        return value, None, "jax.Array"
    if "tensorflow" in found and hasattr(value, "numpy") and hasattr(value, "dtype"):
        return value.numpy(), None, "tensorflow.Tensor"
    if found & {"numba", "numba_cuda"} and hasattr(value, "copy_to_host"):
        return value.copy_to_host(), "numba", None
    if "warp" in found and hasattr(value, "numpy"):
        return value.numpy(), None, "warp.array"
    if found & {"pylibraft", "cuml"} and hasattr(value, "to_output"):
        return value.to_output("numpy"), "cuml", None
    if "pylibraft" in found and hasattr(value, "copy_to_host"):
        return value.copy_to_host(), "pylibraft", None
    return None


def frame_or_model(capture, value: object, path: str, depth: int) -> dict | None:
    """Frames, estimators and graphs."""
    found = families(value)
    if found & {"pandas", "cudf"}:
        return capture_frames.frame_value(capture, value, path, depth)
    if found & {"sklearn", "cuml", "umap", "hdbscan"}:
        return capture_models.model(capture, value, path, depth)
    if found & {"networkx", "nx_cugraph"} and hasattr(value, "is_multigraph"):
        return capture_models.graph(capture, value, path, depth)
    return None


def plain_class(capture, value: object, path: str, depth: int) -> dict | None:
    """Standard types whose text is their value, and the record types of the standard library."""
    cls = type(value)
    if cls.__module__ in ("decimal", "fractions", "datetime", "zoneinfo", "uuid", "ipaddress"):
        return {"type": "value", "class": class_name(cls), "text": repr(value)}
    if isinstance(value, os.PathLike):
        return {"type": "value", "class": class_name(cls), "text": os.fsdecode(os.fspath(value))}
    if cls in (range, slice, type(Ellipsis), type(NotImplemented)):
        return {"type": "value", "class": cls.__name__, "text": repr(value)}
    pattern = getattr(sys.modules.get("re"), "Pattern", ())
    numpy_dtype = getattr(sys.modules.get("numpy"), "dtype", ())
    if isinstance(value, (pattern, numpy_dtype)):
        return {
            "type": "value",
            "class": "numpy.dtype" if isinstance(value, numpy_dtype) else "re.Pattern",
            "text": str(value),
        }
    if isinstance(value, BaseException):
        return {"type": "value", "class": class_name(cls), "text": ""}
    enum = sys.modules.get("enum")
    if enum is not None and isinstance(value, enum.Enum):
        return {"type": "value", "class": class_name(cls), "text": str(value.name)}
    array = sys.modules.get("array")
    if array is not None and isinstance(value, array.array) and value.typecode not in "uw":
        node = capture_arrays.packed(capture, value.tolist())
        node = node or capture.value(value.tolist(), path, depth + 1)
        return composite("array.array", {"typecode": value.typecode}, [part("", node)])
    if isinstance(value, memoryview):
        return capture.value(value.tobytes(), path, depth + 1)
    return None


def subclass(capture, value: object, path: str, depth: int) -> dict | None:
    """Instances of classes made from Python's scalars."""
    for base in (bool, int, float, complex, str, bytes):
        if isinstance(value, base):
            node = capture.value(base(value), path, depth + 1)
            return composite(class_name(type(value)), {}, [part("", node)])
    return None


def own_class(capture, value: object, path: str, depth: int) -> dict | None:
    """Records of any origin, and instances of classes that the project itself defines, by their attributes."""
    cls = type(value)
    record = hasattr(cls, "__dataclass_fields__") or hasattr(cls, "__attrs_attrs__")
    record = record or (cls.__module__, cls.__name__) in RECORDS
    if not record and not defined_in_project(cls, capture.root):
        return None
    fields = attributes(value)
    if fields is None:
        return None
    parts = [
        part(f".{name}", capture.value(item, f"{path}.{name}", depth + 1), optional=name.startswith("_"))
        for name, item in fields.items()
    ]
    return composite(class_name(cls), {}, parts)


def defined_in_project(cls: type, root: str) -> bool:
    """Whether a class's module is the program itself or a file of the project."""
    if cls.__module__ == "__main__":
        return True
    file = getattr(sys.modules.get(cls.__module__), "__file__", None)
    return isinstance(file, str) and os.path.realpath(file).startswith(root + os.sep)


def attributes(value: object) -> dict[str, object] | None:
    """An instance's attributes, read without running code of its class where that can be helped."""
    fields: dict[str, object] = {}
    for cls in reversed(type(value).__mro__):
        slots = cls.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else tuple(slots):
            if name not in ("__dict__", "__weakref__"):
                try:
                    fields[name] = object.__getattribute__(value, name)
                except AttributeError:
                    pass
    try:
        own = object.__getattribute__(value, "__dict__")
    except AttributeError:
        return fields or None
    fields.update((name, item) for name, item in list(own.items()) if isinstance(name, str))
    return fields
