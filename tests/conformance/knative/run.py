"""Our programs on Knative, on a real node: `python -m tests.conformance knative [STEP...]`; the report is KNATIVE.md.

`make cluster` makes the node, `knative.sh` brings Knative to it (README.md). Words choose the steps that hold one of
them; the report keeps the rows of the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tests.conformance.knative import authenticated, steps
from tests.conformance.knative.in_services import InServices
from tests.conformance.node.report import Steps
from tests.conformance.node.run import FOLDER

HEAD = """# On Knative

Written by `python -m tests.conformance knative` on the node of `make cluster`, with Knative Eventing, Serving and
Kourier built from source ([how](knative/README.md)), and `k8s/knative` as it is shipped. An install is that of two
operators, one of which is upgraded then. Deliveries are those that pass the gateway of Serving.
"""
STEPS = Steps[InServices](
    Path(__file__).parents[1] / "KNATIVE.md",
    HEAD,
    {
        "k8s/knative is applied": steps.is_applied,
        "rest": steps.rests,
        "an install from zero": steps.installs_from_zero,
        "an install, Services awake": steps.installs_awake,
        "the Broker is away": steps.loses_the_broker,
        "the source is restarted": steps.loses_the_source,
        "pods are killed at random": steps.loses_pods,
        "OIDC is on": authenticated.with_tokens,
    },
)


def main(words: Sequence[str]) -> int:
    """Run the steps and write the report; 1 when a step failed."""
    with InServices.of_node(FOLDER) as host:
        return STEPS.run(host, words)
