"""The worlds in which faults are tried: one for each target, begun when it is first needed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Self

from tests.conformance.lifecycle.outages import World, a_world


@dataclass
class Worlds:
    """Worlds by target, and folders for those that a fault has for itself."""

    folder: Path
    _stack: ExitStack
    _begun: dict[str, World] = field(default_factory=dict)
    _folders: int = 0

    @classmethod
    @contextmanager
    def below(cls, folder: Path) -> Iterator[Self]:
        """Worlds in that folder, which end with the block."""
        with ExitStack() as stack:
            yield cls(folder, stack)

    def of(self, target: str) -> World:
        """The world of the target."""
        if target not in self._begun:
            self._begun[target] = self._stack.enter_context(a_world(target, self.fresh_folder()))
        return self._begun[target]

    def fresh_folder(self) -> Path:
        """A folder that nobody else uses."""
        self._folders += 1
        path = self.folder / str(self._folders)
        path.mkdir()
        return path
