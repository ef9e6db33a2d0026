"""What OLM's own program installed is taken over while it serves, and handed back: nothing restarts, nothing fails."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import yaml

from shared.api.manifest import Manifest, labels_of, uid_of
from shared.kinds import CLUSTER_ROLE_BINDING, POD, SERVICE_ACCOUNT
from tests.conformance.lifecycle.lamps import DEPLOYMENT, FIRST, SAMPLE, Lamps, is_gone
from tests.conformance.node.in_pods import OURS, InPods, calling
from tests.conformance.node.steps.webhooks import PLACE, works
from tests.kit.installation import a_namespace, an_operator_group
from tests.kit.olm_checks import OlmChecks
from tests.kit.olm_program import running_olm
from tests.kit.waiting import wait_for

WRITERS = {"olmf-watch": 1, "olmf-worker": 2, "olmf-scheduler": 1}
"""Those of our Deployments that change a cluster, and how many pods each has."""
RIGHTS = CLUSTER_ROLE_BINDING.ref("lamps-by-hand")
LOOKS_SECONDS = 30.0
"""OLM looks at everything when it starts; that is over long before."""


def is_taken_over(host: InPods, program: str) -> str:
    """`program` is OLM's operator, made of its source (`go build ./cmd/olm`); without one nothing is tried."""
    if not program:
        return "not tried: `$OLMF_OLM_PROGRAM` is not set"
    lamps = Lamps(host, PLACE)
    with host.namespaces(PLACE):
        with without_us(host), olm(host, program):
            made_by_hand(host, lamps)
            host.until_phase(lamps.ref().name, PLACE)
            wait_for(lamps.works, "answers of the operator")
            before = facts(lamps)
        with calling(lambda: works(lamps)) as output:
            host.until_it_rests()
            assert facts(lamps) == before, "taken over: the pod, its certificate or who trusts it is another one"
            with without_us(host), olm(host, program):
                complaints = OlmChecks(host.cluster, lamps.ref()).complaints()
                assert not complaints, complaints
                time.sleep(LOOKS_SECONDS)
                assert facts(lamps) == before, "handed back: the pod, its certificate or who trusts it is another one"
            host.until_it_rests()
        host.remove(lamps.ref(), RIGHTS)
        wait_for(lambda: is_gone(lamps), "the end of what leads to it")
    failed = [each for each in output if each]
    assert not failed, f"{len(failed)} of {len(output)} rounds of calls failed, the first {failed[0]}"
    return (
        "OLM's own program made two webhooks, a conversion and an aggregated API: taken over and handed back with the "
        f"same pod and certificate; {len(output)} rounds of calls meanwhile, none failed; nothing of it is left"
    )


@contextmanager
def without_us(host: InPods) -> Iterator[None]:
    """None of our programs that write runs meanwhile; afterwards all are ready again."""
    try:
        for name in WRITERS:
            host.kubectl("scale", f"deploy/{name}", "--replicas=0")
        wait_for(lambda: not any(name.startswith(tuple(WRITERS)) for name, _, _ in host.pods()), "that they ended")
        yield
    finally:
        for name, count in WRITERS.items():
            host.kubectl("scale", f"deploy/{name}", f"--replicas={count}")
        host.until_ready()


def olm(host: InPods, program: str) -> AbstractContextManager[None]:
    """OLM's operator runs meanwhile, beside the cluster."""
    return running_olm(program, host.kubeconfig, OURS, host.state / "log" / "olm.log")


def made_by_hand(host: InPods, lamps: Lamps) -> None:
    """The version with its definition, account and rights, as a plan would have made them."""
    account = SERVICE_ACCOUNT.ref(DEPLOYMENT, PLACE)
    subject = {"kind": account.kind, "name": account.name, "namespace": PLACE}
    role = {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "cluster-admin"}
    host.apply(a_namespace(PLACE), an_operator_group(PLACE), {
        "apiVersion": account.api_version, "kind": account.kind, "metadata": {"name": account.name, "namespace": PLACE},
    }, {
        "apiVersion": RIGHTS.api_version, "kind": RIGHTS.kind, "metadata": {"name": RIGHTS.name},
        "roleRef": role, "subjects": [subject],
    })  # fmt: skip
    for path in sorted((SAMPLE / "lamps" / FIRST / "manifests").iterdir(), reverse=True):
        manifest: Manifest = yaml.safe_load(path.read_text())
        place = {"namespace": PLACE} if manifest["kind"] == lamps.ref().kind else {}
        host.apply({**manifest, "metadata": {**manifest["metadata"], **place}})


def facts(lamps: Lamps) -> dict[str, Any]:
    """What must stay as it is: the pods with their restarts, the certificate, and each CA that is trusted."""
    pods = [pod for pod in lamps.host.cluster.list(POD, PLACE) if labels_of(pod).get("app") == DEPLOYMENT]
    secret = lamps.host.cluster.get(lamps.secret)
    assert secret
    return {
        "pods": {uid_of(pod): [each["restartCount"] for each in pod["status"]["containerStatuses"]] for pod in pods},
        "certificate": secret["data"],
        "authorities": lamps.authorities(),
        "configurations": sorted(uid_of(each) for each in lamps.configurations()),
    }
