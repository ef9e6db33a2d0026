"""An operator with webhooks and an aggregated API: what it went through is decided alike again, though keys are not."""

from __future__ import annotations

import base64
from copy import deepcopy
from pathlib import Path

from eventing.diagnosis.replay import open_capture, replay
from eventing.diagnosis.replay.perturbation import KINDS, drawn
from eventing.diagnosis.replay.sandboxed import replay_in_sandbox
from eventing.diagnosis.replay.search import changes_of
from shared.kinds import CLUSTER_SERVICE_VERSION, DEPLOYMENT, VALIDATING_WEBHOOKS, Ref
from tests.kit.captures import captured
from tests.kit.installation import SAMPLES, a_namespace, a_subscription, an_operator_group, installed

LAMPS = SAMPLES.parent / "webhooks"


def a_story(folder: Path) -> Path:
    """It is installed in its first version, and upgraded."""
    with installed(folder / "state", "--bundles", str(LAMPS)) as found:
        found.apply(a_namespace("land"), an_operator_group("land"))
        found.apply(a_subscription("lamps", "land", startingCSV="lamps.v1.0.0"))
        found.until_phase("lamps.v1.1.0", "land")
        found.until_gone(CLUSTER_SERVICE_VERSION.ref("lamps.v1.0.0", "land"))
        found.until_it_rests()
        found.olmf("capture", "-o", str(file := folder / "story.tar.gz"))
    return file


def test_an_operator_with_webhooks_replays_alike(tmp_path: Path) -> None:
    file = a_story(tmp_path)
    report = replay(file)
    assert [each.detail for each in report.replayed if each.result == "different"] == []
    count = len(changes_of(file))
    for perturbed in (None, *(drawn(kind, count, 0) for kind in KINDS)):
        world = replay_in_sandbox(file, perturbed=perturbed)
        assert [f"{ref}\n{diff}" for ref, diff in world.differences] == [], perturbed
        assert world.exit_code == 0
    world = replay_in_sandbox(falsified(file))
    assert sorted(ref.kind for ref, _ in world.differences) == ["Deployment", VALIDATING_WEBHOOKS.kind]


def falsified(file: Path) -> Path:
    """The same story with another end: clients trust another CA, and Pods were told of another one."""
    recorded = open_capture(file)
    objects = {Ref.of(manifest): deepcopy(manifest) for manifest in recorded.objects}
    (hook,) = next(one for ref, one in objects.items() if ref.kind == VALIDATING_WEBHOOKS.kind)["webhooks"]
    hook["clientConfig"]["caBundle"] = base64.b64encode(b"another").decode()
    template = objects[DEPLOYMENT.ref("lamps-controller", "land")]["spec"]["template"]
    template["metadata"]["annotations"]["olmcahash"] = "another"
    captured(recorded.index, spoiled := file.with_name("falsified.tar"), objects.values())
    return spoiled
