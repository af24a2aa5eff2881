"""A stand-in for CuPy on the CPU, as strict as CuPy is and stricter where that shows mistakes.

Put its folder first on `PYTHONPATH` to run a ported program without a GPU. Arrays are NumPy's inside, but no host code
gets at them: implicit conversion, arithmetic with NumPy arrays or lists, device scalars as indices, printing of device
arrays and functions or keywords that CuPy lacks are errors. What CuPy does silently it does too: single elements are
views, index arrays wrap around, singular matrices give NaN. Signatures come from patterns/numpy-on-cupy.yaml.

`FAKE_CUPY_REPORT=1` prints the number of transfers to stderr at exit.
"""

from __future__ import annotations

import atexit
import builtins as _python
import inspect
import os
import re
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as _np

TABLE = Path(__file__).resolve().parents[2] / "patterns" / "numpy-on-cupy.yaml"
# The names below this module's functions take from Python: `sum`, `any`, `abs` and others mean CuPy's here.
SCALARS = (bool, int, float, complex, _np.generic)
CODES = "?bhilqBHILQefdFD"

transfers = {"to-device": 0, "to-host": 0}


class ndarray:  # noqa: N801 - CuPy's own name
    """An array that host code can't look into."""

    __array_priority__ = 100
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, array: Any) -> None:
        array = _np.asanyarray(array)
        if array.dtype.char not in CODES:
            raise ValueError(f"Unsupported dtype {array.dtype}")
        self._array = array

    def get(self) -> Any:
        transfers["to-host"] += 1
        return self._array.copy()

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if method != "__call__" or kwargs.get("out"):
            raise TypeError(f"{ufunc.__name__}.{method} on device arrays")
        return _wrap(ufunc(*[_operand(x) for x in inputs]))

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        raise TypeError(f"numpy.{func.__name__} is given a device array")

    def __index__(self) -> int:
        raise TypeError("device arrays are no indices")

    def __float__(self) -> float:
        return float(self._only())

    def __int__(self) -> int:
        return int(self._only())

    def __complex__(self) -> complex:
        return complex(self._only())

    def __bool__(self) -> bool:
        return bool(self._array)

    def _only(self) -> Any:
        if self._array.size != 1:
            raise TypeError("only size-1 arrays can be converted to scalars")
        return self._array.reshape(())[()]

    def __len__(self) -> int:
        return len(self._array)

    def __iter__(self) -> Any:
        if self._array.ndim == 0:
            raise TypeError("iteration over a 0-d array")
        return (self[i] for i in range(len(self._array)))

    def __str__(self) -> str:
        raise AssertionError("a device array is made text")

    __repr__ = __str__

    def __format__(self, spec: str) -> str:
        raise AssertionError("a device array is made text")

    def __getitem__(self, index: Any) -> Any:
        index = _index(index, self._array.shape)
        whole = index if isinstance(index, tuple) else (index,)
        if not _python.any(part is Ellipsis for part in whole if not isinstance(part, _np.ndarray)):
            whole = (*whole, Ellipsis)
        return ndarray(self._array[whole])

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(value, (_np.ndarray, list, tuple)):
            raise ValueError("non-scalar numpy.ndarray cannot be used for fill")
        self._array[_index(index, self._array.shape)] = _operand(value)

    @property
    def shape(self) -> Any:
        return self._array.shape

    @shape.setter
    def shape(self, value: Any) -> None:
        self._array.shape = value

    @property
    def T(self) -> Any:  # noqa: N802 - CuPy's own name
        return ndarray(self._array.T)

    @property
    def real(self) -> Any:
        return ndarray(self._array.real)

    @property
    def imag(self) -> Any:
        return ndarray(self._array.imag)

    def tolist(self) -> Any:
        transfers["to-host"] += 1
        return self._array.tolist()

    def item(self) -> Any:
        transfers["to-host"] += 1
        return self._array.item()

    def copy(self, order: str = "C") -> Any:
        return ndarray(self._array.copy(order))

    def fill(self, value: Any) -> None:
        self._array.fill(_operand(value))

    def sort(self, axis: int = -1, kind: Any = None) -> None:
        _kind(kind)
        self._array.sort(axis=axis, kind="stable")

    def get_inner(self) -> Any:
        return self._array


for _name in ("ndim", "size", "dtype", "itemsize", "nbytes", "strides"):
    setattr(ndarray, _name, property(lambda self, _name=_name: getattr(self._array, _name)))


def _operand(value: Any) -> Any:
    """The host value of an operand that CuPy takes."""
    if isinstance(value, ndarray):
        return value._array
    if isinstance(value, SCALARS):
        return value
    raise TypeError(f"Unsupported type {type(value)}")


def _wrap(result: Any) -> Any:
    if isinstance(result, (_np.ndarray, _np.generic, bool, int, float, complex)):
        return ndarray(result)
    if isinstance(result, (tuple, list)):
        return type(result)(_wrap(x) for x in result) if type(result) in (tuple, list) else tuple(_wrap(x) for x in result)
    return result


def _index(index: Any, shape: tuple[int, ...]) -> Any:
    parts = index if isinstance(index, tuple) else (index,)
    out: list[Any] = []
    axis = 0
    named = _python.sum(_takes(p) for p in parts)
    for part in parts:
        if isinstance(part, _np.ndarray):
            raise TypeError("a NumPy array indexes a device array")
        if isinstance(part, slice):
            bounds = (part.start, part.stop, part.step)
            if _python.any(isinstance(b, ndarray) for b in bounds):
                raise TypeError("slice indices must be integers")
        if part is Ellipsis:
            axis = len(shape) - (named - axis)
        elif isinstance(part, ndarray) and part.dtype.kind in "iu":
            part = part._array % shape[axis]  # CuPy wraps around
            axis += 1
        elif isinstance(part, ndarray):
            axis += part.ndim
            part = part._array
        elif part is not None:
            axis += 1
        out.append(part)
    return tuple(out)


def _takes(part: Any) -> int:
    if part is None or part is Ellipsis:
        return 0
    return part.ndim if isinstance(part, ndarray) and part.dtype.kind == "b" else 1


def _kind(kind: Any) -> None:
    if kind not in (None, "stable"):
        raise ValueError("kind can only be None or 'stable'")


def _binary(name: str, swapped: bool) -> Callable[[Any, Any], Any]:
    method = getattr(_np.ndarray, f"__{name}__")

    def operate(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ndarray, *SCALARS)):
            raise TypeError(f"Unsupported type {type(other)}")
        left, right = _np.asarray(self._array), _operand(other)
        if swapped:
            left, right = right, left
        operator = getattr(_np, _UFUNCS[name])
        with _np.errstate(all="ignore"):
            return _wrap(operator(left, right))

    operate.__name__ = method.__name__
    return operate


def _in_place(name: str) -> Callable[[Any, Any], Any]:
    def operate(self: ndarray, other: Any) -> Any:
        if not isinstance(other, (ndarray, *SCALARS)):
            raise TypeError(f"Unsupported type {type(other)}")
        with _np.errstate(all="ignore"):
            getattr(_np, _UFUNCS[name])(self._array, _operand(other), out=self._array)
        return self

    return operate


_UFUNCS = {
    "add": "add",
    "sub": "subtract",
    "mul": "multiply",
    "truediv": "true_divide",
    "floordiv": "floor_divide",
    "mod": "remainder",
    "pow": "power",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "lshift": "left_shift",
    "rshift": "right_shift",
    "matmul": "matmul",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "eq": "equal",
    "ne": "not_equal",
}
for _name in _UFUNCS:
    setattr(ndarray, f"__{_name}__", _binary(_name, swapped=False))
    if _name not in ("lt", "le", "gt", "ge", "eq", "ne"):
        setattr(ndarray, f"__r{_name}__", _binary(_name, swapped=True))
        if _name != "matmul":
            setattr(ndarray, f"__i{_name}__", _in_place(_name))
ndarray.__neg__ = lambda self: _wrap(-self._array)  # type: ignore[attr-defined]
ndarray.__pos__ = lambda self: _wrap(+self._array)  # type: ignore[attr-defined]
ndarray.__abs__ = lambda self: _wrap(_python.abs(self._array))  # type: ignore[attr-defined]
ndarray.__invert__ = lambda self: _wrap(~self._array)  # type: ignore[attr-defined]


def _signature(text: str) -> inspect.Signature:
    space: dict[str, Any] = {}
    exec(f"def f({text.replace('=...', '=None')}): pass", {"float": float}, space)
    return inspect.signature(space["f"])


def _unwrap(value: Any) -> Any:
    if isinstance(value, ndarray):
        return value._array
    if isinstance(value, (list, tuple)):
        return type(value)(_unwrap(x) for x in value)
    return value


def _check_operand(name: str, value: Any) -> None:
    if isinstance(value, (_np.ndarray, list, tuple)):
        raise TypeError(f"{name}: Unsupported type {type(value)}")


def _nan_like(error: Exception, args: tuple[Any, ...]) -> Any:
    arrays = [a for a in args if isinstance(a, _np.ndarray)]
    if not arrays:
        raise error
    return _np.full_like(arrays[-1], _np.nan, dtype=float)


def _function(name: str, source: Any, sig: inspect.Signature, arrays: set[int], many: set[int]) -> Callable[..., Any]:
    """A function of CuPy's signature that works as NumPy's does on the arrays inside."""

    def call(*args: Any, **kwargs: Any) -> Any:
        sig.bind(*args, **kwargs)
        for at, value in enumerate(args):
            if at in arrays:
                _check_operand(name, value)
            elif at in many and not isinstance(value, ndarray):
                for part in value:
                    if not isinstance(part, ndarray):
                        raise TypeError(f"{name}: Only cupy arrays can be joined, not {type(part)}")
            elif isinstance(value, ndarray) and not arrays and not many:
                raise TypeError(f"{name}: a device array where a host value is needed")
        _kind(kwargs.get("kind"))
        plain = tuple(_unwrap(x) for x in args)
        if name in ("numpy.sort", "numpy.argsort"):
            kwargs["kind"] = "stable"
        try:
            with _np.errstate(all="ignore"):
                result = source(*plain, **{k: _unwrap(v) for k, v in kwargs.items()})
        except _np.linalg.LinAlgError as error:
            result = _nan_like(error, plain)
        out = kwargs.get("out")
        if isinstance(out, ndarray):
            return out
        if name in _HOST_RESULTS:
            return result
        return _wrap(result)

    call.__name__ = name.rsplit(".", 1)[-1]
    return call


_HOST_RESULTS = {
    "numpy.ndim numpy.size numpy.shape numpy.result_type numpy.issubdtype numpy.can_cast numpy.isscalar".split()[i]
    for i in range(7)
}


def _entries() -> dict[str, dict[str, str]]:
    out: dict[str, dict[str, str]] = {}
    section = ""
    for line in TABLE.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(" ") and line.endswith(":"):
            section = line[:-1]
        found = re.match(r"  ([\w.]+): \{(.*)\}$", line)
        if found and section == "callables":
            fields = re.findall(r'([\w-]+): ("(?:[^"\\]|\\.)*"|\[[^\]]*\]|[^,{}]+)', found[2])
            out[found[1]] = {key: value.strip('"') for key, value in fields}
    return out


def _positions(signature: str, names: str) -> set[int]:
    wanted = {n.strip() for n in names.strip("[]").split(",")}
    parts = [re.sub(r"=.*", "", p).strip() for p in re.split(r", (?![^(]*\))", signature)]
    parts = [p for p in parts if p not in ("/", "*")]
    found = {i for i, p in enumerate(parts) if p.lstrip("*") in wanted}
    rest = [i for i, p in enumerate(parts) if p.startswith("*") and p.lstrip("*") in wanted]
    return found | {j for i in rest for j in range(i, 64)}


def _source(name: str) -> Any:
    thing: Any = _np
    for part in name.split(".")[1:]:
        thing = getattr(thing, part)
    return thing


class _Ufunc:
    """A ufunc and its methods."""

    def __init__(self, call: Callable[..., Any]) -> None:
        self._call = call

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._call(*args, **kwargs)


def _method(name: str, sig: inspect.Signature) -> Callable[..., Any]:
    def call(self: ndarray, *args: Any, **kwargs: Any) -> Any:
        sig.bind(*args, **kwargs)
        for value in (*args, *kwargs.values()):
            if isinstance(value, _np.ndarray):
                raise TypeError(f"{name}: Unsupported type {type(value)}")
        _kind(kwargs.get("kind"))
        if name == "argsort":
            kwargs["kind"] = "stable"
        result = getattr(self._array, name)(*[_unwrap(x) for x in args], **{k: _unwrap(v) for k, v in kwargs.items()})
        out = kwargs.get("out")
        return out if isinstance(out, ndarray) else _wrap(result)

    call.__name__ = name
    return call


def _install(module: Any) -> None:
    spaces = {"cupy": module, "cupy.linalg": types.ModuleType("cupy.linalg"), "cupy.fft": types.ModuleType("cupy.fft")}
    module.linalg, module.fft = spaces["cupy.linalg"], spaces["cupy.fft"]
    sys.modules.update(spaces)
    for name, fields in _entries().items():
        target = fields["to"]
        if "ufunc" in fields:
            inputs, outputs = map(int, fields["ufunc"].split())
            names = ["x"] if inputs == 1 else [f"x{i + 1}" for i in range(inputs)]
            outs = "" if outputs == 1 else "".join(f"out{i + 1}=None, " for i in range(outputs))
            text = f"{', '.join(names)}, /, {outs}out=None, *, casting='same_kind', dtype=None"
            arrays = set(range(inputs))
            call = _function(name, _source(name), _signature(text), arrays, set())
            setattr(spaces[target.rsplit(".", 1)[0]], target.rsplit(".", 1)[1], _Ufunc(call))
            continue
        owner, short = target.rsplit(".", 1)
        sig = _signature(fields.get("to-signature", ""))
        if owner == "cupy.ndarray":
            if short not in ndarray.__dict__:
                setattr(ndarray, short, _method(short, sig))
            continue
        if short in module.__dict__ and owner == "cupy":
            continue
        here = fields.get("from-signature", "")
        arrays = _positions(here, fields.get("arrays", ""))
        many = _positions(here, fields.get("sequences", ""))
        if short in ("mgrid", "ogrid", "r_", "c_"):
            setattr(module, short, _Indexed(short))
            continue
        call = _function(name, _source(name), sig, arrays, many)
        parent = spaces.get(owner)
        if parent is None:
            setattr(getattr(spaces[owner.rsplit(".", 1)[0]], owner.rsplit(".", 1)[1]), short, call)
        else:
            setattr(parent, short, call)


class _Indexed:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getitem__(self, index: Any) -> Any:
        return _wrap(getattr(_np, self._name)[_unwrap(index)])


def asarray(a: Any, dtype: Any = None, order: Any = None, *, copy: Any = None, blocking: bool = False) -> ndarray:
    if isinstance(a, ndarray):
        return a if dtype is None or a.dtype == dtype else ndarray(a._array.astype(dtype))
    return array(a, dtype=dtype, order=order or "K")


def array(
    obj: Any,
    dtype: Any = None,
    copy: bool = True,
    order: str = "K",
    subok: bool = False,
    ndmin: int = 0,
    *,
    blocking: bool = False,
) -> ndarray:
    if isinstance(obj, ndarray):
        return ndarray(_np.array(obj._array, dtype=dtype, ndmin=ndmin))
    found = list(_leaves(obj))
    device = [x for x in found if isinstance(x, ndarray)]
    if device and len(device) != len(found):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")
    if not device:
        transfers["to-device"] += 1
    return ndarray(_np.array(_unwrap(obj), dtype=dtype, ndmin=ndmin))


asanyarray = asarray


def ascontiguousarray(a: Any, dtype: Any = None) -> ndarray:
    return ndarray(_np.ascontiguousarray(asarray(a, dtype)._array))


def _leaves(obj: Any) -> Any:
    if isinstance(obj, (list, tuple)):
        for part in obj:
            yield from _leaves(part)
    else:
        yield obj


def asnumpy(a: Any, stream: Any = None, order: str = "C", out: Any = None, *, blocking: bool = True) -> Any:
    return a.get() if isinstance(a, ndarray) else _np.asarray(a)


def _report() -> None:
    print(f"transfers: {transfers['to-device']} to the device, {transfers['to-host']} to the host", file=sys.stderr)


if os.environ.get("FAKE_CUPY_REPORT"):
    atexit.register(_report)
_install(sys.modules[__name__])
