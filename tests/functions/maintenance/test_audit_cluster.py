from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from functions.maintenance.audit_cluster import audit_cluster
from shared import kinds, names
from shared.kinds import Kind, Ref
from shared.step import Emit
from tests.functions.operator_group.builders import a_csv, a_group, a_namespace
from tests.kit.cluster import FakeCluster
from tests.kit.inventory import FakeInventory

ANYTHING = kinds.NAMESPACE.ref("audit")


class RememberingJournal:
    """Knows the given versions."""

    def __init__(self, *seen: tuple[Ref, str]) -> None:
        self._seen = frozenset(seen)

    def unseen(self, identities: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        return tuple(ref for ref, version in identities if (ref, version) not in self._seen)


def a_list_of(*objects: dict[str, Any]) -> FakeInventory:
    return FakeInventory(FakeCluster(objects))


def a_role(name: str, **labels: str) -> dict[str, Any]:
    meta = {"name": name, "namespace": "ns", "labels": labels}
    return {"apiVersion": kinds.ROLE.api_version, "kind": "Role", "metadata": meta}


def a_definition(kind: Kind) -> dict[str, Any]:
    definition, meta = kinds.CUSTOM_RESOURCE_DEFINITION, {"name": kind.definition, "resourceVersion": "1"}
    return {"apiVersion": definition.api_version, "kind": definition.kind, "metadata": meta}


def test_kinds_that_only_some_clusters_serve_are_not_asked_for_elsewhere() -> None:
    asked: list[Kind] = []

    class Asked(FakeInventory):
        def versions(self, kind: Kind, *, labels: Mapping[str, str] | None = None) -> tuple[tuple[Ref, str], ...]:
            asked.append(kind)
            return super().versions(kind, labels=labels)

    audit_cluster(ANYTHING, Asked(FakeCluster([a_definition(kinds.PROXY)])), RememberingJournal())

    assert set(kinds.WATCHED) - set(asked) == set(kinds.OPTIONAL) - {kinds.PROXY}
    assert len(asked) == len(set(asked))


@pytest.mark.parametrize("kind", kinds.WATCHED, ids=lambda kind: kind.kind)
def test_every_watched_kind_is_audited(kind: Kind) -> None:
    """DESIGN §4: the audit enqueues for whatever the journal has not seen."""
    ref = kind.ref("missed", "ns")
    meta = {"name": ref.name, "namespace": ref.namespace, "resourceVersion": "9", "labels": {names.MANAGED: "true"}}
    missed = {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta}

    served = [a_definition(one) for one in kinds.OPTIONAL]
    journal = RememberingJournal((ref, "8"), *((Ref.of(one), "1") for one in served))

    outcome = audit_cluster(ANYTHING, a_list_of(missed, *served), journal)

    assert outcome.emits == (Emit(names.DEPENDENT_CHANGED, ref),)


@pytest.mark.parametrize(
    ("seen", "enqueued"),
    [
        pytest.param("9", [], id="the version was told of"),
        pytest.param("8", [kinds.CLUSTER_SERVICE_VERSION.ref("op.v1", "ns")], id="an older version was told of"),
    ],
)
def test_it_enqueues_for_what_nobody_told_of(seen: str, enqueued: list[Ref]) -> None:
    csv, group, namespace = a_csv(), a_group(), a_namespace("ns")
    journal = RememberingJournal((Ref.of(csv), seen), (Ref.of(group), "7"), (Ref.of(namespace), ""))

    outcome = audit_cluster(ANYTHING, a_list_of(csv, group, namespace), journal)

    assert outcome.writes == ()
    assert outcome.emits == tuple(Emit(names.DEPENDENT_CHANGED, ref) for ref in enqueued)


def test_roles_of_strangers_are_none_of_its_business() -> None:
    inventory = a_list_of(a_role("theirs"), a_role("ours", **{names.MANAGED: "true"}))

    assert audit_cluster(ANYTHING, inventory, RememberingJournal()).emits == (
        Emit(names.DEPENDENT_CHANGED, kinds.ROLE.ref("ours", "ns")),
    )
