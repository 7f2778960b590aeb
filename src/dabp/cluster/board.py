"""Boards on which workers of one solve write what they know: a folder, or a Dask scheduler.

The host is the process that started the workers. A board is the host's side: it gathers what workers have written,
publishes the best, and ends all workers. `Place` is a worker's side, which is sent to it.
What a worker has written outlives the worker: as a file of the folder, or as a message in the scheduler's queue.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import time
import uuid
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any

from dabp.driver.peers import Known
from dabp.driver.stopping import Progress
from dabp.errors import SolverError
from dabp.safe_files import replacing

LOOK_SECONDS = 0.5
"""Seconds between a worker's looks at the board."""
ENDED = "ended"
"""The name of the file, and the content of the Dask variable, that ends all workers."""


class Place(ABC):
    """A worker's side, `Peers` for its solve: every `LOOK_SECONDS` it writes and reads what is new."""

    def __init__(self, worker: int):
        self.worker = worker
        self.ended = False
        self._looked = -LOOK_SECONDS
        self._written: tuple[float | None, float | None] = (None, None)

    def exchange(self, progress: Progress) -> list[Known]:
        """Write and read, unless the last time was less than `LOOK_SECONDS` ago."""
        now = time.monotonic()
        if now - self._looked < LOOK_SECONDS:
            return []
        self._looked = now
        if (progress.cost, progress.bound) != self._written:
            with contextlib.suppress(OSError):  # a full disk must not end the search: written again at the next look
                self.put(Known(progress.assignment, progress.bound).to_bytes())
                self._written = (progress.cost, progress.bound)
        return self.look()

    @abstractmethod
    def put(self, data: bytes) -> None:
        """Write the worker's knowledge on the board."""

    @abstractmethod
    def look(self) -> list[Known]:
        """What others have written since the last look; sets `ended`."""

    @abstractmethod
    def over(self) -> bool:
        """Whether the host has ended the solve; consumes nothing that others wrote."""


class FolderPlace(Place):
    """A file in a folder that all workers see; each writes its own and reads the others'."""

    def __init__(self, folder: Path, worker: int):
        super().__init__(worker)
        self._folder = folder
        self._seen: dict[str, tuple[int, int]] = {}

    def put(self, data: bytes) -> None:
        """Replace the worker's file whole."""
        path = self._folder / f"{self.worker}.known"
        with contextlib.suppress(FileNotFoundError), replacing(path, "wb") as stream:  # the host may have gone
            stream.write(data)

    def look(self) -> list[Known]:
        """The files that are new or have changed since they were read; files that cannot be read are left."""
        self.ended = self.over()
        found = []
        for path in sorted(self._folder.glob("*.known")):
            if path.name == f"{self.worker}.known" or not path.is_file():
                continue
            with contextlib.suppress(OSError, SolverError):
                status = path.stat()
                stamp = (status.st_mtime_ns, status.st_ino)
                if self._seen.get(path.name) != stamp:
                    content = path.read_bytes()  # on Windows refused while the file is being replaced: read next time
                    self._seen[path.name] = stamp
                    found.append(Known.from_bytes(content))
        return found

    def over(self) -> bool:
        """Whether the file `ENDED` is there, or the folder is not."""
        return not self._folder.is_dir() or (self._folder / ENDED).exists()


class FolderBoard:
    """A folder of its own, temporary unless one is given: for workers on this machine, or with a shared disk."""

    def __init__(self, folder: str | os.PathLike[str] | None = None):
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix="dabp-together-", dir=folder))
        self._reader = self.place(-1)

    def place(self, worker: int) -> FolderPlace:
        """A place in the same folder."""
        return FolderPlace(self._folder, worker)

    def gather(self) -> list[Known]:
        """What workers' files hold that is new."""
        return self._reader.look()

    def publish(self, known: Known) -> None:
        """Nothing: workers read each other's files."""

    def end(self) -> None:
        """Write the file `ENDED`; on a full disk workers end by their own clocks."""
        with contextlib.suppress(OSError):
            (self._folder / ENDED).touch()

    def close(self) -> None:
        """Remove the folder, which ends workers that still run."""
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._folder.is_dir():  # Windows keeps what a worker has open
            self.end()


class DaskPlace(Place):
    """Messages to the host through the scheduler's queue, and the best that is known in its variables."""

    def __init__(self, name: str, worker: int):
        super().__init__(worker)
        self._name, self._version = name, 0

    def put(self, data: bytes) -> None:
        """Send a message to the host."""
        from distributed import Queue, get_client

        Queue(self._name, client=get_client()).put(data)

    def look(self) -> list[Known]:
        """The version, which is small, and the rest if the version is new."""
        try:
            version = self._read("version")
            self.ended = version == ENDED
            if self.ended or version == self._version:
                return []
            self._version = version
            return [Known.from_bytes(self._read("best"))]
        except TimeoutError:
            self.ended = True
            return []

    def over(self) -> bool:
        """Whether the version is `ENDED`, or the variable is gone."""
        try:
            return bool(self._read("version") == ENDED)
        except TimeoutError:
            return True

    def _read(self, variable: str) -> Any:
        """Raises `TimeoutError` if the scheduler has no such variable any more: the host has gone."""
        from distributed import Variable, get_client

        return Variable(f"{self._name}-{variable}", client=get_client()).get(timeout=5.0)


class DaskBoard:
    """A queue and two variables of a Dask scheduler: workers and host need to reach the scheduler only."""

    def __init__(self, client: Any):
        from distributed import Queue, Variable

        self._name, self._version = f"dabp-{uuid.uuid4().hex}", 0
        self._queue = Queue(self._name, client=client)
        self._newest = Variable(f"{self._name}-version", client=client)
        self._best = Variable(f"{self._name}-best", client=client)
        self._newest.set(0)

    def place(self, worker: int) -> DaskPlace:
        """A place with the same scheduler."""
        return DaskPlace(self._name, worker)

    def gather(self) -> list[Known]:
        """All messages in the queue."""
        return [Known.from_bytes(data) for data in self._queue.get(batch=True)]

    def publish(self, known: Known) -> None:
        """Write the best before its version: a worker that reads a version finds at least that."""
        self._version += 1
        self._best.set(known.to_bytes())
        self._newest.set(self._version)

    def end(self) -> None:
        """Set the version to `ENDED`."""
        self._newest.set(ENDED)

    def close(self) -> None:
        """Delete the queue and the variables, which ends workers that still run."""
        self._best.delete()
        self._newest.delete()
        self._queue.close()


Board = FolderBoard | DaskBoard
"""The host's side of a board."""
