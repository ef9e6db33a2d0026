"""Which tests run in one process: those of a file, and all that look at the source tree; the longest files first."""

from __future__ import annotations

from xdist.scheduler import LoadFileScheduling

ONE_PROCESS = "tests/architecture/"
"""Its files share the syntax of the whole tree, which takes longer to read than most of them take."""

LONGEST = (
    "tests/eventing/cli/test_verbs.py",
    "tests/eventing/test_waking.py",
    "tests/replay/test_installation.py",
    "tests/replay/test_serving_installation.py",
    "tests/eventing/cli/demo/test_play.py",
    "tests/eventing/tracing/test_traced_install.py",
    "tests/eventing/local/test_two_releases.py",
    "tests/eventing/local/test_served.py",
    "tests/eventing/local/test_up.py",
    "tests/replay/test_library.py",
    "tests/eventing/local/processes/test_supervisor.py",
    "tests/replay/test_secrets.py",
    "tests/eventing/cli/catalog/test_bad_input.py",
)
"""Files that wait for installations, or work long, begin first: pytest-xdist begins with those of the most tests, and
would wait at the end for files of a single one. A file that is not here only begins later."""


class ByFile(LoadFileScheduling):  # type: ignore[misc]  # it has no types
    """As `--dist loadfile`."""

    def _split_scope(self, nodeid: str) -> str:
        return ONE_PROCESS if nodeid.startswith(ONE_PROCESS) else super()._split_scope(nodeid)

    def _assign_work_unit(self, node: object) -> None:
        if (longest := next(filter(self.workqueue.__contains__, LONGEST), None)) is not None:
            self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
