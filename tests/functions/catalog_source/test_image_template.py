"""A CatalogSource whose image follows the version of the API server."""

from __future__ import annotations

from datetime import timedelta

from eventing.events.job import Job
from shared import kinds, names
from shared.api.manifest import Manifest, metadata
from shared.api.views import CatalogSource
from shared.step import Outcome
from tests.functions.subscription.world import World, a_catalog_source, a_package

REF = kinds.CATALOG_SOURCE.ref("local", "olm")
CHECK, READ = Job("catalog_source/check_catalog", REF), Job("catalog_source/snapshot_catalog", REF, "long")
TEMPLATE = "registry/local:v{kube_major_version}.{kube_minor_version}"


def a_world(template: str = TEMPLATE, **spec: str) -> World:
    world = World()
    for version in ("v1", "v1.35", "v1.36"):
        world.catalogs.publish(f"registry/local:{version}", a_package("etcd", "1.0.0"))
    annotate(world, a_catalog_source(**spec), template)
    return world


def annotate(world: World, source: Manifest, template: str) -> None:
    """Somebody sets the annotation; empty removes it."""
    annotations = {names.IMAGE_TEMPLATE: template} if template else {}
    world.put({**source, "metadata": {**metadata(source), "annotations": annotations}})
    world.settle()


def the(world: World) -> tuple[str, dict[str, tuple[str, str, str]]]:
    """The image in the spec, and what the conditions say."""
    source = world.objects[REF]
    reported = [one for one in source["status"].get("conditions") or () if one["type"] != names.RESOLVED_CONTENT]
    return source["spec"]["image"], {one["type"]: (one["status"], one["reason"], one["message"]) for one in reported}


def test_the_template_becomes_the_image_and_is_read() -> None:
    """catalog.md 8.4.46 and 2.10: both conditions in the same pass, and the image of the annotation is served."""
    world = a_world()
    assert the(world) == ("registry/local:v1.35", {
        "TemplatesHaveResolved": ("True", "AllTemplatesResolved", "catalog image reference was successfully resolved"),
        "ResolvedImage": ("True", "AllTemplatesResolved", "registry/local:v1.35"),
    })  # fmt: skip
    assert CatalogSource(world.objects[REF]).content == world.catalogs.reference("registry/local:v1.35")


def test_the_image_stays_when_the_template_cannot_be_used_and_moves_when_it_can() -> None:
    """catalog.md 8.4.46: unresolvable, both False and the image kept; fixed, True again; annotation removed, gone."""
    world = a_world("registry/local:{foobar}")
    image, reported = the(world)
    assert image == "registry/local:v1"
    assert {result[:2] for result in reported.values()} == {("False", "UnableToResolve")}
    assert world.objects[REF]["status"]["connectionState"]["lastObservedState"] == "READY", "the fallback image"
    annotate(world, world.objects[REF], TEMPLATE)
    assert the(world)[1]["ResolvedImage"][0] == "True"
    annotate(world, world.objects[REF], "")
    assert the(world) == ("registry/local:v1.35", {})


def test_a_newer_api_server_is_noticed() -> None:
    """catalog.md 2.10: the version is read again; nobody tells when it changes."""
    world = a_world()
    world.server = "v1.36.0"
    world.later(minutes=14)
    assert the(world)[0] == "registry/local:v1.35"
    world.later(minutes=2)
    assert the(world)[0] == "registry/local:v1.36"


def test_an_empty_image_is_invalid_only_while_the_template_is() -> None:
    """catalog.md 2.10: with an empty spec.image SpecInvalidError, and 9.19: no passing error otherwise."""
    world = a_world("registry/local:{foobar}", image="")
    assert world.objects[REF]["status"]["reason"] == "SpecInvalidError"
    world = a_world(image="")
    assert "reason" not in world.objects[REF]["status"]
    assert the(world)[0] == "registry/local:v1.35"


def test_at_rest_nothing_is_written_and_polling_keeps_its_own_pace() -> None:
    world = a_world()
    outcome = world.run(CHECK)
    assert (outcome.writes, outcome.emits, outcome.again_in) == ((), (), timedelta(minutes=15))
    assert world.run(READ) == Outcome(summary=f"{world.catalogs.reference(the(world)[0])} holds 1 packages")
    source = world.objects[REF]
    world.put({**source, "spec": {**source["spec"], "updateStrategy": {"registryPoll": {"interval": "1m"}}}})
    assert world.run(READ).again_in == timedelta(minutes=1)
    assert world.run(CHECK).again_in == timedelta(minutes=15)


def test_an_invalid_catalog_without_template_is_not_looked_at_again() -> None:
    world = a_world("", image="")
    assert {world.run(job).again_in for job in (CHECK, READ)} == {None}
