"""How Numba turns a kernel into machine code: once for each kernel that Python calls, with all its parts inside.

Left to itself, Numba optimises every function that a kernel calls alone, makes machine code of it that nobody runs, and
optimises it again inside each caller. Here what only kernels call (a *part*) stays as it comes from Python and becomes
code where it is called, so that a process that compiles runs the same instructions as one that loads from the cache.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import llvmlite.binding as llvm
from numba.core import typed_passes, untyped_passes
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompileResult, Flags
from numba.core.compiler_machinery import PassManager
from numba.core.environment import lookup_environment

from dabp.kernels.lowering import Lowering

PASSES = (
    untyped_passes.TranslateByteCode,
    untyped_passes.FixupArgs,
    untyped_passes.IRProcessing,
    untyped_passes.GenericRewrites,
    untyped_passes.InlineInlinables,
    untyped_passes.DeadBranchPrune,
    untyped_passes.ReconstructSSA,
    typed_passes.NopythonTypeInference,
    typed_passes.PreLowerStripPhis,
    typed_passes.InlineOverloads,
    typed_passes.IRLegalization,
    Lowering,
    typed_passes.NoPythonBackend,
)
"""What kernels need of Numba's passes: they have no closures, with statements, literal loops or array expressions."""


class _Lean(JITCodeLibrary):  # type: ignore[misc]
    """Code made small before it is linked, and no more: the kernel around it is optimised as a whole."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout
        builder = self._codegen._pass_builder()
        manager = llvm.create_new_function_pass_manager()
        manager.add_sroa_pass()
        manager.add_simplify_cfg_pass()
        manager.add_instruction_combine_pass()
        for function in module.functions:
            if not function.is_declaration:
                manager.run(function, builder)


class _Library(_Lean):
    """The code of one kernel."""

    def add_ir_module(self, module: Any) -> None:
        """Take a module as it is, and what unpacks Python's arguments without optimising it: it is most of the code."""
        if module.name == "wrapper":
            for function in module.functions:
                if function.blocks:
                    function.attributes.add("optnone")
                    function.attributes.add("noinline")
        super().add_ir_module(module)

    def _finalize_specific(self) -> None:
        super()._finalize_specific()
        for variable in self._final_module.global_variables:
            if variable.name.startswith("_ZN08NumbaEnv") and (found := lookup_environment(variable.name)) is not None:
                self._codegen.set_env(variable.name, found)  # of the parts, which have none of their own


class _Nowhere:
    """What a part asks to remember its environment, which the kernel around it does."""

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing."""


class PartLibrary(_Lean):
    """The code of a part, to be linked into kernels and never run alone."""

    @property
    def codegen(self) -> Any:
        """Asked for one thing only."""
        return _Nowhere()

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """None: it is nowhere in memory."""
        self._ensure_finalized()
        return 0


class _Options(Flags):  # type: ignore[misc]
    """The options that what a kernel calls inherits from it: one object for each choice, so that they compare at once.

    Numba compares them for every operator of a kernel with those of all that it has resolved before, and resolves
    anew for each difference, also where that is only about how the kernel itself is called.
    """

    _made: ClassVar[dict[str, _Options]] = {}

    @classmethod
    def of(cls, flags: Flags) -> _Options:
        """Those of a kernel, without what concerns it alone."""
        own = cls(flags)
        for name in ("no_cpython_wrapper", "no_cfunc_wrapper", "release_gil", "forceinline", "inline"):
            own.discard(name)
        return cls._made.setdefault(repr(own), own)

    def copy(self) -> _Options:
        """Itself: nobody changes it."""
        return self

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other


class _OwnOptions(Flags):  # type: ignore[misc]
    """A kernel's own options, of which Numba hands a copy to what it calls."""

    def copy(self) -> _Options:
        """What others inherit."""
        return _Options.of(self)


@contextlib.contextmanager
def _parts_inside(codegen: Any) -> Iterator[None]:
    """While a kernel is compiled, what Numba compiles for it (``max``, ``np.empty``) becomes parts as well.

    What is loaded from the cache meanwhile is machine code that Python may call, and stays so.
    """
    if "create_library" in vars(codegen):  # inside another kernel
        yield
        return

    def load(state: Any) -> Any:
        del codegen.create_library
        try:
            return type(codegen).unserialize_library(codegen, state)
        finally:
            codegen.create_library = create

    create = codegen.create_library = functools.partial(PartLibrary, codegen)
    codegen.unserialize_library = load
    try:
        yield
    finally:
        del codegen.create_library, codegen.unserialize_library


class KernelCompiler(Compiler):  # type: ignore[misc]
    """Numba's compiler with these libraries and options, and only the passes that kernels need."""

    def _compile_core(self) -> Any:
        self.state.flags = _OwnOptions(self.state.flags)
        with _parts_inside(self.state.targetctx.codegen()):
            return super()._compile_core()

    def define_pipelines(self) -> Any:
        """From Python to a library."""
        state = self.state
        kind = PartLibrary if state.flags.no_cpython_wrapper else _Library
        state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
        state.library.enable_object_caching()
        manager = PassManager("kernel")
        for step in PASSES:
            manager.add_pass(step, step._name)
        manager.finalize()
        return [manager]


@dataclass(frozen=True)
class Part:
    """A compiled part as it is kept on disk."""

    name: str
    bitcode: bytes
    description: Any
    environment: Any
    signature: Any
    reload: Any
    environments: Any
    """Of the parts inside it, which nobody else would load."""

    @classmethod
    def written(cls, compiled: Any) -> Part:
        """What is worth keeping of a part."""
        description = compiled.fndesc
        description.typemap = description.calltypes = None  # large, and of no use to callers
        library = compiled.library
        return cls(
            library.name,
            library._get_module_for_linking().as_bitcode(),
            description,
            compiled.environment,
            compiled.signature,
            compiled.reload_init,
            tuple(compiled._find_referenced_environments()),
        )

    def read(self, context: Any) -> Any:
        """The part, ready to be linked into a kernel."""
        for function in self.reload:
            function()
        library = PartLibrary(context.codegen(), self.name)
        library._final_module = llvm.parse_bitcode(self.bitcode)
        library._finalize_final_module()
        return CompileResult(
            typing_context=context.typing_context,
            target_context=context,
            entry_point=context.get_executable(library, self.description, self.environment),
            typing_error=None,
            type_annotation="",
            signature=self.signature,
            objectmode=False,
            lifted=(),
            fndesc=self.description,
            library=library,
            call_helper=None,
            environment=self.environment,
            metadata=None,
            reload_init=self.reload,
            referenced_envs=self.environments,
        )
