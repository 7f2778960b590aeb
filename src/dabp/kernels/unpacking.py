"""How a kernel's arguments come out of Python's objects: arrays straight into the place where they are wanted.

Numba writes the code that takes an array apart once for every array, and copies a named tuple of arrays as a whole
whenever one more of its fields is known. Here each type of array or tuple has one function in the module.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba.core import cgutils
from numba.core.callwrapper import PyCallWrapper
from numba.core.pythonapi import NativeValue, PythonAPI
from numba.core.types import Array
from numba.core.types.containers import BaseTuple


class _Unpacking(PythonAPI):  # type: ignore[misc]
    """Numba's code around calls into Python, with a function for each type of array and tuple."""

    def to_native_value(self, typ: Any, obj: Any) -> Any:
        """The value of an object of Python's, and whether it is none of that type."""
        if not isinstance(typ, Array | BaseTuple):
            return super().to_native_value(typ, obj)
        place = cgutils.alloca_once(self.builder, self.context.get_value_type(typ))
        failed = self.builder.call(self._function(typ), (obj, place))
        return NativeValue(self.builder.load(place), is_error=failed)

    def _function(self, typ: Any) -> Any:
        """Unpacks an object into a place; whether it could not, with an exception set."""
        name = f"unpack.{typ}"
        if name in self.module.globals:
            return self.module.globals[name]
        place = self.context.get_value_type(typ).as_pointer()
        made = ir.Function(self.module, ir.FunctionType(cgutils.bool_t, (self.pyobj, place)), name)
        made.linkage = "internal"
        builder = ir.IRBuilder(made.append_basic_block())
        inside = _Unpacking(self.context, builder)
        if isinstance(typ, Array):
            native = super(_Unpacking, inside).to_native_value(typ, made.args[0])
            builder.store(native.value, made.args[1])
            builder.ret(native.is_error)
        else:
            builder.ret(inside._unpack_fields(typ, *made.args))
        return made

    def _unpack_fields(self, typ: Any, obj: Any, place: Any) -> Any:
        builder = self.builder
        count = ir.Constant(self.py_ssize_t, len(typ))
        with cgutils.if_unlikely(builder, builder.icmp_signed("!=", self.tuple_size(obj), count)):
            self.err_set_string("PyExc_ValueError", f"expected a tuple of {len(typ)} elements")
            builder.ret(cgutils.true_bit)
        failed = cgutils.false_bit
        for number, field in enumerate(typ):
            value = self.tuple_getitem(obj, number)
            inner = cgutils.gep_inbounds(builder, place, 0, number)
            if isinstance(field, Array | BaseTuple):
                bad = builder.call(self._function(field), (value, inner))
            else:
                native = self.to_native_value(field, value)
                builder.store(native.value, inner)
                bad = native.is_error
            failed = builder.or_(failed, bad)
        return failed


class Wrapper(PyCallWrapper):  # type: ignore[misc]
    """What Python calls."""

    def build_wrapper(self, api: Any, builder: Any, closure: Any, args: Any, kws: Any) -> None:
        """As Numba does, but for how arguments are unpacked."""
        super().build_wrapper(_Unpacking(self.context, builder), builder, closure, args, kws)
