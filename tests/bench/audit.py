"""The audit log of a real API server: who asked for what."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import yaml

OURS = ("olmf/worker", "olmf/unpack")
"""The stand-in for the kubelet, the bench itself and Kubernetes' own controllers are not counted, nor are watches."""
_READS = ("get", "list")


@dataclass(frozen=True, slots=True)
class Asked:
    """One request that was answered."""

    agent: str
    verb: str
    resource: str
    """With its subresource."""

    @property
    def is_read(self) -> bool:
        """Whether it changed nothing."""
        return self.verb in _READS


class AuditLog:
    """A log that the API server appends to while it answers."""

    def __init__(self, folder: Path) -> None:
        self._path, self._policy = folder / "audit.log", folder / "audit.yaml"
        self._path.touch()
        policy = {"apiVersion": "audit.k8s.io/v1", "kind": "Policy", "rules": [{"level": "Metadata"}]}
        self._policy.write_text(yaml.safe_dump({**policy, "omitStages": ["RequestReceived", "ResponseStarted"]}))

    @property
    def server_words(self) -> tuple[str, ...]:
        """What tells the API server to write it, each line before the answer goes out."""
        return f"--audit-policy-file={self._policy}", f"--audit-log-path={self._path}", "--audit-log-mode=blocking"

    def mark(self) -> Callable[[], tuple[Asked, ...]]:
        """What answers with our requests since now."""
        start = self._path.stat().st_size
        return lambda: tuple(self._since(start))

    def _since(self, start: int) -> Iterator[Asked]:
        with self._path.open("rb") as log:
            log.seek(max(start - 1, 0))
            if start:
                log.readline()  # why: the mark may lie within a line that was just being written
            lines = log.read().rpartition(b"\n")[0].splitlines()
        for entry in map(json.loads, lines):
            place = entry.get("objectRef") or {}
            resource = "/".join(filter(None, (place.get("resource") or entry["requestURI"], place.get("subresource"))))
            asked = Asked(entry.get("userAgent", ""), entry["verb"], resource)
            if asked.agent in OURS and asked.verb != "watch":
                yield asked


def listed(asked: tuple[Asked, ...]) -> str:
    """What was asked for how often, for people."""
    counted = Counter((each.is_read, each.verb, each.resource, each.agent) for each in asked)
    return "\n".join(
        f"{count:>5} {verb} {resource} ({agent})" for (_, verb, resource, agent), count in sorted(counted.items())
    )
