"""How Numba's form of a kernel becomes LLVM's: what is assigned once is a value, not a place in memory.

Numba gives every variable that is used in several blocks a place on the stack, which LLVM has to find out to be none.
A named tuple of twenty arrays has a hundred and forty fields, and is loaded whole wherever one of them is asked for:
that was most of what LLVM had to simplify.
"""

from __future__ import annotations

from typing import Any

from llvmlite.ir import Function
from numba.core import ir, typed_passes
from numba.core.analysis import compute_cfg_from_blocks, compute_use_defs, must_use_alloca
from numba.core.compiler_machinery import register_pass
from numba.core.lowering import Lower

from dabp.kernels.unpacking import Wrapper


class _Lower(Lower):  # type: ignore[misc]
    """Numba's, with more variables kept as values."""

    def _find_singly_assigned_variable(self) -> None:
        super()._find_singly_assigned_variable()
        self._lasting = {name for name in self._assigned_before_use() if not self._counted(name)}
        self._singly_assigned_vars |= self._lasting

    def _assigned_before_use(self) -> set[str]:
        """Variables assigned in one place, which every use comes after: on all paths, and in the order of lowering."""
        places: dict[str, list[int]] = {}
        for label, block in self.blocks.items():
            for statement in block.find_insts(ir.Assign):
                places.setdefault(statement.target.name, []).append(label)
        before = compute_cfg_from_blocks(self.blocks).dominators()
        found = {name for name, labels in places.items() if len(labels) == 1}
        found.difference_update(must_use_alloca(self.blocks))
        for label, names in compute_use_defs(self.blocks).usemap.items():
            for name in names:
                if name in found and not (places[name][0] in before.get(label, ()) and places[name][0] < label):
                    found.discard(name)
        return found

    def _counted(self, name: str) -> bool:
        """Whether references to its value are counted, so that it must be let go on every path."""
        model = self.context.data_model_manager[self.typeof(name)]
        return bool(self.context.enable_nrt and model.contains_nrt_meminfo())

    def delvar(self, name: str) -> None:
        """Nothing to do for a value."""
        if name not in self._lasting:
            super().delvar(name)

    def create_cpython_wrapper(self, release_gil: bool = False) -> None:
        """What Python calls, with arguments unpacked in less code."""
        module = self.context.create_module("wrapper")
        kind = self.context.call_conv.get_function_type(self.fndesc.restype, self.fndesc.argtypes)
        callee = Function(module, kind, self.fndesc.llvm_func_name)
        Wrapper(self.context, module, callee, self.fndesc, self.env, self.call_helper, release_gil).build()
        self.library.add_ir_module(module)


@register_pass(mutates_CFG=True, analysis_only=False)
class Lowering(typed_passes.BaseNativeLowering):  # type: ignore[misc]
    """The pass."""

    _name = "kernel_lowering"

    @property
    def lowering_class(self) -> Any:
        """Ours."""
        return _Lower
