"""Build wheel and source distribution, look into both, and try the wheel as a new user has it: ``make wheel``.

``python -m tests.wheel FOLDER`` builds into FOLDER. The wheel is installed into an empty environment in a temporary
folder, with an empty home and an empty folder for compiled kernels, and must work there without compiling anything.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tarfile
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
MOST_MEGABYTES = 20.0
MOST_INSTALLED_MEGABYTES = 450.0
NEEDED = ("dabp/py.typed", "dabp/kernels/compiled/", ".safetensors", "dabp/__main__.py")
"""Parts of names that must be in the wheel."""
UNWANTED = ("tests/", "benchmarks/", "docs/", ".pyc", "/checks/")


def build(folder: Path) -> tuple[Path, Path]:
    """Wheel and source distribution, new in a folder."""
    for old in (*folder.glob("dabp-*.whl"), *folder.glob("dabp-*.tar.gz")):
        old.unlink()
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", str(folder)], cwd=ROOT, check=True)
    (wheel,), (source,) = folder.glob("dabp-*.whl"), folder.glob("dabp-*.tar.gz")
    return wheel, source


def check_content(wheel: Path, source: Path) -> None:
    """What belongs in them is there, tests and paths of this machine are not."""
    with zipfile.ZipFile(wheel) as archive:
        content = {name: archive.read(name) for name in archive.namelist()}
    with tarfile.open(source) as archive:
        packed = {one.name: archive.extractfile(one).read() for one in archive if one.isfile()}  # type: ignore[union-attr]
    for needed in NEEDED:
        assert any(needed in name for name in content), f"{wheel.name} has no {needed}"
    assert not any("/compiled/" in name for name in packed), "compiled kernels are in the source distribution"
    assert any(name.endswith("hatch_build.py") for name in packed), "the build hook is not in the source distribution"
    for archive_name, files in ((wheel.name, content), (source.name, packed)):
        for name, data in files.items():
            assert not any(part in name for part in UNWANTED), f"{archive_name} contains {name}"
            for path in {str(ROOT), sys.prefix, str(Path.home())} - {"/"}:
                assert os.fsencode(path + os.sep) not in data, f"{name} in {archive_name} names {path}"
    megabytes = wheel.stat().st_size / 1e6
    assert megabytes <= MOST_MEGABYTES, f"{wheel.name} has {megabytes:.1f} MB"
    sys.stdout.write(f"{wheel.name}: {megabytes:.1f} MB, {len(content)} files\n")
    sys.stdout.write(f"{source.name}: {source.stat().st_size / 1e6:.1f} MB, {len(packed)} files\n")


def try_wheel(wheel: Path) -> None:
    """Install it into an empty environment outside the checkout, and run the smoke test there."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        venv.create(folder / "venv", with_pip=True)
        before = megabytes_in(folder / "venv")
        python = folder / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        home = folder / "home"
        home.mkdir()
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("DABP_", "NUMBA_", "PYTHON"))}
        environment |= {"HOME": str(home), "XDG_CACHE_HOME": str(home / "cache"), "LOCALAPPDATA": str(home)}
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", str(wheel)]
        subprocess.run([python, *install], check=True, cwd=folder)
        after = megabytes_in(folder / "venv")
        sys.stdout.write(f"environment: {after:.0f} MB, {after - before:.0f} of them dabp and what it needs\n")
        assert after <= MOST_INSTALLED_MEGABYTES
        subprocess.run([python, "-m", "dabp", "doctor"], check=True, cwd=folder, env=environment)
        smoke = [python, ROOT / "tests" / "smoke.py", "--compiled"]
        subprocess.run(smoke, check=True, cwd=folder, env=environment)
        kept = list(home.rglob("*.kernel"))
        assert not kept, f"kernels were compiled: {[path.name for path in kept]}"


def megabytes_in(folder: Path) -> float:
    """The size of the files of a folder."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file() and not path.is_symlink()) / 1e6


def main() -> None:
    """Build, look, try."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else ROOT / "dist").resolve()
    folder.mkdir(parents=True, exist_ok=True)
    wheel, source = build(folder)
    check_content(wheel, source)
    try_wheel(wheel)


if __name__ == "__main__":
    main()
