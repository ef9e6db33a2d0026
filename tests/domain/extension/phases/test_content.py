"""Phases, digests, Secrets and the ClusterObjectSet made of them (v1.md §21.2–21.4, §21.6)."""

from __future__ import annotations

import base64
import gzip
import random
from collections.abc import Sequence
from hashlib import sha256
from typing import Any

import pytest

from shared import names
from shared.domain.extension.model import Identity
from shared.domain.extension.phases import packing
from shared.domain.extension.phases.digest import difference, phase_digest
from shared.domain.extension.phases.order import AWAITED, MOST_PHASES, PHASES, Phase, phase_of, phase_sort
from shared.domain.extension.phases.packing import Owner, TooLarge, Unreadable, pack, unpack
from shared.domain.extension.phases.probes import DEFAULT_PROBES
from shared.domain.extension.phases.revision import (
    Content,
    desired,
    newest_active,
    next_number,
    phases_of,
    previous,
    revision_metadata,
    siblings,
    superfluous,
)
from shared.domain.semver import parse_version
from shared.domain.semver.release import parse_release

Object = dict[str, Any]
OWNER = Owner("e-1", "e", "olmv1-system")


def an_object(kind: str = "ConfigMap", name: str = "a", namespace: str = "", api: str = "v1", **more: Any) -> Object:
    meta = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": meta, **more}


def phases(*objects: Object) -> tuple[Phase, ...]:
    return (Phase("deploy", objects),)


@pytest.mark.parametrize("name", PHASES)
def test_v1_md_21_3_every_kind_of_every_phase(name: str) -> None:
    for group, kind in PHASES[name]:
        assert phase_of(an_object(kind, api=f"{group}/v1" if group else "v1")) == name
        assert phase_of(an_object(kind, api="else.where/v1")) == "deploy"


def test_v1_md_21_3_phases_come_in_order_and_empty_ones_not_at_all() -> None:
    everything = [an_object(kind, api=f"{group}/v1") for listed in PHASES.values() for group, kind in listed]
    assert [phase.name for phase in phase_sort(reversed(everything))] == list(PHASES)
    assert [phase.name for phase in phase_sort(everything[:1])] == ["namespaces"]
    assert phase_sort([]) == ()


@pytest.mark.parametrize(
    ("first", "second"),
    [
        pytest.param(an_object("X", api="a.io/v1"), an_object("X", api="b.io/v1"), id="v1.md 21.3: by group"),
        pytest.param(an_object("X", api="a.io/v1"), an_object("X", api="a.io/v2"), id="v1.md 21.3: then version"),
        pytest.param(an_object("X"), an_object("Y"), id="v1.md 21.3: then kind"),
        pytest.param(an_object("X", "b"), an_object("X", "a", "n"), id="v1.md 21.3: without namespace first"),
        pytest.param(an_object("X", "b", "m"), an_object("X", "a", "n"), id="v1.md 21.3: then namespace"),
        pytest.param(an_object("X", "a", "n"), an_object("X", "b", "n"), id="v1.md 21.3: then name"),
    ],
)
def test_the_order_inside_a_phase(first: Object, second: Object) -> None:
    assert phase_sort([second, first]) == phase_sort([first, second]) == (Phase("deploy", (first, second)),)


def test_v1_md_21_6_digests() -> None:
    one, other = an_object(name="a"), an_object(name="b")
    digest = phase_digest(Phase("deploy", (one, other)))
    assert digest == phase_digest(Phase("deploy", (dict(reversed(one.items())), other)))
    assert digest.startswith("sha256:")
    others = {phase_digest(Phase("deploy", (other, one))), phase_digest(Phase("crds", (one, other)))}
    assert len({digest, *others}) == 3
    text = b'{"name":"deploy","objects":[]}'
    assert phase_digest(Phase("deploy", ())) == f"sha256:{sha256(text).hexdigest()}"


@pytest.mark.parametrize(
    ("stored", "current", "want"),
    [
        pytest.param({"a": "1"}, {"a": "1"}, "", id="v1.md 21.6: observed phases match"),
        pytest.param(
            {}, {"a": "1"}, "stored observedPhases is unexpectedly empty", id="v1.md 21.6: nothing was stored"
        ),
        pytest.param(
            {"a": "1"}, {}, "number of phases has changed (expected 1 phases, got 0)", id="v1.md 21.6: another count"
        ),
        pytest.param(
            {"a": "1", "b": "2", "c": "3"},
            {"a": "9", "b": "8", "c": "3"},
            'resolved content of 2 phase(s) has changed: phase "a" (expected digest 1, got 9); '
            'phase "b" (expected digest 2, got 8); '
            "a referenced object source may have been deleted and recreated with different content",
            id="v1.md 21.6: two changed",
        ),
    ],
)
def test_how_digests_differ(stored: dict[str, str], current: dict[str, str], want: str) -> None:
    assert difference(stored, current) == want


def content_of(secret: Object, key: str) -> Object:
    return unpack(base64.b64decode(secret["data"][key]), key, "s/n")


def noise(size: int) -> str:
    """Text that does not shrink by much."""
    return base64.b64encode(random.Random(size).randbytes(size)).decode()


def test_v1_md_21_4_packer_empty() -> None:
    assert pack((), OWNER) == packing.Packed((), ())


def test_v1_md_21_4_packer_objects_lie_where_their_references_say() -> None:
    one, other, again = an_object(name="a"), an_object("Secret"), an_object(name="a")
    packed = pack((Phase("configuration", (one, other)), Phase("deploy", (again,))), OWNER)
    [secret] = packed.secrets
    assert [[content_of(secret, place["key"]) for place in row] for row in packed.references] == [[one, other], [one]]
    assert len(secret["data"]) == 2, "duplicates share"
    assert {len(key) for key in secret["data"]} == {43}, "key format"
    assert {(place["name"], place["namespace"]) for row in packed.references for place in row} == {
        (secret["metadata"]["name"], "olmv1-system")
    }
    assert secret["immutable"]
    assert secret["type"] == "olm.operatorframework.io/object-data"
    assert secret["metadata"]["labels"] == {names.V1_REVISION_NAME: "e-1", names.V1_OWNER_NAME: "e"}
    assert len(secret["metadata"]["name"]) == len("e-1-") + 16
    assert pack((Phase("configuration", (one, other)), Phase("deploy", (again,))), OWNER) == packed, "deterministic"


def test_v1_md_21_4_packer_a_full_secret_is_followed_by_another() -> None:
    large = [an_object(name=name, text=noise(400_000)) for name in "ab"]
    packed = pack(phases(*large), OWNER)
    assert len(packed.secrets) == 2
    assert [place["name"] for place in packed.references[0]] == [one["metadata"]["name"] for one in packed.secrets]


def test_v1_md_21_4_packer_large_ones_are_compressed() -> None:
    large = an_object(text="x" * 2_000_000)
    packed = pack(phases(large), OWNER)
    [place] = packed.references[0]
    assert base64.b64decode(packed.secrets[0]["data"][place["key"]]).startswith(b"\x1f\x8b")
    assert content_of(packed.secrets[0], place["key"]) == large


def test_v1_md_21_4_packer_what_stays_too_large_is_refused() -> None:
    with pytest.raises(TooLarge, match=r"^object in phase 0 index 1 exceeds maximum Secret data size \(\d+ bytes > "):
        pack(phases(an_object(), an_object(text=noise(2_000_000))), OWNER)


@pytest.mark.parametrize(
    ("stored", "why"),
    [
        pytest.param(b"{", "unmarshaling object from key", id="v1.md 21.6: bad JSON"),
        pytest.param(b"[]", "it is no object", id="v1.md 21.6: no object"),
        pytest.param(b"\x1f\x8b" + b"\xff" * 20, "decompressing data for key", id="v1.md 21.6: no gzip"),
        pytest.param(gzip.compress(b"{}" * 99)[:-9], "unexpected EOF", id="v1.md 21.6: half of a gzip"),
        pytest.param(
            gzip.compress(b" " * (packing.LARGEST + 1)),
            r"exceeds maximum size \(10485760 bytes\)",
            id="v1.md 21.6: a bomb",
        ),
    ],
)
def test_what_cannot_be_unpacked(stored: bytes, why: str) -> None:
    with pytest.raises(Unreadable, match=why):
        unpack(stored, "k", "s/n")


EXTENSION: Object = {"metadata": {"name": "e", "uid": "u"}, "spec": {"progressDeadlineMinutes": 10}}
ROLE = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "a",
        "namespace": "n",
        "creationTimestamp": None,
        "labels": {"mine": "1"},
        "annotations": {names.LAST_APPLIED: "{}", "mine": "2"},
    },
    "status": {},
}


def content(*, annotations: dict[str, str] | None = None, has_releases: bool = False) -> Content:
    identity = Identity(parse_version("1.0.0"), parse_release("2"))
    return Content("p", "p.v1", identity, "i/p", (ROLE,), annotations or {}, has_releases)


def test_v1_md_21_2_labels_and_annotations_on_objects() -> None:
    [phase] = phases_of(EXTENSION, content())
    owner = {"olm.operatorframework.io/owner-kind": "ClusterExtension", "olm.operatorframework.io/owner-name": "e"}
    declared = {
        "olm.operatorframework.io/bundle-version": "1.0.0+2",
        "olm.operatorframework.io/package-name": "p",
        "mine": "2",
    }
    meta = {"name": "a", "namespace": "n", "labels": {"mine": "1", **owner}, "annotations": declared}
    assert phase == Phase("configuration", ({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta},))


def test_v1_md_21_4_first_revision() -> None:
    packed = pack(phases_of(EXTENSION, content()), OWNER)
    made = desired(EXTENSION, content(annotations={"olm.properties": "[]", "createdAt": "now"}), packed)
    [place] = packed.references[0]
    assert made["spec"] == {
        "lifecycleState": "Active",
        "revision": 1,
        "collisionProtection": "Prevent",
        "progressionProbes": list(DEFAULT_PROBES),
        "phases": [{"name": "configuration", "objects": [{"ref": place}]}],
        "progressDeadlineMinutes": 10,
    }
    assert made["metadata"]["name"] == "e-1"
    assert made["metadata"]["annotations"] == {
        names.V1_BUNDLE_NAME: "p.v1",
        names.V1_PACKAGE_NAME: "p",
        names.V1_BUNDLE_VERSION: "1.0.0+2",
        names.V1_BUNDLE_REFERENCE: "i/p",
        "olm.properties": "[]",
    }, "v1.md 21.2: properties copied, other annotations not"
    [owner] = made["metadata"]["ownerReferences"]
    assert (owner["kind"], owner["uid"], owner["controller"], owner["blockOwnerDeletion"]) == (
        "ClusterExtension", "u", True, True,
    )  # fmt: skip


def test_v1_md_21_2_properties_absent_and_deadline_only_when_set() -> None:
    made = desired({"metadata": {"name": "e"}}, content(), pack(phases_of(EXTENSION, content()), OWNER), number=3)
    assert "olm.properties" not in made["metadata"]["annotations"]
    assert "progressDeadlineMinutes" not in made["spec"]
    assert (made["metadata"]["name"], made["spec"]["revision"]) == ("e-3", 3)


def test_v1_md_14_the_release_is_recorded_behind_its_gate() -> None:
    declared = revision_metadata(content(has_releases=True))
    assert (declared[names.V1_BUNDLE_VERSION], declared[names.V1_BUNDLE_RELEASE]) == ("1.0.0", "2")


def revision(number: int, *, state: str = "Active", owner: str | None = "e", **meta: Any) -> Object:
    labels = {} if owner is None else {names.V1_OWNER_NAME: owner}
    return {
        "metadata": {"name": f"{owner}-{number}", "labels": labels, **meta},
        "spec": {"revision": number, "lifecycleState": state},
    }


def numbers(found: Sequence[Any]) -> list[int]:
    return [one["spec"]["revision"] for one in found]


def test_v1_md_21_6_siblings_and_previous() -> None:
    me = revision(3)
    others = [
        revision(1), revision(2, state="Archived"), me, revision(4), revision(5, owner="f"),
        revision(6, deletionTimestamp="2026-01-01T00:00:00Z"),
    ]  # fmt: skip
    assert numbers(siblings(me, others)) == [1, 4]
    assert numbers(previous(me, others)) == [1]
    assert siblings(revision(3, owner=None), [*others, revision(4, owner=None)]) == ()


def test_v1_md_21_4_six_archived_then_the_oldest_goes() -> None:
    listed = [revision(number, state="Archived") for number in range(6, 0, -1)]
    assert superfluous(listed) == ("e-1",)
    assert superfluous(listed[1:]) == ()


def test_v1_md_21_4_active_ones_beyond_the_limit_survive() -> None:
    listed = [revision(1), revision(2, state="Archived"), *(revision(number) for number in range(3, 8))]
    assert superfluous(listed) == ("e-2",)


def test_numbers_go_on() -> None:
    assert next_number([]) == 1
    assert next_number([revision(2, state="Archived"), revision(1)]) == 3
    assert newest_active([revision(1), revision(2), revision(3, state="Archived")]) == revision(2)
    assert newest_active([revision(3, state="Archived")]) is None


def test_v1_md_21_5_what_is_awaited_is_what_a_probe_is_about() -> None:
    selectors = [one["selector"]["groupKind"] for one in DEFAULT_PROBES]
    assert {(one.get("group", ""), one["kind"]) for one in selectors} == AWAITED


def _many(kind: str, api: str, count: int) -> list[dict[str, Any]]:
    return [{"apiVersion": api, "kind": kind, "metadata": {"name": f"n{one:04}"}} for one in range(count)]


def test_phases_are_filled_with_the_next_kinds_where_they_would_be_too_many() -> None:
    accounts, maps = _many("ServiceAccount", "v1", 460), _many("ConfigMap", "v1", 460)
    definitions = _many("CustomResourceDefinition", "apiextensions.k8s.io/v1", 1)
    roles = _many("Role", "rbac.authorization.k8s.io/v1", 5)
    found = phase_sort([*roles, *definitions, *maps, *accounts])
    assert [phase.name for phase in found[8:12]] == ["identity-9", "identity-10", "configuration", "configuration-2"]
    assert {one["kind"] for one in found[9].objects} == {"ServiceAccount", "ConfigMap"}
    assert [one["kind"] for one in found[-2].objects][-1] == "CustomResourceDefinition", "roles wait for it"
    assert {one["kind"] for one in found[-1].objects} == {"Role"}
    assert len({phase.name for phase in found}) == len(found) <= MOST_PHASES


def test_a_thousand_objects_are_twenty_phases_whatever_they_are() -> None:
    definitions = _many("CustomResourceDefinition", "apiextensions.k8s.io/v1", 333)
    deployments, maps = _many("Deployment", "apps/v1", 334), _many("ConfigMap", "v1", 333)
    found = phase_sort([*deployments, *definitions, *maps])
    assert [len(phase.objects) for phase in found] == [50] * MOST_PHASES
    assert [one["kind"] for phase in found for one in phase.objects] == [
        one["kind"] for one in [*maps, *definitions, *deployments]
    ], "in the order of the phases"
