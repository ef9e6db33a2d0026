"""Stories that a living world goes through; `python -m tests.replay.stories` records them again.

A capture pins decisions. Where a decision changed on purpose, `tests/replay` fails with the diff: read it, then record.
"""

from __future__ import annotations

from pathlib import Path

from shared.api.manifest import Manifest
from shared.kinds import CATALOG_SOURCE, NAMESPACE, OPERATOR_GROUP, SUBSCRIPTION, Kind
from tests.replay.living import LivingWorld

GROUP = OPERATOR_GROUP.ref("selecting", "operators")


def an_object(kind: Kind, name: str, namespace: str = "", **fields: object) -> Manifest:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    labels = fields.pop("labels", None)
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": meta | ({"labels": labels} if labels else {}),
        **fields,
    }


def groups_come_and_go(world: LivingWorld) -> None:
    """A group selects namespaces by label, which come, change and go; a second one competes for a while."""
    for name, team in (("operators", "none"), ("red", "a"), ("blue", "b")):
        world.add(an_object(NAMESPACE, name, labels={"team": team}))
    world.add(an_object(OPERATOR_GROUP, "selecting", "operators", spec={"selector": {"matchLabels": {"team": "a"}}}))
    world.add(an_object(NAMESPACE, "green", labels={"team": "a"}))
    world.change(NAMESPACE.ref("blue"), {"metadata": {"labels": {"team": "a"}}})
    conflicting = an_object(OPERATOR_GROUP, "rival", "operators", spec={"targetNamespaces": ["red"]})
    world.add(conflicting)
    world.remove(OPERATOR_GROUP.ref("rival", "operators"))
    world.change(NAMESPACE.ref("red"), {"metadata": {"labels": {"team": "b"}}})


def a_catalog_is_missing(world: LivingWorld) -> None:
    """A Subscription names a catalog that is not there, then one whose image is not."""
    world.add(an_object(NAMESPACE, "operators"))
    world.add(an_object(OPERATOR_GROUP, "all", "operators", spec={}))
    spec = {"name": "etcd", "channel": "alpha", "source": "catalog", "sourceNamespace": "operators"}
    world.add(an_object(SUBSCRIPTION, "etcd", "operators", spec=spec))
    source = {"sourceType": "grpc", "image": "registry.example/catalog:v1"}
    world.add(an_object(CATALOG_SOURCE, "catalog", "operators", spec=source))


STORIES = (groups_come_and_go, a_catalog_is_missing)


if __name__ == "__main__":
    for story in STORIES:
        world = LivingWorld()
        story(world)
        world.save(Path(__file__).with_name(f"{story.__name__}.tar.gz"))
