"""A ClusterExtension has the status of a package: what it waits for, since when, why, and what helps."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from eventing.cli.extension.answer import Answer, answer_about
from eventing.diagnosis.status.extension import OF_REASON
from eventing.diagnosis.status.extension_reader import extension_statuses
from eventing.diagnosis.status.package_status import Code
from eventing.diagnosis.status.reader import Sources
from eventing.events.job import Job
from shared.api.manifest import Manifest
from shared.api.views import ClusterExtension
from shared.kinds import CLUSTER_CATALOG, CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, DEPLOYMENT
from shared.reading.extension import Sources as Content
from tests.functions.cluster_extension.world import (
    EXTENSION,
    PLACE,
    World,
    a_config_map,
    a_world,
    an_extension,
    installed,
)
from tests.functions.subscription.world import a_catalog_source

REVISION = CLUSTER_OBJECT_SET.ref("etcd-1")
CATALOG = CLUSTER_CATALOG.ref("c")


def about(world: World) -> Answer:
    """What is answered about the extension of a world."""
    content = Content(world.api, world.catalogs, world.policy)
    return answer_about(ClusterExtension(world.objects[EXTENSION]), Sources(world.api), content, world.api)


def fixes(answer: Answer) -> list[str]:
    return [str(one.command or "") for one in answer.status.fixes]


def edit(world: World, **source: object) -> World:
    with world.edited(EXTENSION) as found:
        found["spec"]["source"]["catalog"] |= source
        found["metadata"]["generation"] += 1
    return world


def settled(world: World) -> World:
    world.settle()
    return world


def told(world: World) -> World:
    """Settled, and seconds later, when what still goes on is told."""
    settled(world).later(seconds=5)
    return settled(world)


def refused_by_catalogs() -> World:
    return settled(a_world("1.0.0", version="2.x"))


def upgrade_without_a_way() -> World:
    world = edit(installed("1.0.0", "1.1.0", version="1.0.0"), version="3.x")
    return settled(world)


def unserved_catalog() -> World:
    world = a_world()
    with world.edited(CATALOG) as found:
        found["status"]["conditions"][0]["status"] = "False"
    return settled(world)


def without_catalogs() -> World:
    world = a_world()
    world.remove(CATALOG)
    return settled(world)


def colliding() -> World:
    world = a_world()
    world.put(a_config_map("etcd-settings", PLACE, mine="yes"))
    return settled(world)


def taken_later() -> World:
    """Somebody else writes the Deployment of a revision that was rolled out, and its owners with it."""
    world = installed()
    deployment = DEPLOYMENT.ref("etcd-controller", PLACE)
    with world.edited(deployment) as found:
        found["metadata"] = {**found["metadata"], "labels": {}, "ownerReferences": []}
    world.run(Job("cluster_object_set/roll_out", REVISION))
    return told(world)


def misconfigured() -> World:
    config = {"configType": "Inline", "inline": {"watchNamespace": "elsewhere"}}
    return settled(a_world(extension=an_extension(spec={"config": config})))


def late() -> World:
    world = settled(a_world(extension=an_extension(spec={"progressDeadlineMinutes": 10})))
    world.later(minutes=11)
    return world


def failing() -> World:
    world = installed()
    world.runs(ready=False)
    return world


def deleted() -> World:
    world = installed()
    with world.edited(DEPLOYMENT.ref("etcd-controller", PLACE)) as found:
        found["metadata"]["finalizers"] = ["example.com/keep"]
    with world.edited(EXTENSION) as found:
        found["metadata"]["finalizers"] = ["foregroundDeletion"]
    world.api.delete(EXTENSION, propagation="Foreground")
    return settled(world)


GET = ["olmf extension get etcd"]
OTHER_VERSION = (
    'kubectl patch clusterextension etcd --type=merge -p \'{"spec":{"source":{"catalog":{"version":null}}}}\''
)
CASES: dict[str, tuple[Callable[[], World], Code, str, set[str], list[str]]] = {
    "installed": (installed, Code.INSTALLED, "Succeeded", set(), []),
    "not looked at": (a_world, Code.RESOLVING, "Resolving", set(), []),
    "rolling out": (lambda: told(a_world()), Code.INSTALLING, "RollingOut", {str(REVISION)}, []),
    "no bundle": (refused_by_catalogs, Code.RETRYING, "Retrying", set(), [OTHER_VERSION]),
    "no upgrade": (upgrade_without_a_way, Code.RETRYING, "Retrying", set(), [OTHER_VERSION]),
    "no catalog": (
        unserved_catalog, Code.RETRYING, "Retrying", {str(CATALOG)}, ["olmf why ClusterCatalog/c"],
    ),
    "no catalog at all": (without_catalogs, Code.RETRYING, "Retrying", set(), [""]),
    "collision": (colliding, Code.ROLLOUT_REFUSED, "Retrying", {str(REVISION)}, GET),
    "configuration": (
        misconfigured, Code.CONFIGURATION_INVALID, "InvalidConfiguration", set(),
        ["kubectl edit clusterextension etcd"],
    ),
    "taken later": (taken_later, Code.ROLLOUT_REFUSED, "Retrying", set(), GET),
    "late": (late, Code.ROLLOUT_LATE, "ProgressDeadlineExceeded", {str(REVISION)}, GET),
    "unavailable": (failing, Code.UNAVAILABLE, "Unavailable", {str(REVISION)}, GET),
    "deleted": (deleted, Code.DELETING, "Deleting", {str(REVISION)}, GET),
}  # fmt: skip
"""World, code, phase, evidence beside the extension, and the commands of the fixes."""


@pytest.mark.parametrize("case", CASES)
def test_where_it_stands_what_shows_it_and_what_helps(case: str) -> None:
    make, code, phase, evidence, commands = CASES[case]
    answer = about(make())
    status = answer.status
    assert (status.code, status.phase) == (code, phase), status.message
    assert set(map(str, status.evidence)) == {str(EXTENSION), *evidence}
    assert fixes(answer) == commands
    assert (status.extension, status.subscription, status.package, status.namespace) == ("etcd", "", "etcd", PLACE)
    assert status.is_well == (code is Code.INSTALLED)
    assert bool(status.message) == (code not in (Code.INSTALLED, Code.RESOLVING))
    assert bool(status.next_try) == (not status.is_well)


def test_no_reason_of_progressing_is_without_a_case() -> None:
    blocked = {Code.ROLLOUT_BLOCKED}  # the case below: a revision whose Secrets changed
    assert {rule.code for rule in OF_REASON.values()} - blocked <= {code for _, code, *_ in CASES.values()}


def test_a_blocked_revision_waits_for_an_edit() -> None:
    world = told(a_world())
    blocked = {
        "type": "Progressing",
        "status": "False",
        "reason": "Blocked",
        "message": "changed",
        "observedGeneration": 1,
    }
    with world.edited(EXTENSION) as found:
        found["status"]["conditions"] = [blocked]
    status = about(world).status
    assert (status.code, status.phase, status.is_stuck) == (Code.ROLLOUT_BLOCKED, "Blocked", True)


def test_a_list_decides_the_same_without_catalogs() -> None:
    world = refused_by_catalogs()
    [listed] = extension_statuses(Sources(world.api))
    asked = about(world).status
    assert (listed.code, listed.phase, listed.message) == (asked.code, asked.phase, asked.message)
    assert [str(one.command) for one in listed.fixes] == ["olmf extension why etcd"]
    assert extension_statuses(Sources(world.api), "other") == []
    assert len(extension_statuses(Sources(world.api), PLACE)) == 1


def test_without_any_catalog_it_is_said_that_there_is_none_and_how_to_make_one() -> None:
    world = without_catalogs()
    world.put(a_catalog_source("all", "a-tenant"))
    world.put(a_catalog_source("local"))
    asked, [listed] = about(world).status, extension_statuses(Sources(world.api), lists_catalogs=True)
    assert "; there is no ClusterCatalog to install from" in asked.message
    assert (listed.message, listed.fixes[0].what) == (asked.message, "see how to make one")
    [fix] = asked.fixes
    assert fix.what == "make one of olm/local"
    assert '"ref": "registry/local:v1"' in str(fix.command)


def test_the_chain_ends_at_the_object_that_is_not_ready() -> None:
    answer = about(settled(a_world()))
    [link] = answer.chain
    assert (link.ref, link.message.splitlines()[0].startswith("RollingOut: ")) == (REVISION, True)
    [waiting] = [one for one in answer.objects if one.state == "not ready"]
    assert waiting.ref == DEPLOYMENT.ref("etcd-controller", PLACE)
    text = "\n".join(answer.paragraphs())
    assert "  ClusterObjectSet etcd-1: RollingOut" in text
    assert f"    Deployment {PLACE}/etcd-controller: not ready: " in text


def test_the_chain_names_whose_object_is_in_the_way() -> None:
    answer = about(colliding())
    [found] = [one for one in answer.objects if one.state == "of somebody else"]
    assert (found.ref.name, "Conflicting Owner: none" in found.message) == ("etcd-settings", True)


def test_reasons_report_which_rule_removed_which_bundle() -> None:
    answer = about(refused_by_catalogs())
    assert "No bundles are of a version in '2.x'; not etcd.v1.0.0." in answer.reasons
    assert "No bundles are of a version in '2.x'" in "\n".join(answer.paragraphs())
    reported = json.loads(json.dumps(answer.json()))
    assert (reported["chain"], reported["objects"]) == ([], [])
    assert reported["reasons"] == list(answer.reasons)


def test_what_is_installed_and_broken_is_reported_while_the_next_version_cannot_be_had() -> None:
    world = failing()
    edit(world, version="7.x")
    status = about(settled(world)).status
    assert (status.code, status.installed, status.version) == (Code.RETRYING, "etcd.v1.0.0", "etcd.v1.0.0")
    assert "7.x" in status.message
    assert "etcd-controller" in status.message


def test_an_edit_that_nobody_has_looked_at_is_not_well() -> None:
    world = installed()
    edit(world, version="1.0.0")
    assert about(world).status.code is Code.RESOLVING
    assert about(settled(world)).status.code is Code.INSTALLED


def test_a_deprecated_bundle_is_reported_of_what_works() -> None:
    world = installed()
    condition: Manifest = {"type": "Deprecated", "status": "True", "reason": "Deprecated", "message": "use b"}
    with world.edited(EXTENSION) as found:
        found["status"]["conditions"] = [
            one for one in found["status"]["conditions"] if one["type"] != "Deprecated"
        ] + [condition]
    status = about(world).status
    assert (status.is_well, status.message, status.deprecated) == (True, "", "use b")


def test_every_extension_kind_is_known_by_its_short_name() -> None:
    from eventing.cli.objects import kind_of

    assert kind_of("clusterextension") == CLUSTER_EXTENSION
