"""Which tests run in one process: those of a file, and all that look at the source tree."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

ONE_PROCESS = "tests/architecture/"
"""Its files share the syntax of the whole tree, which takes longer to read than most of them take."""


class ByFile(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """As `--dist loadfile`."""

    def _split_scope(self, nodeid: str) -> str:
        return ONE_PROCESS if nodeid.startswith(ONE_PROCESS) else super()._split_scope(nodeid)
