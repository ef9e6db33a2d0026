"""Who is told that a bundle is unpacked, or that its Job ended."""

from __future__ import annotations

import pytest

from functions.bundle.collect_bundle import collect_bundle
from shared import kinds
from shared.kinds import Kind
from shared.ports import Policy
from tests.functions.subscription.world import World, a_subscription

UNPACKING = {"conditions": [{"type": "BundleUnpacking", "status": "True"}]}


@pytest.mark.parametrize("kind", [kinds.CONFIG_MAP, kinds.JOB], ids=["ConfigMap", "Job"])
@pytest.mark.parametrize(
    ("namespace", "want"),
    [
        pytest.param("olm", ["a"], id="beside a global catalog"),
        pytest.param("b", ["b"], id="beside a catalog of a namespace"),
        pytest.param("elsewhere", [], id="where nobody's catalog is"),
    ],
)
def test_waiting_namespaces_are_reported(kind: Kind, namespace: str, want: list[str]) -> None:
    world = World(
        a_subscription(namespace="a") | {"status": UNPACKING},
        a_subscription(namespace="b", sourceNamespace="b") | {"status": UNPACKING},
        a_subscription(namespace="c"),
    )
    outcome = collect_bundle(kind.ref("h", namespace), world, Policy())
    assert [emit.ref.name for emit in outcome.emits] == want
