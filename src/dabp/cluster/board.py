"""Boards on which workers of one solve write what they know: a folder, or a Dask scheduler.

Who started the workers is the board's host. What a worker has told outlives it: files of a folder, messages that
lie with the scheduler. `Board` is the host's side, `Place` the worker's, which is sent to it.
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

INTERVAL = 0.5
"""Seconds between a worker's looks at the board."""
PATIENCE = 5.0
"""Seconds in which a scheduler has answered."""
ENDED = "ended"
"""The name of the file, and the content of the message, that ends all workers."""


class Place(ABC):
    """A worker's side, `Peers` for its solve: it tells what is new at most every `INTERVAL` seconds, and looks."""

    def __init__(self, worker: int):
        self.worker = worker
        self.ended = False
        self._looked = -INTERVAL
        self._told: tuple[float | None, float | None] = (None, None)

    def exchange(self, progress: Progress) -> list[Known]:
        """See `Peers`."""
        now = time.monotonic()
        if now - self._looked < INTERVAL:
            return []
        self._looked = now
        self.tell(progress)
        return self.look()

    def tell(self, progress: Progress) -> None:
        """Put on the board what was not told before."""
        if (progress.cost, progress.bound) != self._told:
            with contextlib.suppress(OSError):  # a full disk must not end the search: told again at the next look
                self.put(Known(progress.assignment, progress.bound).to_bytes())
                self._told = (progress.cost, progress.bound)

    @abstractmethod
    def put(self, told: bytes) -> None:
        """Put this on the board."""

    @abstractmethod
    def look(self) -> list[Known]:
        """What others have put there since the last look; sets `ended`."""

    @abstractmethod
    def over(self) -> bool:
        """Whether the host has ended the solve; what others have put there stays to be seen."""


class Board(ABC):
    """The host's side."""

    @abstractmethod
    def place(self, worker: int) -> Place:
        """What a worker is given."""

    @abstractmethod
    def gather(self) -> list[Known]:
        """What workers have told since the last time."""

    def publish(self, known: Known) -> None:  # noqa: B027 - workers that see each other need no publication
        """Let all workers know."""

    @abstractmethod
    def end(self) -> None:
        """Tell all workers to end."""

    @abstractmethod
    def close(self) -> None:
        """Take the board away."""


class FolderPlace(Place):
    """A file in a folder that all workers see; each writes its own and reads the others'."""

    def __init__(self, folder: Path, worker: int):
        super().__init__(worker)
        self._files = Files(folder, f"{worker}.known")

    def put(self, told: bytes) -> None:
        """Replace the worker's file at once: nobody reads half of one."""
        self._files.write(told)

    def look(self) -> list[Known]:
        """The files that changed."""
        self.ended = self.over()
        return self._files.changed()

    def over(self) -> bool:
        """See `Place`."""
        return self._files.ended


class Files:
    """The files of a folder that hold what workers know."""

    def __init__(self, folder: Path, own: str = ""):
        self._folder, self._own = folder, own
        self._seen: dict[str, tuple[int, int]] = {}

    @property
    def ended(self) -> bool:
        """Whether the host has ended the solve, or is gone with its folder."""
        return not self._folder.is_dir() or (self._folder / ENDED).exists()

    def write(self, told: bytes) -> None:
        """Replace one's own file."""
        with contextlib.suppress(FileNotFoundError):  # the folder, when the host has gone
            handle, name = tempfile.mkstemp(dir=self._folder, prefix=".writing-")
            try:
                with os.fdopen(handle, "wb") as stream:
                    stream.write(told)
                Path(name).replace(self._folder / self._own)
            except OSError:
                Path(name).unlink(missing_ok=True)
                raise

    def changed(self) -> list[Known]:
        """What others' files hold that are new or have changed since they were read; what is none of ours is left."""
        found = []
        for path in sorted(self._folder.glob("*.known")):
            if path.name == self._own or not path.is_file():
                continue
            with contextlib.suppress(OSError, SolverError):
                status = path.stat()
                stamp = (status.st_mtime_ns, status.st_ino)
                if self._seen.get(path.name) != stamp:
                    content = path.read_bytes()  # on Windows refused while the file is being replaced: read next time
                    self._seen[path.name] = stamp
                    found.append(Known.from_bytes(content))
        return found


class FolderBoard(Board):
    """A folder of its own, temporary unless one is given: for workers on this machine, or with a shared disk."""

    def __init__(self, folder: str | os.PathLike[str] | None = None):
        if folder is not None:
            Path(folder).mkdir(parents=True, exist_ok=True)
        self._folder = Path(tempfile.mkdtemp(prefix="dabp-together-", dir=folder))
        self._files = Files(self._folder)

    def place(self, worker: int) -> FolderPlace:
        """See `Board`."""
        return FolderPlace(self._folder, worker)

    def gather(self) -> list[Known]:
        """See `Board`."""
        return self._files.changed()

    def end(self) -> None:
        """See `Board`; workers end by their own clocks where there is no room for the file."""
        with contextlib.suppress(OSError):
            (self._folder / ENDED).touch()

    def close(self) -> None:
        """Remove the folder; a worker that is still there sees by that that it has ended."""
        shutil.rmtree(self._folder, ignore_errors=True)
        if self._folder.is_dir():  # Windows keeps what a worker has open
            self.end()


class DaskPlace(Place):
    """Messages to the host through the scheduler's queue, and the best that is known in its variable."""

    def __init__(self, name: str, worker: int):
        super().__init__(worker)
        self._name, self._version = name, 0

    def put(self, told: bytes) -> None:
        """Into the queue, which lies with the scheduler."""
        from distributed import Queue, get_client

        Queue(self._name, client=get_client()).put(told)

    def look(self) -> list[Known]:
        """The variable's version first, which is small; the rest if it is new. Without them the host has gone."""
        from distributed import Variable, get_client

        client = get_client()
        try:
            version = Variable(f"{self._name}-version", client=client).get(timeout=PATIENCE)
            self.ended = version == ENDED
            if self.ended or version == self._version:
                return []
            self._version = version
            return [Known.from_bytes(Variable(f"{self._name}-best", client=client).get(timeout=PATIENCE))]
        except TimeoutError:
            self.ended = True
            return []

    def over(self) -> bool:
        """See `Place`."""
        from distributed import Variable, get_client

        try:
            return bool(Variable(f"{self._name}-version", client=get_client()).get(timeout=PATIENCE) == ENDED)
        except TimeoutError:
            return True


class DaskBoard(Board):
    """A queue and two variables of a Dask scheduler: nothing but the scheduler must be reached by workers and host."""

    def __init__(self, client: Any):
        from distributed import Queue, Variable

        self._name, self._version = f"dabp-{uuid.uuid4().hex}", 0
        self._queue = Queue(self._name, client=client)
        self._newest = Variable(f"{self._name}-version", client=client)
        self._best = Variable(f"{self._name}-best", client=client)
        self._newest.set(0)

    def place(self, worker: int) -> DaskPlace:
        """See `Board`."""
        return DaskPlace(self._name, worker)

    def gather(self) -> list[Known]:
        """See `Board`."""
        return [Known.from_bytes(told) for told in self._queue.get(batch=True)]

    def publish(self, known: Known) -> None:
        """The whole before its number, so that who sees a number finds at least that."""
        self._version += 1
        self._best.set(known.to_bytes())
        self._newest.set(self._version)

    def end(self) -> None:
        """See `Board`."""
        self._newest.set(ENDED)

    def close(self) -> None:
        """Leave nothing with the scheduler; a worker that is still there sees by that that it has ended."""
        for left in (self._best, self._newest):
            left.delete()
        self._queue.close()
