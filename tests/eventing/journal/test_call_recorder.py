"""What is written down of a question."""

from __future__ import annotations

from eventing.journal.call_recorder import as_json
from shared.api.manifest import Manifest
from shared.kinds import CONFIG_MAP, SUBSCRIPTION, Ref


def a_map(**data: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", "namespace": "ns"}, "data": data}


def test_an_object_that_is_asked_about_is_stored_as_its_ref_and_digest() -> None:
    """Its text may be long, and stands in what the step read."""
    ref = Ref("v1", "ServiceAccount", "installer", "ns")
    [reported, account] = as_json((a_map(a="x" * 100_000, b="y"), ref))
    name, _, digest = reported.partition(" ")
    assert (name, account, len(digest)) == (str(CONFIG_MAP.ref("a", "ns")), str(ref), len("sha256:") + 64)
    assert as_json((dict(reversed(a_map(a="x" * 100_000, b="y").items())),)) == [reported]
    assert as_json((a_map(a="other"),)) != [reported]


def test_what_is_no_object_is_stored_as_it_is() -> None:
    assert as_json({"labels": {"kind": "x"}, "ref": SUBSCRIPTION.ref("s", "ns"), "count": 3}) == {
        "labels": {"kind": "x"}, "ref": str(SUBSCRIPTION.ref("s", "ns")), "count": 3,
    }  # fmt: skip
