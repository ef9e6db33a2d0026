"""The audit log of a real API server: who asked for what."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

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


@dataclass(frozen=True, slots=True)
class Line:
    """One request that was answered, with all that a trace shows of it."""

    agent: str
    verb: str
    uri: str
    status: int
    audit_id: str
    at: float
    """When it arrived, seconds since the epoch."""
    took: float
    """Seconds."""

    @classmethod
    def of(cls, entry: dict[str, Any]) -> Line:
        """The request of an entry of the log."""
        at, ended = (
            datetime.fromisoformat(entry[key]).timestamp() for key in ("requestReceivedTimestamp", "stageTimestamp")
        )
        status = (entry.get("responseStatus") or {}).get("code", 0)
        return cls(
            entry.get("userAgent", ""), entry["verb"], entry["requestURI"], status, entry["auditID"], at, ended - at
        )

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

    def lines(self) -> Callable[[], tuple[Line, ...]]:
        """What answers with everybody's requests since now, watches too."""
        start = self._path.stat().st_size
        return lambda: tuple(map(Line.of, self._entries(start)))

    def _entries(self, start: int) -> Iterator[dict[str, Any]]:
        with self._path.open("rb") as log:
            log.seek(max(start - 1, 0))
            if start:
                log.readline()  # why: the mark may lie within a line that was just being written
            lines = log.read().rpartition(b"\n")[0].splitlines()
        yield from map(json.loads, lines)

    def _since(self, start: int) -> Iterator[Asked]:
        for entry in self._entries(start):
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
