"""Who satisfies a requirement, and in which order they are preferred (resolver.md §4, §6, §12.8, §12.10)."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.resolver.scenery import (
    DEPRECATED,
    GLOBAL,
    NOT,
    Blob,
    ask,
    bundle,
    catalog,
    channel,
    chosen,
    constraint,
    csv,
    entry,
    gives,
    line,
    needs,
    needs_package,
    package,
    prop,
    releases,
    sub,
    two_chains,
)

FORK = two_chains("b")
K = {"group": "g", "version": "v1", "kind": "K"}
L = K | {"kind": "L"}


def wants(*properties: Blob) -> list[Blob]:
    """Package `a`, whose only version has these requirements."""
    return package("a", [entry("a.v1")], v1=list(properties))


def offers(name: str, *properties: Blob, versions: int = 1) -> list[Blob]:
    """A package whose every version states these properties."""
    declared: Any = {f"v{number + 1}": list(properties) for number in range(versions)}
    return package(name, line(name, versions), **declared)


def of(answer: Any) -> list[str]:
    """Where the chosen ones come from."""
    places = sorted(f"{one['catalog']}/{one['channel']}/{one['name']}" for one in answer["operators"])
    return [answer["error"]] if answer["error"] else places


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(
            ask(catalog(wants(needs("K")), offers("b", gives("K"), versions=2)), subs=[sub("a")]),
            ["a.v1", "b.v2"],
            id="resolver.md 12 row 99: a dependency comes along, newest first",
        ),
        pytest.param(
            ask(catalog(wants(needs_package("b", "1.0.0")), offers("b", versions=3)), subs=[sub("a")]),
            ["a.v1", "b.v1"],
            id="resolver.md 12 row 134: a pinned package",
        ),
        pytest.param(
            ask(
                catalog(wants(needs("K")), offers("b", gives("K"), needs("L")), offers("c", gives("L"))),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v1", "c.v1"],
            id="resolver.md 12 row 135: dependencies of dependencies",
        ),
        pytest.param(
            ask(
                catalog(wants(prop("olm.label.required", label="x")), offers("b", prop("olm.label", label="x"))),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v1"],
            id="resolver.md 12 row 137: a label",
        ),
        pytest.param(
            ask(
                catalog(
                    wants(
                        constraint(
                            all={
                                "constraints": [
                                    {"package": {"packageName": "b", "versionRange": ">=1.0.0"}},
                                    {"gvk": K},
                                ]
                            }
                        )
                    ),
                    releases("b", 3, v1=[gives("K")], v2=[gives("K")]),
                ),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v2"],
            id="resolver.md 12 row 139: one bundle meets all",
        ),
        pytest.param(
            ask(
                catalog(wants(constraint(any={"constraints": [{"gvk": L}, {"gvk": K}]})), offers("b", gives("K"))),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v1"],
            id="resolver.md 12 row 140: any",
        ),
        pytest.param(
            ask(
                catalog(
                    wants(constraint(all={"constraints": [{"gvk": K}, {"not": {"constraints": [{"gvk": L}]}}]})),
                    releases("b", 2, v1=[gives("K")], v2=[gives("K"), gives("L")]),
                ),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v1"],
            id="resolver.md 12 row 141: an older bundle that lacks what is forbidden",
        ),
        pytest.param(
            ask(
                catalog(wants(constraint(any={"constraints": [{"not": {"constraints": [{"gvk": L}]}}, {"gvk": K}]}))),
                subs=[sub("a")],
            ),
            ["a.v1"],
            id="resolver.md 4.3: a negation alone is met by the bundle itself",
        ),
        pytest.param(
            ask(catalog(wants(constraint(all={"constraints": []}))), subs=[sub("a")]),
            ["a.v1"],
            id="resolver.md 12 row 176: all of nothing",
        ),
        pytest.param(
            ask(catalog(wants(constraint(any={}))), subs=[sub("a")]),
            [
                NOT
                + "bundle a.v1 requires an operator , subscription a exists, subscription a requires cat/ns/stable/a.v1"
            ],
            id="resolver.md 4.3: any of nothing is met by nobody",
        ),
        pytest.param(
            ask(catalog(wants(needs("K"), gives("K"))), subs=[sub("a")]), ["a.v1"], id="resolver.md 12 row 175: its own"
        ),
        pytest.param(
            ask(catalog(wants(needs("K")), offers("b", gives("K"))), subs=[sub("a")], csvs=[csv("x.v1", gives("K"))]),
            ["a.v1"],
            id="resolver.md 12 row 148: what is installed comes first",
        ),
        pytest.param(
            ask(
                catalog(wants(needs("K")), offers("b", gives("K")), offers("c", gives("K"))), subs=[sub("a"), sub("c")]
            ),
            ["a.v1", "c.v1"],
            id="resolver.md 12 row 190: a subscribed provider is used though ranked lower",
        ),
        pytest.param(
            ask(catalog(offers("b", gives("K"))), csvs=[csv("x.v1", needs("K"))]),
            ["b.v1"],
            id="resolver.md 12 row 170: a freestanding CSV that needs something",
        ),
        pytest.param(
            ask(csvs=[csv("x.v1", needs("K"))]),
            [
                NOT + "bundle x.v1 requires an operator providing an API with group: g, version: v1, kind: K, "
                "clusterserviceversion x.v1 exists and is not referenced by a subscription"
            ],
            id="resolver.md 12 row 169: nobody has it",
        ),
        pytest.param(
            ask(
                catalog(
                    wants(needs_package("b", "<2.0.0")),
                    [
                        *package("b", []),
                        channel("b", "stable", entry("b.v2")),
                        bundle("b", "b.v2", version="2.0.0-rc1"),
                    ],
                ),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v2"],
            id="resolver.md 12 row 198: a prerelease lies below its release",
        ),
        pytest.param(
            ask(catalog(wants(needs("K")), offers("b", gives("K"), DEPRECATED)), subs=[sub("a")]),
            [
                NOT + "bundle a.v1 requires an operator providing an API with group: g, version: v1, kind: K, "
                "bundle cat/ns/stable/b.v1 is deprecated, subscription a exists, "
                "subscription a requires cat/ns/stable/a.v1"
            ],
            id="resolver.md 12 row 179: the only provider is deprecated",
        ),
        pytest.param(
            ask(catalog(offers("a", gives("K"), gives("K"))), subs=[sub("a")]),
            [
                NOT + "cat/ns/stable/a.v1 and cat/ns/stable/a.v1 provide K (g/v1), subscription a exists, "
                "subscription a requires cat/ns/stable/a.v1"
            ],
            id="resolver.md 12 row 195: an API that is stated twice",
        ),
        pytest.param(
            ask(catalog(releases("a", 2, v1=[constraint(unknown={})])), subs=[sub("a")]),
            ['parse olm.constraint: json: unknown field "unknown"'],
            id="resolver.md 12 row 142: an unknown key, on an older bundle",
        ),
        pytest.param(
            ask(
                catalog(
                    wants(needs("K")),
                    package("b", [entry("b.v3", "b.v1"), entry("b.v2", "b.v1"), entry("b.v1")], v1=[gives("K")]),
                ),
                subs=[sub("a")],
            ),
            [FORK],
            id="resolver.md 12 row 193: a malformed channel of a package that offers the API",
        ),
        pytest.param(
            ask(
                catalog(
                    wants(
                        constraint(
                            cel={
                                "rule": "properties.exists(p, p.type == 'olm.package' && "
                                "p.value.packageName == 'b' && semver_compare(p.value.version, '2.0.0') == 0)"
                            }
                        )
                    ),
                    offers("b", versions=3),
                ),
                subs=[sub("a")],
            ),
            ["a.v1", "b.v2"],
            id="resolver.md 12 row 159: a rule in CEL",
        ),
        pytest.param(
            ask(
                catalog(
                    wants(constraint(failureMessage='need "q"', cel={"rule": 'properties.exists(p, p.type == "q")'}))
                ),
                subs=[sub("a")],
            ),
            [
                NOT + 'bundle a.v1 requires an operator with constraint: "properties.exists(p, p.type == \\"q\\")" and '
                'message: "need \\"q\\"", subscription a exists, subscription a requires cat/ns/stable/a.v1'
            ],
            id="resolver.md 9.1: the message of a rule",
        ),
    ],
)
def test_olm_verdicts(answer: Any, want: list[str]) -> None:
    assert chosen(answer) == want


OWN = catalog(wants(needs("K")), offers("b", gives("K")))
ASKING = catalog(wants(needs("K")))


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        pytest.param(
            ask(OWN, catalog(offers("b", gives("K")), name="hi", priority=9), subs=[sub("a")]),
            "cat/stable/b.v1",
            id="resolver.md 12 row 136: the own catalog beats priority",
        ),
        pytest.param(
            ask(
                ASKING,
                catalog(offers("b", gives("K")), name="lo"),
                catalog(offers("c", gives("K")), name="z", priority=1),
                subs=[sub("a")],
            ),
            "z/stable/c.v1",
            id="resolver.md 12 row 136: a higher priority wins",
        ),
        pytest.param(
            ask(
                ASKING,
                catalog(offers("b", gives("K")), name="x"),
                catalog(offers("c", gives("K")), name="w"),
                subs=[sub("a")],
            ),
            "w/stable/c.v1",
            id="resolver.md 12 row 136: then names",
        ),
        pytest.param(
            ask(
                ASKING,
                catalog(offers("b", gives("K")), name="aa", namespace=GLOBAL),
                catalog(offers("c", gives("K")), name="w"),
                subs=[sub("a")],
            ),
            "w/stable/c.v1",
            id="resolver.md 12 row 192: local before global",
        ),
        pytest.param(
            ask(OWN, catalog(offers("b", gives("K")), name="hidden", namespace="third"), subs=[sub("a")]),
            "cat/stable/b.v1",
            id="resolver.md 12 row 144: other namespaces are invisible",
        ),
        pytest.param(
            ask(
                catalog(wants(needs("K")), [*offers("b", gives("K")), channel("b", "alpha", entry("b.v1"))]),
                subs=[sub("a")],
            ),
            "cat/stable/b.v1",
            id="resolver.md 12 row 147: the default channel",
        ),
        pytest.param(
            ask(
                catalog(wants(needs("K")), offers("b", gives("K"), needs("Nowhere"))),
                catalog(offers("c", gives("K")), name="z"),
                subs=[sub("a")],
            ),
            "z/stable/c.v1",
            id="resolver.md 12 row 143: a provider that lacks something itself is passed over",
        ),
    ],
)
def test_preferences_among_providers(answer: Any, want: str) -> None:
    assert [one for one in of(answer) if not one.endswith("a.v1")] == [want]


def test_apart_a_bad_bundle_is_passed_over() -> None:
    """resolver.md 13 B7: prohibited, with the error as the reason."""
    here = catalog(releases("a", 2, v2=[needs_package("b", "~1")]))
    assert chosen(ask(here, subs=[sub("a")], whole=False)) == ["a.v1"]


def test_apart_a_malformed_channel_is_no_place_to_find_providers() -> None:
    """resolver.md 13 B7: the error of a channel is a reason, not the end."""
    fork = package("b", [entry("b.v3", "b.v1"), entry("b.v2", "b.v1"), entry("b.v1")], v1=[gives("K")])
    here = catalog(wants(needs("K")), fork, offers("c", gives("K")))
    assert chosen(ask(here, subs=[sub("a")], whole=False)) == ["a.v1", "c.v1"]


def test_apart_an_api_that_is_stated_twice_has_one_provider() -> None:
    """resolver.md 13 B9."""
    assert chosen(ask(catalog(offers("a", gives("K"), gives("K"))), subs=[sub("a")], whole=False)) == ["a.v1"]


def test_two_that_are_installed_may_both_serve() -> None:
    """resolver.md 12 row 172, 13 B12: OLM puts what is installed in order like a channel."""
    here = catalog(wants(prop("olm.label.required", label="x")))
    label = prop("olm.label", label="x")
    plain = [csv("x.v1", declared=False), csv("y.v1", declared=False)]
    for one in plain:
        one["metadata"]["annotations"]["operatorframework.io/properties"] = (
            '{"properties":[{"type":"olm.label","value":{"label":"x"}}]}'
        )
    subs = [sub("a"), sub("x", package="a", installed="x.v1"), sub("y", package="a", installed="y.v1")]
    assert 'replacement chains were found in channel "" of package ""' in chosen(ask(here, subs=subs, csvs=plain))[0]
    freestanding = ask(here, subs=[sub("a")], csvs=plain)
    assert chosen(freestanding) == ["a.v1"], "resolver.md 12 row 173"
    assert chosen(ask(here, subs=[sub("a")], csvs=[csv("x.v1", label), csv("y.v1", label)], whole=False)) == ["a.v1"]


def test_each_asks_its_own_catalog_first() -> None:
    """resolver.md 6.3: the order is relative to who requires."""
    other = catalog(
        releases("z", 1, v1=[needs("K")]), offers("c", prop("olm.label", label="x"), gives("K")), name="other"
    )
    here = ask(OWN, other, subs=[sub("z", source="other")])
    assert [one for one in of(here) if "/z" not in one] == ["other/stable/c.v1"]
    first = ask(catalog(wants(needs("K"))), other, subs=[sub("a"), sub("z", source="other")])
    assert of(first) == ["cat/stable/a.v1", "other/stable/c.v1", "other/stable/z.v1"]


RULE = "properties.exists(p, p.type == 'olm.gvk')"
PROVIDES = constraint(cel={"rule": RULE})
PROVIDES_NOTHING = constraint(any={"constraints": [{"not": {"constraints": [{"cel": {"rule": RULE}}]}}]})
HEADLESS = package("c", [entry("c.v1", "c.v1")])


@pytest.mark.parametrize(
    "here",
    [
        pytest.param(
            [wants(PROVIDES), offers("b", gives("K"), PROVIDES_NOTHING)],
            id="resolver.md 13 B16: two bundles, of which one wants what the other denies",
        ),
        pytest.param(
            [wants(PROVIDES, PROVIDES_NOTHING), offers("b", gives("K"))],
            id="resolver.md 13 B16: one bundle that wants both",
        ),
    ],
)
def test_a_denial_that_reads_like_a_wish_is_another_wish(here: list[list[Blob]]) -> None:
    """Only the denial looks into the channel without a head."""
    headless = 'no channel heads (entries not replaced by another entry) found in channel "stable" of package "c"'
    assert of(ask(catalog(*here), subs=[sub("a")])) == ["cat/stable/a.v1", "cat/stable/b.v1"]
    assert of(ask(catalog(*here, HEADLESS), subs=[sub("a")])) == [headless]
