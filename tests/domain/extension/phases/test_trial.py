"""What is tried dry before a phase is written (v1.md §21.7)."""

from __future__ import annotations

import pytest

from shared.api.manifest import Manifest, name_of
from shared.domain.extension.phases.actions import Action
from shared.domain.extension.phases.objects import Task
from shared.domain.extension.phases.probes import Result
from shared.domain.extension.phases.rollout import ObjectResult
from shared.domain.extension.phases.trial import takes_over, tried

ADOPT, CREATE, UPDATE = Action.ADOPT, Action.CREATE, Action.UPDATE


def an_object(name: str, kind: str = "ConfigMap", api: str = "v1", namespace: str = "", **spec: object) -> Manifest:
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api, "kind": kind, "metadata": meta, **({"spec": spec} if spec else {})}


PLACE = an_object("place", "Namespace")
INSIDE, OUTSIDE = an_object("inside", namespace="place"), an_object("outside", namespace="other")
THING = an_object("thing", "Thing", "x.io/v2")
THINGS = an_object(
    "things.x.io", "CustomResourceDefinition", "apiextensions.k8s.io/v1", group="x.io", names={"kind": "Thing"}
)


def a_task(manifest: Manifest, action: Action) -> Task:
    return Task(ObjectResult(manifest, action, Result("True", ())), manifest, None)


@pytest.mark.parametrize(
    ("phase", "names"),
    [
        pytest.param([(OUTSIDE, ADOPT)], [], id="one write is refused or done as a whole"),
        pytest.param([(OUTSIDE, CREATE), (INSIDE, UPDATE)], [], id="no older revision runs any of it"),
        pytest.param([(OUTSIDE, ADOPT), (INSIDE, CREATE)], ["outside", "inside"], id="each of a phase that takes over"),
        pytest.param([(PLACE, CREATE), (INSIDE, CREATE), (OUTSIDE, ADOPT)], ["place", "outside"], id="a new namespace"),
        pytest.param([(PLACE, ADOPT), (INSIDE, CREATE)], ["place", "inside"], id="a namespace that is there"),
        pytest.param(
            [(THINGS, CREATE), (THING, CREATE), (OUTSIDE, ADOPT)], ["things.x.io", "outside"], id="a new kind"
        ),
        pytest.param([(THINGS, ADOPT), (THING, ADOPT)], ["things.x.io"], id="a kind that gets another schema"),
    ],
)
def test_v1_md_21_7_what_is_tried_of_a_phase(phase: list[tuple[Manifest, Action]], names: list[str]) -> None:
    tasks = [a_task(*one) for one in phase]
    assert [name_of(one.desired) for one in tried(tasks)] == names
    assert takes_over(tasks) == (ADOPT in [action for _, action in phase])
