"""Griffe extension: parameters that a docstring describes together each have their own type and default.

NumPy's style allows ``seed, threads`` with one text; Griffe gives both the type and default of the first.
"""

from __future__ import annotations

from typing import Any

from griffe import Class, DocstringSectionParameters, Extension, Function


class Entries(Extension):
    """Takes types and defaults from the signature."""

    def on_function(self, *, func: Function, **_: Any) -> None:
        """Correct a function's section of parameters."""
        _correct(func, func)

    def on_class_members(self, *, cls: Class, **_: Any) -> None:
        """Correct a class's, whose parameters are those of its constructor."""
        constructor = cls.members.get("__init__")
        if isinstance(constructor, Function):
            _correct(cls, constructor)


def _correct(owner: Function | Class, signature: Function) -> None:
    if owner.docstring is None:
        return
    for section in owner.docstring.parsed:
        if isinstance(section, DocstringSectionParameters):
            for entry in section.value:
                if entry.name in signature.parameters:
                    declared = signature.parameters[entry.name]
                    entry.annotation, entry.value = declared.annotation, declared.default
