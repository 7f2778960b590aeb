"""The build hook: compiles all kernels into the package (Hatch's interface of custom build hooks).

``DABP_BUILD_KERNELS`` says for which levels of the processor: ``host`` (the default) for the best one that this
machine has, ``all`` for each that it has, a list such as ``x86-64-v3,x86-64-v4``, or ``0`` for none. With compiled
kernels the wheel is one for this platform and Python; without them it is one for every platform.

``python hatch_build.py`` does the same for an editable installation, with the Numba that is installed.
"""

from __future__ import annotations

import os
import platform
import re
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

ROOT = Path(__file__).parent
COMPILED = ROOT / "src" / "dabp" / "kernels" / "compiled"
NEEDED = ("numpy", "numba", "safetensors", "psutil")
"""Dependencies of the package that solvers need on small problems."""

GLIBC = "2_28"
"""The oldest C library that a wheel for Linux supports; Numba's own wheels need it."""


class KernelBuildHook(BuildHookInterface):
    """Compiled kernels are part of wheels, editable ones included; source distributions have none."""

    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        """What the build environment must have: nothing if no kernel is compiled."""
        if not wanted():
            return []
        names = re.compile(rf"^({'|'.join(NEEDED)})\b")
        return [given for given in self.metadata.core.dependencies if names.match(given)]

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Compile, and set the platform of the wheel."""
        if self.target_name != "wheel" or not wanted():
            return
        compile_kernels(wanted())
        build_data["pure_python"] = False
        build_data["tag"] = tag()


def wanted() -> str:
    """The value of ``DABP_BUILD_KERNELS``; empty for no kernels."""
    given = os.environ.get("DABP_BUILD_KERNELS", "host").strip()
    return "" if given == "0" else given or "host"


def compile_kernels(which: str) -> None:
    """Fill `COMPILED` for these levels; an error ends the build."""
    search = os.pathsep.join([str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])])
    environment = {**os.environ, "PYTHONPATH": search}
    if which in ("host", "all"):
        code = "from dabp.kernels.cache import host_levels; print(*host_levels())"
        printed = subprocess.run(
            [sys.executable, "-c", code], env=environment, capture_output=True, text=True, check=True
        )
        found = printed.stdout.split()
        levels = found if which == "all" else found[:1]
    else:
        levels = [name.strip() for name in which.split(",")]
    for level in levels:
        _compile_level(level, environment)


def _compile_level(level: str, environment: dict[str, str]) -> None:
    command = [sys.executable, "-m", "dabp.solvers.kernel_build", str(COMPILED), level]
    started = time.monotonic()
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            done, count = line.split()
            _show(f"compiling kernels for {level}: {done} of {count} parts, {time.monotonic() - started:.0f} s")
    if process.returncode:
        raise RuntimeError(f"the kernels did not compile for {level}; DABP_BUILD_KERNELS=0 builds without them")
    _show(f"compiled kernels for {level} in {time.monotonic() - started:.0f} s\n")


def _show(text: str) -> None:
    """Replace the line on the terminal, as pip hides the output of builds; without one write to standard error."""
    try:
        with open("CONOUT$" if os.name == "nt" else "/dev/tty", "w", encoding="utf-8") as terminal:
            terminal.write(f"\r{text} ")
    except OSError:
        sys.stderr.write(f"{text.rstrip()}\n")
        sys.stderr.flush()


def tag() -> str:
    """The tag of a wheel with compiled kernels: this Python, no ABI (it has no extension module), this platform."""
    from packaging.tags import sys_tags

    platforms = [one.platform for one in sys_tags()]
    machine = platform.machine().lower()
    chosen = f"manylinux_{GLIBC}_{machine}"
    if oldest := os.environ.get("MACOSX_DEPLOYMENT_TARGET"):
        chosen = f"macosx_{oldest.replace('.', '_')}_{machine}"
    return f"cp{sys.version_info.major}{sys.version_info.minor}-none-{chosen if chosen in platforms else platforms[0]}"


if __name__ == "__main__":
    if wanted():
        compile_kernels(wanted())
