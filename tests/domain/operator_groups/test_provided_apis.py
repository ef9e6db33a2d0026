from __future__ import annotations

import pytest

from shared.api.views import Csv, OperatorGroup
from shared.domain.operator_groups.group import ALL, Api, Group, NamespaceSet, meet, parse_apis, render_apis
from shared.domain.operator_groups.provided_apis import (
    CONFLICT_MESSAGE,
    CONFLICT_REASON,
    STATIC_MESSAGE,
    STATIC_REASON,
    Agreed,
    Announce,
    Intersection,
    Refused,
    apis_of,
    intersection,
    updated,
)

GOOSE = "Goose.v1alpha1.birds.com"
EGRET = "Egret.v1alpha1.birds.com"
MOOSE = "Moose.v1alpha1.mammals.com"
BIRD_MOOSE = "Moose.v1alpha1.birds.com"
COW = "Cow.v1alpha1.mammals.com"
GOAT = "Goat.v1alpha1.mammals.com"
CONFLICT = Refused(CONFLICT_REASON, CONFLICT_MESSAGE)
STATIC = Refused(STATIC_REASON, STATIC_MESSAGE)


def own(targets: str, provided: str = "", *, is_static: bool = False, created: str = "2026-01-02T00:00:00Z") -> Group:
    return Group("ns", "g1", tuple(targets.split(",")), provided, is_static, created)


def other(text: str) -> Group:
    """`namespace:target,target:api,api[:static]`; `all` for all namespaces. Older than `own`."""
    namespace, targets, apis, *is_static = text.split(":")
    selected = tuple("" if target == "all" else target for target in targets.split(","))
    return Group(namespace, "other", selected, apis, bool(is_static), "2026-01-01T00:00:00Z")


def joined(*apis: str) -> str:
    return ",".join(sorted(apis))


@pytest.mark.parametrize(
    ("provided", "group", "others", "want"),
    [
        pytest.param("", own("ns"), [], Agreed(), id="csv.md 18.10 row 163: provides nothing"),
        pytest.param(
            GOOSE, own("ns-1", GOOSE), [f"ns-2:ns-3:{GOOSE}"], Agreed(), id="csv.md 18.10 row 164: disjoint namespaces"
        ),
        pytest.param(GOOSE, own("ns-1", GOOSE), [f"ns-2:ns-1:{MOOSE}"], Agreed(), id="csv.md 18.10 row 165: other API"),
        pytest.param(
            GOOSE,
            own("ns-1", GOOSE),
            [f"ns-2:ns-1:{MOOSE}", f"ns-2:ns:{EGRET}"],
            Agreed(),
            id="csv.md 18.10 row 166: two others with other APIs",
        ),
        pytest.param(
            joined(GOOSE, MOOSE),
            own("ns-1,ns-2,ns-3", joined(GOOSE, MOOSE)),
            [f"ns-7:ns-4:{MOOSE}", f"ns-8:ns-5:{GOOSE}", f"ns-9:all:{GOAT}"],
            Agreed(),
            id="csv.md 18.10 row 167: several targets",
        ),
        pytest.param(GOOSE, own("", GOOSE), [f"ns-2:ns-1:{MOOSE}"], Agreed(), id="csv.md 18.10 row 168: we are global"),
        pytest.param(
            GOOSE, own("ns-1", GOOSE), [f"ns-2:all:{MOOSE}"], Agreed(), id="csv.md 18.10 row 169: they are global"
        ),
        pytest.param(
            GOOSE, own("", GOOSE), [f"ns-2:all:{MOOSE}"], Agreed(), id="csv.md 18.10 row 170: both are global"
        ),
        pytest.param(
            GOOSE, own("ns-1", GOOSE), ["ns-2:ns-1:"], Agreed(), id="csv.md 18.10 row 171: they provide nothing"
        ),
        pytest.param(GOOSE, own("ns-1"), [f"ns-2:ns-1:{GOOSE}"], CONFLICT, id="csv.md 18.10 row 172: same API"),
        pytest.param(GOOSE, own(""), [f"ns-2:ns-1:{GOOSE}"], CONFLICT, id="csv.md 18.10 row 173: we are global"),
        pytest.param(GOOSE, own("ns-1"), [f"ns-2:all:{GOOSE}"], CONFLICT, id="csv.md 18.10 row 174: they are global"),
        pytest.param(GOOSE, own(""), [f"ns-2:all:{GOOSE}"], CONFLICT, id="csv.md 18.10 row 175: both are global"),
        pytest.param(
            GOOSE,
            own("ns-1"),
            [f"ns-2:ns-1:{BIRD_MOOSE}", f"ns-3:ns-1:{joined(GOOSE, EGRET)}"],
            CONFLICT,
            id="csv.md 18.10 row 176: one of two others",
        ),
        pytest.param(
            GOOSE,
            own("ns-1"),
            [f"ns-3:ns:{joined(GOOSE, EGRET)}"],
            CONFLICT,
            id="csv.md 18.10 row 177: they target our operator namespace",
        ),
        pytest.param(
            GOOSE, own("ns-1"), [f"ns-2:ns-2:{GOOSE}"], Announce(GOOSE), id="csv.md 18.10 row 178: disjoint namespaces"
        ),
        pytest.param(GOOSE, own("ns-1"), [f"ns-2:ns-1:{MOOSE}"], Announce(GOOSE), id="csv.md 18.10 row 179: other API"),
        pytest.param(
            GOOSE, own("ns-1"), [f"ns-2:ns:{MOOSE}"], Announce(GOOSE), id="csv.md 18.10 row 180: over our namespace"
        ),
        pytest.param(
            GOOSE,
            own(""),
            [f"ns-2:ns-1:{MOOSE}", f"ns-3:ns-1:{joined(GOAT, EGRET)}"],
            Announce(GOOSE),
            id="csv.md 18.10 row 181: we are global",
        ),
        pytest.param(
            GOOSE,
            own("ns-1"),
            [f"ns-2:all:{MOOSE}", f"ns-3:all:{GOAT}"],
            Announce(GOOSE),
            id="csv.md 18.10 row 182: two global groups",
        ),
        pytest.param(
            joined(GOOSE, COW),
            own("ns-1", COW),
            [f"ns-2:all:{MOOSE}", f"ns-3:all:{GOAT}"],
            Announce(joined(COW, GOOSE)),
            id="csv.md 18.10 row 183: partly annotated",
        ),
        pytest.param(
            GOOSE, own("ns-1", GOOSE), [f"ns-2:ns-1:{GOOSE}"], Announce(""), id="csv.md 18.10 row 184: both annotated"
        ),
        pytest.param(GOOSE, own("", GOOSE), [f"ns-2:ns-1:{GOOSE}"], Announce(""), id="csv.md 18.10 row 185: global"),
        pytest.param(
            GOOSE, own("", GOOSE), [f"ns-2:all:{GOOSE}"], Announce(""), id="csv.md 18.10 row 186: both global"
        ),
        pytest.param(
            GOOSE,
            own("ns-1", GOOSE),
            [f"ns-2:ns-1:{GOOSE}", f"ns-2:ns:{GOOSE}"],
            Announce(""),
            id="csv.md 18.10 row 187: two others",
        ),
        pytest.param(
            joined(GOOSE, MOOSE),
            own("ns-1,ns-2,ns-3", joined(GOOSE, MOOSE)),
            [f"ns-7:ns-4:{MOOSE}", f"ns-8:ns-5,ns-3:{GOOSE}", f"ns-9:all:{GOAT}"],
            Announce(""),
            id="csv.md 18.10 row 188: both are removed though one collides",
        ),
        pytest.param(GOOSE, own("ns-1", is_static=True), [], STATIC, id="csv.md 9.2: a static group adds nothing"),
        pytest.param(
            GOOSE,
            own("ns-1", GOOSE, is_static=True),
            [f"ns-2:ns-1:{GOOSE}:static"],
            STATIC,
            id="csv.md 9.2: a static group removes nothing",
        ),
        pytest.param(
            GOOSE,
            own("ns-1", GOOSE, created="2025-01-01T00:00:00Z"),
            [f"ns-2:ns-1:{GOOSE}:static"],
            Announce(""),
            id="csv.md 18.5 row 126: what an administrator added to a static group goes before age",
        ),
        pytest.param(
            GOOSE,
            own("ns-1", is_static=True),
            [f"ns-2:ns-1:{GOOSE}"],
            CONFLICT,
            id="csv.md 9.2: a static group that lost is told of the conflict",
        ),
        pytest.param(
            GOOSE, own("ns-1", GOOSE, is_static=True), [], Agreed(), id="csv.md 9.2: a static group that agrees"
        ),
        pytest.param(
            GOOSE,
            own("ns-1", GOOSE, created="2025-01-01T00:00:00Z"),
            [f"ns-2:ns-1:{GOOSE}"],
            Agreed(),
            id="csv.md 9.2: of two that tell of an API the older one keeps it",
        ),
    ],
)
def test_intersection(provided: str, group: Group, others: list[str], want: Intersection) -> None:
    assert intersection(parse_apis(provided), group, [other(text) for text in others]) == want


@pytest.mark.parametrize(
    ("left", "permissions", "want"),
    [
        pytest.param(("ns", ""), [], [], id="csv.md 18.10 row 189: no targets, no others"),
        pytest.param(("ns", "ns-1"), ["ns-2:ns-1"], [0], id="csv.md 18.10 row 190: same target"),
        pytest.param(("ns", "ns-1"), ["ns-2:ns"], [0], id="csv.md 18.10 row 191: our operator namespace"),
        pytest.param(("ns", "ns-1"), ["ns:ns-2"], [0], id="csv.md 18.10 row 192: same operator namespace"),
        pytest.param(("ns", "ns-1"), ["ns-2:ns-1", "ns-3:ns-1"], [0, 1], id="csv.md 18.10 row 193: two of them"),
        pytest.param(("ns", "ns-1"), ["ns-2:ns-3"], [], id="csv.md 18.10 row 194: disjoint"),
        pytest.param(("ns", "all"), ["ns-2:ns-3", "ns-4:"], [0], id="csv.md 18.10 row 195: we are global"),
        pytest.param(
            ("ns", "ns-1,ns-2,ns-3"), ["ns-4:ns-5", "ns-6:all"], [1], id="csv.md 18.10 row 196: one of them is global"
        ),
        pytest.param(("ns", "all"), ["ns-2:all", "ns-3:ns-4"], [0, 1], id="csv.md 18.10 row 197: global and others"),
        pytest.param(("ns", "all"), ["ns-2:all"], [0], id="csv.md 18.10 row 198: both are global"),
    ],
)
def test_groups_meet(left: tuple[str, str], permissions: list[str], want: list[int]) -> None:
    def a_group(namespace: str, targets: str, name: str) -> Group:
        selected = tuple("" if target == "all" else target for target in targets.split(",")) if targets else None
        return Group(namespace, name, selected)

    one = a_group(*left, "left")
    others = [
        a_group(namespace, targets, f"right-{number}")
        for number, (namespace, targets) in enumerate(text.split(":") for text in permissions)
    ]

    assert [number for number, group in enumerate(others) if one.meets(group)] == want
    assert not one.meets(one)


@pytest.mark.parametrize(
    ("left", "right", "both"),
    [
        pytest.param(ALL, frozenset("a"), frozenset("a"), id="csv.md 18.5 row 123: all and one"),
        pytest.param(ALL, frozenset(), frozenset(), id="csv.md 18.5 row 123: all and nothing"),
        pytest.param(ALL, ALL, ALL, id="csv.md 18.5 row 123: all and all"),
        pytest.param(frozenset("ab"), frozenset("bc"), frozenset("b"), id="csv.md 18.5 row 123: some"),
    ],
)
def test_namespace_sets(left: NamespaceSet, right: NamespaceSet, both: NamespaceSet) -> None:
    assert (meet(left, right), meet(right, left)) == (both, both)


@pytest.mark.parametrize(
    ("group", "want"),
    [
        pytest.param(Group("ns", "g"), frozenset(), id="csv.md 18.5 row 122: no targets"),
        pytest.param(Group("ns", "g", ()), frozenset(), id="csv.md 18.5 row 122: selects nothing"),
        pytest.param(Group("ns", "g", ("a",)), frozenset({"a", "ns"}), id="csv.md 18.5 row 122: one target and own"),
        pytest.param(Group("ns", "g", ("ns",)), frozenset({"ns"}), id="csv.md 18.5 row 122: own only"),
        pytest.param(Group("ns", "g", ("a", "b")), frozenset({"a", "b", "ns"}), id="csv.md 18.5 row 122: several"),
        pytest.param(Group("ns", "g", ("",)), ALL, id="csv.md 18.5 row 122: global"),
    ],
)
def test_namespaces_of_a_group(group: Group, want: NamespaceSet) -> None:
    assert group.namespaces == want


def test_an_api_that_no_annotation_can_name_counts_for_nobody() -> None:
    """Otherwise its version would wait for the annotation for ever, and never say that its requirement is wrong."""
    owned = [{"name": "gooses.birds.com", "version": f"{prefix}v1alpha1", "kind": "Goose"} for prefix in ("", "x.io/")]
    csv = Csv({"spec": {"customresourcedefinitions": {"owned": owned}}})
    assert apis_of(csv) == {Api("birds.com", "v1alpha1", "Goose")}


def test_an_annotation_is_read_with_care() -> None:
    """csv.md 18.5 row 122: malformed items are ignored, others kept; blanks are removed."""
    assert parse_apis(f"Goose.v1alpha1, {GOOSE},,") == {Api("birds.com", "v1alpha1", "Goose")}
    assert render_apis(parse_apis(f"{MOOSE},{GOOSE}")) == f"{GOOSE},{MOOSE}"


def test_a_group_is_read_from_its_object() -> None:
    manifest = {
        "metadata": {
            "name": "g",
            "namespace": "ns",
            "uid": "u",
            "creationTimestamp": "2026-01-01T00:00:00Z",
            "annotations": {"olm.providedAPIs": GOOSE},
        },
        "spec": {"staticProvidedAPIs": True},
        "status": {"namespaces": ["b", "a"]},
    }

    assert Group.of(OperatorGroup(manifest)) == Group("ns", "g", ("a", "b"), GOOSE, True, "2026-01-01T00:00:00Z", "u")
    assert Group.of(OperatorGroup(manifest)).annotation == "a,b"
    assert Group.of(OperatorGroup({**manifest, "status": {}})).targets is None


def test_a_target_that_no_namespace_can_be_called_is_not_two_of_them() -> None:
    assert Group("ns", "g", ("a,victim", "b")).annotation == "a%2Cvictim,b"
    assert Group("ns", "g", ("",)).annotation == "", "all namespaces"


def test_apis_of_a_version() -> None:
    """csv.md 9.1: Kind.version.group, the plural ignored; csv.md 2.1: entries of one service collapse to the last."""
    csv = {
        "spec": {
            "customresourcedefinitions": {
                "owned": [{"name": "geese.birds.com", "version": "v1alpha1", "kind": "Goose"}]
            },
            "apiservicedefinitions": {
                "owned": [
                    {"name": "cows", "version": "v1", "group": "m.com", "kind": "Cow"},
                    {"name": "goats", "version": "v1", "group": "m.com", "kind": "Goat"},
                ]
            },
        }
    }

    assert render_apis(apis_of(Csv(csv))) == f"Goat.v1.m.com,{GOOSE}"
    assert apis_of(Csv({"spec": {"customresourcedefinitions": None}})) == frozenset()


@pytest.mark.parametrize(
    ("group", "others", "members", "kept", "want"),
    [
        pytest.param(own("a"), [], [GOOSE, MOOSE], joined(GOOSE, MOOSE), joined(GOOSE, MOOSE), id="csv.md 9.2: added"),
        pytest.param(own("a", joined(COW, GOOSE)), [], [GOOSE], GOOSE, GOOSE, id="csv.md 8.3 step 9: pruned"),
        pytest.param(own("a", COW), [], [], "", "", id="csv.md 8.3 step 9: empty text when nothing is left"),
        pytest.param(
            own("a", COW, is_static=True), [], [], "", COW, id="csv.md 18.5 row 117: a static annotation is kept"
        ),
        pytest.param(own("a", GOOSE), [f"b:a:{GOOSE}"], [GOOSE], GOOSE, "", id="csv.md 9.2: withdrawn"),
        pytest.param(
            own("a"), [f"b:a:{GOOSE}"], [GOOSE, COW], joined(GOOSE, COW), COW, id="csv.md 9.2: a loser adds nothing"
        ),
        pytest.param(
            own("a", f"{MOOSE},{GOOSE}"), [], [GOOSE], joined(GOOSE, MOOSE), f"{MOOSE},{GOOSE}", id="the order is kept"
        ),
    ],
)
def test_updated_annotation(group: Group, others: list[str], members: list[str], kept: str, want: str) -> None:
    provided = [parse_apis(text) for text in members]

    assert updated(group, [other(text) for text in others], provided, kept=parse_apis(kept)) == want
