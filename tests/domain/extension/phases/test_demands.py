"""Which kinds are watched for the sake of a revision."""

from __future__ import annotations

from shared import names
from shared.api.manifest import Manifest
from shared.api.views import ClusterObjectSet
from shared.domain.extension.phases.demands import MOST, demanded, recorded
from shared.domain.extension.phases.order import Phase


def an_object(api_version: str, kind: str) -> Manifest:
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "x"}}


def a_revision(kinds: str = "", *inline: Manifest, state: str = "Active", finalizers: tuple[str, ...] = ()) -> Manifest:
    meta = {"name": "x-1", "annotations": {names.KINDS_OF_OBJECTS: kinds}, "finalizers": list(finalizers)}
    phases = [{"name": "one", "objects": [{"object": one} for one in inline]}]
    return {"metadata": meta, "spec": {"lifecycleState": state, "phases": phases}}


RULE, NOTE, WATCHED = ("policy/v1", "PodDisruptionBudget"), ("v1", "Secret"), ("apps/v1", "Deployment")


def test_what_is_watched_anyway_is_not_recorded() -> None:
    phases = (Phase("a", (an_object(*RULE), an_object(*WATCHED))), Phase("b", (an_object(*NOTE), an_object(*RULE))))
    text = recorded(phases)
    assert text == "policy/v1/PodDisruptionBudget,v1/Secret"
    assert demanded(ClusterObjectSet(a_revision(text))) == {RULE, NOTE}
    assert recorded(()) == ""


def test_what_somebody_wrote_there_is_believed_if_a_kind_can_be_called_so() -> None:
    found = demanded(ClusterObjectSet(a_revision("v1/../x,nothing,/,apps/v1/Deployment", an_object(*NOTE))))
    assert found == {NOTE}
    many = ",".join(f"example.com/v1/Kind{number}" for number in range(1000))
    assert len(demanded(ClusterObjectSet(a_revision(many)))) == MOST


def test_a_revision_that_let_its_objects_go_demands_nothing() -> None:
    for finalizers, expected in (((), frozenset()), ((names.V1_TEARDOWN,), {NOTE})):
        one = a_revision("v1/Secret", state="Archived", finalizers=finalizers)
        assert demanded(ClusterObjectSet(one)) == expected
