"""What is killed on a node: pods, processes in their containers, and the programs of the node itself."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TypeAlias

from urllib3.exceptions import HTTPError

from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, name_of, namespace_of, uid_of
from shared.kinds import POD
from tests.conformance.faults.killing import Victims
from tests.conformance.lifecycle.outages import kill
from tests.conformance.node.in_pods import KILLED, OURS, InPods

PLACES = (OURS, "kube-system", "killed-")
"""Beginnings of the namespaces whose pods are killed."""
POD_OF_PROCESS = re.compile(r"/pod([0-9a-f-]{36})/")
ASKED_TO_END = (0, 143)
"""How a container ends when its pod is begun anew, whose first process was killed."""
NOT_BEGUN = "StartError"
"""Why a container ended whose program had not begun: what starts it is a process of the pod, too, and was killed."""
Death: TypeAlias = tuple[str, Callable[[], object]]


@dataclass
class OnNode:
    """What there is to kill, and how the containers of ours ended."""

    host: InPods
    ends: Counter[str] = field(default_factory=Counter)
    _seen: set[tuple[str, str]] = field(default_factory=set)
    """Pod and moment of the ends that were counted."""

    def kill_one(self, rng: random.Random) -> str:
        """A pod, a process in one, or a program of the node; nothing while the API server cannot say what there is."""
        self._start_ended()
        pods = [*self._pods()]
        sorts = [[*self._deaths_of_pods(pods)], [*deaths_in(pods)], [*self._deaths_of_programs()]]
        name, die = rng.choice(rng.choice([each for each in sorts if each]))
        return "" if die() is False else name

    def are_back(self) -> bool:
        """Whether every pod is ready that does not end by itself."""
        self._start_ended()
        pods = [*self._pods()]
        return bool(pods) and all(is_ready(pod) for pod in pods if "Job" not in owners_of(pod))

    def _start_ended(self) -> None:
        """Programs that ended because another was away, or still had their port, are started again."""
        for each in (self.host.state / "pid").iterdir():
            if not Path("/proc", each.read_text().split()[0]).exists():
                self.host.node("kill", str(self.host.state), each.name)

    def _pods(self) -> Iterator[Manifest]:
        with suppress(ApiError, HTTPError):
            for pod in self.host.cluster.list(POD):
                if namespace_of(pod).startswith(PLACES):
                    self._count_ends(pod)
                    yield pod

    def _count_ends(self, pod: Manifest) -> None:
        for each in (pod.get("status") or {}).get("containerStatuses") or ():
            end = (each.get("lastState") or {}).get("terminated") or {}
            moment = uid_of(pod), str(end.get("finishedAt"))
            if namespace_of(pod) != OURS or not end or moment in self._seen:
                continue
            self._seen.add(moment)
            code, reason = end["exitCode"], end.get("reason", "")
            if reason != NOT_BEGUN and (reason == "OOMKilled" or code not in (KILLED, *ASKED_TO_END)):
                self.ends[f"{each['name']} with {code} {reason}"] += 1

    def _deaths_of_pods(self, pods: list[Manifest]) -> Iterator[Death]:
        words = ("--grace-period=0", "--force", "--ignore-not-found", "--wait=false")
        for pod in pods:
            delete = partial(self.host.kubectl, "delete", "pod", name_of(pod), *words, namespace=namespace_of(pod))
            yield "pod", delete

    def _deaths_of_programs(self) -> Iterator[Death]:
        for each in (self.host.state / "pid").iterdir():
            yield each.name, partial(self.host.node, "kill", str(self.host.state), each.name)


def deaths_in(pods: list[Manifest]) -> Iterator[Death]:
    """Of the processes in containers of these pods."""
    uids = {uid_of(pod) for pod in pods}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            found = POD_OF_PROCESS.search((folder / "cgroup").read_text())
            if found and found[1] in uids:
                yield "process in a pod", partial(kill, int(folder.name))


def is_ready(pod: Manifest) -> bool:
    """Whether it is, and is not about to end."""
    statuses = (pod.get("status") or {}).get("containerStatuses") or ()
    return bool(statuses) and all(each["ready"] for each in statuses) and not pod["metadata"].get("deletionTimestamp")


def owners_of(pod: Manifest) -> list[str]:
    """Kinds."""
    return [owner["kind"] for owner in pod["metadata"].get("ownerReferences") or ()]


def victims_of(host: InPods) -> Victims:
    """All of a node, but for what we did not bring."""
    node = OnNode(host)
    return Victims(host, node.kill_one, node.are_back, lambda: node.ends)
