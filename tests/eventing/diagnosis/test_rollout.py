"""What a roll-out would create, change and delete in a cluster, and what stands in its way."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

import pytest

from eventing.diagnosis.rollout import Outlook, Place, outlook
from shared.api.manifest import ReadOnly, name_of
from shared.api.views import ClusterExtension
from shared.domain.bundle.model import Files
from shared.domain.bundle.payload import files_in
from shared.domain.image_source import ImageSource
from shared.kinds import DEPLOYMENT, SECRET
from shared.ports import Unavailable
from shared.reading.extension import Sources, read_inputs
from tests.functions.cluster_extension.world import (
    EXTENSION,
    PLACE,
    World,
    a_bundle,
    a_config_map,
    a_world,
    installed,
)
from tests.functions.subscription.world import a_package


def planned(world: World, stored: Sequence[ReadOnly] = ()) -> Outlook:
    def files_of(image: str) -> Files:
        found = world.bundles.files(ImageSource(image, "olm"))
        assert not isinstance(found, Unavailable)
        return files_in(found)

    def stored_of(_: Sequence[Mapping[str, object]]) -> Sequence[ReadOnly]:
        return stored

    extension = ClusterExtension(world.objects[EXTENSION])
    inputs = read_inputs(extension, Sources(world.api, world.catalogs, world.policy))
    return outlook(extension, inputs, Place(world.api, world.api, files_of, stored_of))


def effects(found: Outlook) -> dict[str, str]:
    return {f"{one.manifest['kind']} {name_of(one.manifest)}": str(one.effect) for one in found.changes}


def test_everything_of_a_new_extension_is_created() -> None:
    found = planned(a_world())
    assert set(effects(found).values()) == {"create"}
    assert "Deployment etcd-controller" in effects(found)
    assert (found.blockers, found.remarks) == ((), ())
    assert found.reasons[-1] == "So etcd.v1.0.0 of catalog c is the one."


def test_nothing_happens_to_what_is_as_it_should_be() -> None:
    assert set(effects(planned(installed())).values()) == {"keep"}


def test_an_upgrade_creates_changes_and_removes() -> None:
    world = installed("1.0.0")
    csv, definition, _ = a_bundle("etcd", "1.1.0")
    world.bundles.images["registry/etcd:v1.1.0"] = (csv, definition, a_config_map("etcd-more", on="yes"))
    world.publish(a_package("etcd", "1.0.0", "1.1.0"))
    found = planned(world)
    reported = effects(found)
    assert {reported["ConfigMap etcd-more"], reported["ConfigMap etcd-settings"]} == {"create", "remove"}
    [changed] = [one for one in found.changes if one.manifest["kind"] == "Deployment"]
    last = changed.differs[-1]
    assert (str(changed.effect), last.path.partition("[")[0]) == ("change", "spec.template.spec.containers")
    assert last.before != last.after
    assert not found.blockers


def test_what_somebody_edited_would_come_back() -> None:
    world = installed()
    with world.edited(DEPLOYMENT.ref("etcd-controller", PLACE)) as found:
        found["spec"]["template"]["spec"]["serviceAccountName"] = "other"
    assert effects(planned(world))["Deployment etcd-controller"] == "change"


@pytest.mark.parametrize("revision", ["", "3", "three"])
def test_what_somebody_else_has_is_in_the_way(revision: str) -> None:
    world = a_world()
    there = a_config_map("etcd-settings", PLACE, mine="yes")
    there["metadata"]["annotations"] = {"olm.operatorframework.io/revision": revision} if revision else {}
    world.put(there)
    [blocker] = planned(world).blockers
    assert blocker == f"Object ConfigMap.v1 {PLACE}/etcd-settings is there already, and not of this extension"


def test_no_bundle_blocks() -> None:
    found = planned(a_world(version="9.x"))
    assert (found.changes, len(found.blockers)) == ((), 1)
    assert "9.x" in found.blockers[0]


def test_what_cannot_be_rendered_blocks() -> None:
    world = a_world()
    world.bundles.images["registry/etcd:v1.0.0"] = a_bundle("etcd", "1.0.0", modes=("MultiNamespace",))
    assert "AllNamespaces" in planned(world).blockers[0]


def test_a_revision_without_its_secrets_is_remarked_on() -> None:
    world = installed()
    for ref in [ref for ref in world.objects if ref.kind == SECRET.kind]:
        world.remove(ref)
    assert planned(world).remarks[0].startswith("what etcd-1 has installed is not known: ")


def test_an_unsafe_definition_blocks_and_its_objects_are_looked_at() -> None:
    world = installed("1.0.0")
    csv, definition, settings = json.loads(json.dumps(a_bundle("etcd", "1.1.0")))
    version = definition["spec"]["versions"][0]
    schema = {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer"}}}
    version["schema"]["openAPIV3Schema"] = {"type": "object", "properties": {"spec": schema}, "required": ["spec"]}
    world.bundles.images["registry/etcd:v1.1.0"] = (csv, definition, settings)
    world.publish(a_package("etcd", "1.0.0", "1.1.0"))
    stored = {
        "apiVersion": "example.com/v1",
        "kind": "Etcds",
        "metadata": {"name": "a", "namespace": PLACE},
        "spec": {},
    }
    found = planned(world, [stored])
    assert any("etcds.example.com" in one for one in (*found.blockers, *found.remarks))
