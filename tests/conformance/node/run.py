"""Our programs in pods of a real node: `python -m tests.conformance node [STEP...]`; the report is NODE.md.

`make cluster` makes the node; `$OLMF_NODE` is its folder. Words choose the steps that hold one of them; the report
keeps the rows of the others. `$OLMF_OLDER_IMAGE` is the image of an older release that the node's registry has,
`$OLMF_OLM_PROGRAM` OLM's operator, made of its source with `go build ./cmd/olm`. `$OLMF_KILL_SECONDS` is for how long
everything is killed at random, ten minutes without it. `keda.sh up` brings KEDA.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from tests.conformance.node.in_pods import InPods
from tests.conformance.node.report import Steps
from tests.conformance.node.steps import (
    attack,
    extensions,
    faults,
    keda,
    operators,
    public_operators,
    releases,
    removal,
    taking_over,
    walls,
    webhooks,
)
from tests.kit.olm_program import PLACE

FOLDER = Path(os.environ.get("OLMF_NODE", "/run/olmf-node"))
OLDER = os.environ.get("OLMF_OLDER_IMAGE", "")
OLM = os.environ.get(PLACE, "")
HEAD = """# On a real node

Written by `python -m tests.conformance node` on the node of `make cluster`: kubelet and containerd, every default
controller, NetworkPolicies enforced; the programs run in pods as `k8s/base` says, and containers of operators really
run.
"""
STEPS = Steps[InPods](
    Path(__file__).parents[1] / "NODE.md",
    HEAD,
    {
        "the catalog is read": operators.reads_the_catalog,
        "the base is applied again": releases.applies_again,
        "a bundle is unpacked by a Job": operators.unpacks,
        "an install and an upgrade": operators.upgrades,
        "a plan that waits for approval": operators.waits_for_approval,
        "webhooks and an aggregated API from a pod": webhooks.serves,
        "rights of extensions": extensions.is_granted,
        "certificates are rotated": webhooks.rotates,
        "what OLM installed is taken over": lambda host: taking_over.is_taken_over(host, OLM),
        "NetworkPolicies": walls.keeps_networks_apart,
        "our image": walls.is_small,
        "PodSecurity": walls.admits_restricted_pods,
        "probes": walls.probes_report,
        "our Deployments are updated during installs": releases.is_updated_at_work,
        "an older release is updated with a full queue": lambda host: releases.follows_an_older_release(host, OLDER),
        "every pod of ours is deleted during an install": faults.loses_its_pods,
        "Redis forgets everything": faults.loses_redis_data,
        "the pod of Redis is deleted": faults.loses_redis,
        "the API server is halted": faults.loses_the_api,
        "the node is restarted": faults.loses_the_node,
        "an uninstall": operators.uninstalls,
        "the installation is taken away": removal.is_taken_away,
        "a tenant attacks": attack.is_attacked,
        "every public package": public_operators.installs,
        "KEDA counts the workers": keda.is_scaled,
        "everything is killed at random": faults.loses_anything,
    },
)


def main(words: Sequence[str]) -> int:
    """Run the steps and write the report; 1 when a step failed."""
    with InPods.of_node(FOLDER) as host:
        return STEPS.run(host, words)
