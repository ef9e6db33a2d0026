"""Deployments by the names of a peer's own programs, whose Pods lead to ours.

A suite reads metrics from Pods with these labels, and restarts their Deployments: then our program is restarted, too.
"""

from __future__ import annotations

import json
import os
import signal
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import urllib3

from shared.api.manifest import labels_of, uid_of
from tests.kit.waiting import wait_for

PORT = 8080
PROGRAM = "watch"
"""The one of ours that serves the metrics of both."""


def deployment(namespace: str, name: str, app: str, /, **container: Any) -> dict[str, Any]:
    """A Deployment whose Pods have the label `app`; `container` is what its container says besides."""
    labels = {"app": app}
    desired = {
        "name": app, "image": app, "ports": [{"name": "metrics", "containerPort": PORT}],
        "securityContext": {"allowPrivilegeEscalation": False, "capabilities": {"drop": ["ALL"]}}, **container,
    }  # fmt: skip
    pod = {
        "containers": [desired],
        "securityContext": {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}},
    }
    template = {"metadata": {"labels": labels}, "spec": pod}
    return {
        "apiVersion": "apps/v1", "kind": "Deployment",
        "metadata": {"name": name, "namespace": namespace, "labels": labels},
        "spec": {"replicas": 1, "selector": {"matchLabels": labels}, "template": template},
    }  # fmt: skip


@dataclass
class StandIns:
    """Where the Pods lead to."""

    state: Path
    """The state directory of `olmf up`."""
    apps: tuple[str, ...]
    """The label `app` of the Pods."""
    seen: dict[str, str] = field(default_factory=dict)
    """The last uid of a Pod for each label."""

    def port(self, pod: Any) -> int:
        """The port of our program behind a Pod; 0 for a Pod that is none of these. Restarts it for a new Pod."""
        app = labels_of(pod).get("app", "")
        if app not in self.apps:
            return 0
        former, self.seen[app] = self.seen.get(app), uid_of(pod)
        if former not in (None, uid_of(pod)):
            before = self._program()["pid"]
            os.kill(before, signal.SIGTERM)
            wait_for(lambda: self._program()["pid"] != before, "the restart of our program")
            wait_for(self._is_ready, "that our program is ready again")
        return urlsplit(self._program()["probe"]).port or 0

    def _program(self) -> Any:
        processes = json.loads((self.state / "olmf.json").read_text())["processes"]
        return next(each for each in processes if each["name"] == PROGRAM)

    def _is_ready(self) -> bool:
        try:
            url = self._program()["probe"].replace("/livez", "/readyz")
            return urllib3.request("GET", url, retries=False, timeout=5).status == 200
        except urllib3.exceptions.HTTPError:
            return False
