"""What an account may not see is not there for it, and why is kept."""

from __future__ import annotations

from typing import Any

from shared import kinds
from shared.api.manifest import Manifest
from shared.kinds import Kind, Ref
from shared.ports import Denied
from shared.reading.acting import ActingReads
from tests.kit.cluster import FakeCluster

ACCOUNT = kinds.SERVICE_ACCOUNT.ref("installer", "team")
SEEN, HIDDEN = kinds.CONFIG_MAP.ref("seen", "team"), kinds.SECRET.ref("hidden", "team")


class OnlyConfigMaps:
    """Implements `Accounts`: every account may read ConfigMaps and nothing else."""

    def __init__(self, cluster: FakeCluster) -> None:
        self._cluster = cluster

    def get(self, ref: Ref, account: Ref | None) -> Any:
        assert account == ACCOUNT
        return self._cluster.get(ref) if ref.kind == SEEN.kind else Denied(f"may not read {ref.kind}")

    def list(self, kind: Kind, namespace: str, account: Ref | None) -> Any:
        assert account == ACCOUNT
        return self._cluster.list(kind, namespace) if kind.kind == SEEN.kind else Denied(f"may not list {kind.kind}")

    def refusal(self, manifest: Manifest, account: Ref | None) -> Denied | None:
        assert account == ACCOUNT
        return None if manifest["kind"] == SEEN.kind else Denied(str(manifest["metadata"]))

    def allows(self, access: Manifest) -> bool:
        raise NotImplementedError(access)


def reads(account: Ref | None) -> ActingReads:
    objects: tuple[dict[str, Any], ...] = tuple(
        {"apiVersion": ref.api_version, "kind": ref.kind, "metadata": {"name": ref.name, "namespace": ref.namespace}}
        for ref in (SEEN, HIDDEN)
    )
    cluster = FakeCluster(objects)
    return ActingReads(cluster, OnlyConfigMaps(cluster), account)


def test_catalog_md_8_12_row_149_what_is_denied_is_not_there() -> None:
    found = reads(ACCOUNT)
    assert found.get(SEEN)
    assert found.get(HIDDEN) is None
    assert found.denied == {HIDDEN: "may not read Secret"}
    [maps, secrets] = found.list_all([kinds.CONFIG_MAP, kinds.SECRET], "team")
    assert (maps and len(maps), secrets) == (1, None)


def test_without_an_account_everything_is() -> None:
    found = reads(None)
    assert found.get(SEEN)
    assert found.get(HIDDEN)
    assert [len(listed or ()) for listed in found.list_all([kinds.CONFIG_MAP, kinds.SECRET], "team")] == [1, 1]
    secrets = found.list(kinds.SECRET)
    assert not isinstance(secrets, Denied)
    assert len(secrets) == 1
    assert found.denied == {}


def test_what_may_not_be_written_is_asked_without_owners_and_never_of_secrets() -> None:
    found = reads(ACCOUNT)
    meta = {"name": "a", "namespace": "team"}
    owned = {**meta, "ownerReferences": [{"kind": "ClusterServiceVersion", "name": "a.v1"}]}
    assert found.refusal({"kind": "Role", "metadata": owned}) == str(meta)
    assert found.refusal({"kind": "ConfigMap", "metadata": owned}) == ""
    assert found.refusal({"kind": "Secret", "metadata": owned}) == ""
    assert reads(None).refusal({"kind": "Role", "metadata": owned}) == ""
