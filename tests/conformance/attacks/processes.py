"""The processes of an installation: whether one of them was started again."""

from __future__ import annotations

from pathlib import Path

from tests.kit.installation import Installation

OURS = ("worker", "watch", "scheduler")
"""What must be among them, whatever the target."""
LINES = 40
"""So many of the logs are shown when a process was started again."""


def pids(installation: Installation) -> dict[str, list[int]]:
    """All processes by name: the pid and, of a worker, that of its child, which dies of a run; of pods the restarts."""
    found = {
        each["name"]: [each["pid"], *(_below(each["pid"]) if "worker" in each["name"] else ())]
        for each in installation.status()["processes"]
    }
    for word in OURS:
        assert any(name.removeprefix("olmf-").startswith(word) for name in found), f"no {word} among {sorted(found)}"
    return found


def _below(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children")
    if not children.exists():  # the restarts of a pod
        return []
    found = [int(child) for child in children.read_text().split()]
    assert found, f"the worker {pid} has no child"
    return found


def restarted(before: dict[str, list[int]], after: dict[str, list[int]]) -> list[str]:
    """Those that are not the same processes any more, that are gone, or that are new."""
    names = sorted(before.keys() | after.keys())
    return [f"{name}: {before.get(name)} {after.get(name)}" for name in names if before.get(name) != after.get(name)]


def ends(installation: Installation) -> list[str]:
    """What the logs say of ends and new starts; nothing of pods."""
    logs = sorted((installation.state / "logs").glob("*.log"))
    words = ("restarts", "ended", "started again", "MemoryError")
    return [
        f"{log.stem}: {line.strip()[:300]}"
        for log in logs
        for line in log.read_text(errors="replace").splitlines()
        if any(word in line for word in words)
    ][-LINES:]
