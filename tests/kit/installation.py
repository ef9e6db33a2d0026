"""A whole installation for tests: `olmf up` in a state directory of its own, and waits that say what they saw."""

from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest, resource_version_of
from shared.kinds import CLUSTER_SERVICE_VERSION, EVENT, KINDS, NAMESPACE, OPERATOR_GROUP, SUBSCRIPTION, Kind, Ref
from tests.kit import verbs
from tests.kit.waiting import PATIENCE_SECONDS, pause_after, wait_for

SAMPLES = Path(__file__).parents[2] / "k8s" / "samples" / "bundles"
REST_SECONDS = 1.5
"""What is not written for so long is not written any more."""
DEBOUNCED = ("operator/update_operator", "cluster_service_version/adopt_components")
"""Steps that wait a few seconds for more events before they write."""


@dataclass(frozen=True)
class Installation:
    """A running installation and a client of its cluster."""

    state: Path
    cluster: KubeClient

    @classmethod
    def of(cls, state: Path) -> Installation:
        """The one that runs in a state directory."""
        addresses = json.loads((state / "olmf.json").read_text())
        return cls(state, KubeClient.from_kubeconfig(addresses["kubeconfig"]))

    def olmf(self, *words: str, check: bool = True, timeout: float = 180) -> subprocess.CompletedProcess[str]:
        """Run `olmf <words> --state <state>`."""
        return olmf(*words, "--state", str(self.state), check=check, timeout=timeout)

    def status(self) -> Any:
        """`olmf status -o json`."""
        return json.loads(self.olmf("status", "-o", "json", check=False).stdout)

    def apply(self, *manifests: Manifest) -> None:
        """Create or change objects."""
        for manifest in manifests:
            self.cluster.apply(manifest, field_manager="test")

    def until(self, ref: Ref, holds: Callable[[Manifest], object], what: str = "") -> Manifest:
        """The object as soon as `holds`; AssertionError shows what it was instead."""
        started = time.monotonic()
        seen: Manifest | None = None
        while (waited := time.monotonic() - started) < PATIENCE_SECONDS:
            seen = self.cluster.get(ref)
            if seen is not None and _holds_of(holds, seen):
                return seen
            time.sleep(pause_after(waited))
        shown = yaml.safe_dump(seen.get("status", seen)) if seen else "absent"
        raise AssertionError(f"{ref} never came to {what or 'what was wanted'}; last seen:\n{shown}")

    def until_gone(self, ref: Ref) -> None:
        """Wait until the object is gone."""
        wait_for(lambda: self.cluster.get(ref) is None, f"the end of {ref}")

    def until_it_rests(self, seconds: float = PATIENCE_SECONDS) -> None:
        """Nothing is written any more, and no job waits to run; an installation that never rests is a hot loop."""
        deadline = time.monotonic() + seconds
        before = self._versions()
        while True:
            time.sleep(REST_SECONDS)
            now = self._versions()
            unrest = [*sorted({str(ref) for ref, _ in before.items() ^ now.items()}), *self._jobs_to_run()]
            if not unrest:
                return
            assert time.monotonic() < deadline, f"still at work: {unrest}"
            before = now

    def _versions(self) -> dict[Ref, str]:
        """The resourceVersion of all there is, but for the Events that tell of it."""
        kinds = [kind for kind in KINDS if kind != EVENT]
        return {Ref.of(each): resource_version_of(each) for kind in kinds for each in self.cluster.list(kind)}

    def _jobs_to_run(self) -> list[str]:
        jobs = json.loads(self.olmf("queue", "ls", "-o", "json").stdout)
        due = [job for job in jobs if job["state"] != "delayed" or job["step"] in DEBOUNCED]
        return [f"{job['step']} on {job['ref']} is {job['state']}" for job in due]

    def until_phase(self, name: str, namespace: str, phase: str = "Succeeded") -> Manifest:
        """The ClusterServiceVersion as soon as it is in the phase."""
        ref = CLUSTER_SERVICE_VERSION.ref(name, namespace)
        return self.until(ref, lambda csv: csv.get("status", {}).get("phase") == phase, phase)

    def until_condition(self, subscription: str, namespace: str, kind: str) -> Manifest:
        """The condition of a Subscription as soon as it is True."""
        ref = SUBSCRIPTION.ref(subscription, namespace)
        found = self.until(ref, lambda each: condition(each, kind).get("status") == "True", kind)
        return condition(found, kind)


def _holds_of(holds: Callable[[Manifest], object], seen: Manifest) -> bool:
    try:
        return bool(holds(seen))
    except KeyError:  # what it asks about, a status for instance, is not there yet
        return False


def condition(manifest: Manifest, kind: str) -> Manifest:
    """A condition by type, empty when absent."""
    conditions = (manifest.get("status") or {}).get("conditions") or ()
    return next((each for each in conditions if each.get("type") == kind), {})


def olmf(
    *words: str, check: bool = True, timeout: float = 180, environ: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command line of this tree."""
    variables = {**os.environ, "OLMF_LOG_JSON": "false", **(environ or {})}
    done = verbs.olmf(*words, environ=variables, seconds=timeout)
    if check and done.returncode:
        raise AssertionError(f"olmf {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done


@contextmanager
def installed(state: Path, *words: str, environ: Mapping[str, str] | None = None) -> Iterator[Installation]:
    """`olmf up --detach` with these words and variables, and `olmf down` at the end."""
    olmf("up", "--detach", "--state", str(state), *words, environ=environ)
    try:
        yield Installation.of(state)
    finally:
        olmf("down", "--state", str(state), check=False)


def a_namespace(name: str) -> Manifest:
    """A Namespace."""
    return _object(NAMESPACE, name)


def an_operator_group(namespace: str, *, targets: tuple[str, ...] = (), name: str = "", **spec: object) -> Manifest:
    """An OperatorGroup; no targets means all namespaces."""
    desired = {**({"targetNamespaces": list(targets)} if targets else {}), **spec}
    return _object(OPERATOR_GROUP, name or f"{namespace}-group", namespace, spec=desired)


def a_subscription(package: str, namespace: str, *, source: str = "local", name: str = "", **spec: object) -> Manifest:
    """A Subscription to the catalog `olm/local`."""
    desired = {"name": package, "source": source, "sourceNamespace": "olm", **spec}
    return _object(SUBSCRIPTION, name or package, namespace, spec=desired)


def _object(kind: Kind, name: str, namespace: str = "", **fields: object) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, **place}, **fields}
