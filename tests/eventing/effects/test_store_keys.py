"""Private keys come into a Secret here, and get nowhere else."""

from __future__ import annotations

import base64
import gzip
import json
from datetime import UTC, datetime
from typing import Any

import pytest

from eventing.effects import Effects
from eventing.journal.recorder import Recorder
from eventing.runner import Runner
from eventing.workqueue import Claim
from shared.adapters.keys import StoredKeys, x509
from shared.adapters.keys.stored import public_part
from shared.api.manifest import Manifest
from shared.kinds import SECRET, Ref
from shared.ports import Clock, Cluster, Keys
from shared.step import Outcome, StoreKeys
from tests.kit.one_step import OneStep
from tests.kit.world import World

REF = SECRET.ref("cert", "ns")
HOSTS = ("a.ns",)
MANIFEST: Manifest = {
    "apiVersion": "v1", "kind": "Secret", "metadata": {"name": "cert", "namespace": "ns"}, "type": "kubernetes.io/tls",
}  # fmt: skip


def store(ref: Ref, clock: Clock, keys: Keys) -> Outcome:
    """A step that stores a new certificate."""
    pair = keys.issue(HOSTS, clock.now())
    texts = {"tls.crt": pair.certificate, "olmCAKey": pair.authority}
    return Outcome((StoreKeys(MANIFEST, texts, {"tls.key": pair.key}),), summary=str(keys.stored(ref)))


def a_world() -> World:
    world = World()
    world.objects.setdefault_namespace("ns")
    return world


def run(world: World) -> bytes:
    """The record of one run."""
    keys = StoredKeys(world)
    runner = Runner({Keys: keys, Cluster: world}, world.api, world, steps=OneStep(store), recorder=Recorder(b"0" * 16))
    return runner.run(Claim("x/store", REF, "x", "direct", 1), lambda *_: True).record


def forms(private: bytes) -> dict[str, bytes]:
    """A key as it may stand somewhere."""
    lines = private.decode().splitlines()
    body = "".join(lines[1:-1])
    return {
        "text": lines[1].encode(), "one line": body[:60].encode(), "DER": base64.b64decode(body)[:40],
        "base64": base64.b64encode(private)[40:100], "JSON": json.dumps(private.decode())[40:100].encode(),
    }  # fmt: skip


def test_no_private_key_is_in_the_record_of_a_run() -> None:
    world = a_world()
    record = run(world)
    plain = record if record.startswith(b"{") else __import__("zlib").decompress(record)
    secret = world.objects[REF]["data"]
    private = base64.b64decode(secret["tls.key"])
    assert private.startswith(b"-----BEGIN EC PRIVATE KEY")
    certificate = base64.b64decode(secret["tls.crt"]).decode().splitlines()[1].encode()
    assert certificate in plain, "what is public is told, so that a replay decides the same"
    assert [name for name, form in forms(private).items() if form in plain or form in record] == []
    assert gzip.compress(private)[:20] not in plain


def effects(world: World) -> Effects:
    return Effects(world.api, world, StoredKeys(world).keyring)


def test_a_key_that_is_stored_may_move_in_its_secret() -> None:
    """As in a rotation: what followed is in use from now on."""
    world = a_world()
    run(world)
    present = world.objects[REF]
    pair = public_part(present).content.pair
    version = present["metadata"]["resourceVersion"]
    moved = {**MANIFEST, "metadata": {**MANIFEST["metadata"], "resourceVersion": version}}
    texts = {"tls.crt": pair.certificate, "olmCAKey": pair.authority}
    write = StoreKeys(moved, texts, {"tls.key": pair.key, "olmf-next.key": pair.key})
    done = effects(world).perform((write,), {}, lambda: True)
    assert done.is_complete
    data = world.objects[REF]["data"]
    assert data["olmf-next.key"] == data["tls.key"] == present["data"]["tls.key"]


@pytest.mark.parametrize("version", ["", "1"])
def test_a_secret_that_came_or_changed_meanwhile_is_a_conflict(version: str) -> None:
    world = a_world()
    run(world)
    before = world.objects[REF]
    meta: dict[str, Any] = {**MANIFEST["metadata"], **({"resourceVersion": version} if version else {})}
    pair, _ = x509.issue(HOSTS, datetime(2026, 1, 1, tzinfo=UTC))
    write = StoreKeys({**MANIFEST, "metadata": meta}, {"tls.crt": pair.certificate}, {"tls.key": pair.key})
    done = effects(world).perform((write,), {}, lambda: True)
    assert done.failure
    assert done.failure.kind == "conflict"
    assert world.objects[REF] == before


def test_a_key_that_is_stored_is_forgotten() -> None:
    world, now = a_world(), datetime(2026, 1, 1, tzinfo=UTC)
    keys = StoredKeys(world)
    pair = keys.issue(HOSTS, now)
    write = StoreKeys(MANIFEST, {"tls.crt": pair.certificate}, {"tls.key": pair.key})
    assert keys.keyring.private(pair.key)
    assert Effects(world.api, world, keys.keyring).perform((write,), {}, lambda: True).is_complete
    assert keys.keyring.private(pair.key) is None


def test_what_others_added_to_a_secret_stays() -> None:
    """Of the keys that are ours nothing stays that is not wanted, and the keys of others are not looked into."""
    world = a_world()
    run(world)
    with world.edited(REF) as edited:
        edited["metadata"] |= {
            "finalizers": ["example.com/theirs"], "annotations": {"theirs": "1", "both": "old"}, "labels": {"l": "1"},
        }  # fmt: skip
        key = edited["data"]["tls.key"]
        edited["data"] |= {"theirs": "eA==", "olmf-former-ca.crt": "eA==", "binary": "/w=="}
    present = world.objects[REF]
    pair = public_part(present).content.pair
    meta = {"resourceVersion": present["metadata"]["resourceVersion"], "annotations": {"both": "new"}}
    manifest = {**MANIFEST, "metadata": {**MANIFEST["metadata"], **meta}}
    write = StoreKeys(manifest, {"tls.crt": pair.certificate}, {"tls.key": pair.key})
    assert effects(world).perform((write,), {}, lambda: True).is_complete
    found = world.objects[REF]
    assert found["metadata"]["finalizers"] == ["example.com/theirs"]
    assert found["metadata"]["annotations"] == {"theirs": "1", "both": "new"}
    assert found["metadata"]["labels"] == {"l": "1"}
    assert sorted(found["data"]) == ["binary", "theirs", "tls.crt", "tls.key"]
    assert (found["data"]["theirs"], found["data"]["tls.key"]) == ("eA==", key)


def test_a_key_in_a_value_that_is_not_ours_is_not_looked_for() -> None:
    world = a_world()
    run(world)
    with world.edited(REF) as edited:
        edited["data"] = {**edited["data"], "theirs": edited["data"]["tls.key"], "tls.key": "eA=="}
    present = world.objects[REF]
    handle = x509.handle_of_pem(base64.b64decode(present["data"]["theirs"]))
    meta = {**MANIFEST["metadata"], "resourceVersion": present["metadata"]["resourceVersion"]}
    write = StoreKeys({**MANIFEST, "metadata": meta}, {}, {"tls.key": handle})
    done = effects(world).perform((write,), {}, lambda: True)
    assert done.failure
    assert done.failure.kind == "conflict"
