"""Which bundle an extension gets (v1.md §13.8, §14)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from typing import Any

import pytest

from shared.domain.extension.request import response_to
from shared.domain.shape import InvalidRequest

Blob = dict[str, Any]


def bundle(version: str, *more: Blob, name: str = "", **package: object) -> Blob:
    identity = {"type": "olm.package", "value": {"packageName": "p", "version": version, **package}}
    name = name or f"p.v{version}"
    return {"schema": "olm.bundle", "package": "p", "name": name, "image": f"i/{name}", "properties": [identity, *more]}


def channel(name: str, *entries: Blob | str) -> Blob:
    listed = [{"name": one} if isinstance(one, str) else one for one in entries]
    return {"schema": "olm.channel", "package": "p", "name": name, "entries": listed}


def ranged(version: str, skip_range: str) -> Blob:
    return {"name": f"p.v{version}", "skipRange": skip_range}


def deprecating(*versions: str) -> Blob:
    entries = [
        {"reference": {"schema": "olm.bundle", "name": f"p.v{version}"}, "message": "old"} for version in versions
    ]
    return {"schema": "olm.deprecations", "package": "p", "entries": entries}


GEN = [
    *map(bundle, ("0.1.0", "1.0.0", "1.0.1", "1.0.2", "2.0.0", "3.0.0")),
    channel(
        "alpha", "p.v0.1.0", ranged("1.0.0", "<1.0.0"), ranged("1.0.1", "<1.0.1"), ranged("1.0.2", "<1.0.2"),
        ranged("2.0.0", ">=1.0.0 <2.0.0"),
    ),
    channel("beta", "p.v0.1.0", ranged("1.0.2", "<1.0.2")),
    channel("gamma", ranged("3.0.0", ">=2.0.0 <3.0.0")),
    deprecating("1.0.0", "1.0.1"),
]  # fmt: skip


def catalog(name: str, *fbc: Blob, **more: object) -> Blob:
    return {
        "name": name,
        "priority": 0,
        "labels": {"olm.operatorframework.io/metadata.name": name},
        "fbc": list(fbc),
        **more,
    }


def ask(
    *catalogs: Blob,
    installed: Mapping[str, object] | str | None = None,
    gates: Mapping[str, bool] | None = None,
    **extension: object,
) -> dict[str, Any]:
    if isinstance(installed, str):
        installed = {"name": f"p.v{installed}", "version": installed}
    source = {"packageName": "p", **extension}
    return response_to({"catalogs": list(catalogs), "installed": installed, "gates": gates or {}, "extension": source})


def gist(resolution: Mapping[str, Any]) -> str:
    return str(resolution.get("error") or resolution["version"])


G = catalog("g", *GEN)
SIX = [
    catalog("a", bundle("0.1.0"), channel("stable", "p.v0.1.0")),
    catalog("b", bundle("1.0.0"), bundle("1.0.1"), deprecating("1.0.0", "1.0.1")),
    catalog("c", bundle("1.0.0"), bundle("1.0.1"), deprecating("1.0.0", "1.0.1")),
    catalog("d", bundle("1.0.2")),
    catalog("e", bundle("1.0.3"), deprecating("1.0.3")),
    catalog("f", bundle("1.0.4"), bundle("1.0.5")),
]
NONE = 'no bundles found for package "p"'


@pytest.mark.parametrize(
    ("resolution", "want"),
    [
        pytest.param(
            ask(G, version="foobar"),
            'desired version range "foobar" is invalid: improper constraint: "foobar"',
            id="v1.md 13.8 row 1",
        ),
        pytest.param(
            ask(catalog("a", state="no-cache")),
            'error walking catalogs: error getting package "p" from catalog "a": cache for catalog "a" not found',
            id="v1.md 13.8 row 3, 9: no cache",
        ),
        pytest.param(
            ask(catalog("a", state="unresolved")),
            'error walking catalogs: error getting package "p" from catalog "a": '
            'error: catalog "a" has a nil status.resolvedSource value',
            id="v1.md 9: unresolved",
        ),
        pytest.param(ask(catalog("a")), NONE, id="v1.md 13.8 row 4"),
        pytest.param(ask(G), "3.0.0", id="v1.md 13.8 row 5"),
        pytest.param(ask(G, version="4.0.0"), NONE + ' matching version "4.0.0"', id="v1.md 13.8 row 7"),
        pytest.param(ask(G, version=">=1.0.0 <2.0.0"), "1.0.2", id="v1.md 13.8 row 8"),
        pytest.param(ask(G, channels=["stable"]), NONE + " in channels [stable]", id="v1.md 13.8 row 9"),
        pytest.param(ask(G, channels=["beta"]), "1.0.2", id="v1.md 13.8 row 10"),
        pytest.param(
            ask(G, channels=["beta"], version="3.0.0"),
            NONE + ' matching version "3.0.0" in channels [beta]',
            id="v1.md 13.8 row 11",
        ),
        pytest.param(
            ask(G, channels=["stable"], version="1.0.0"),
            NONE + ' matching version "1.0.0" in channels [stable]',
            id="v1.md 13.8 row 12",
        ),
        pytest.param(ask(G, channels=["alpha"], version="0.1.0"), "0.1.0", id="v1.md 13.8 row 13"),
        pytest.param(ask(G, channels=["beta", "alpha"]), "2.0.0", id="v1.md 13.8 row 14"),
        pytest.param(ask(G, version=">=0.1.0 <=1.0.0"), "0.1.0", id="v1.md 13.8 row 15: deprecated last"),
        pytest.param(ask(G, version=">=1.0.0 <=1.0.1"), "1.0.1", id="v1.md 13.8 row 16: only deprecated left"),
        pytest.param(ask(*SIX, version=">=1.0.0 <=1.0.3"), "1.0.2", id="v1.md 13.8 row 17"),
        pytest.param(
            ask(*SIX, version=">=1.0.0 <=1.0.1"),
            'found bundles for package "p" matching version ">=1.0.0 <=1.0.1" '
            "in multiple catalogs with the same priority [b c]",
            id="v1.md 13.8 row 18",
        ),
        pytest.param(
            ask(*SIX, version=">=1.0.0 <=1.0.4"),
            'found bundles for package "p" matching version ">=1.0.0 <=1.0.4" '
            "in multiple catalogs with the same priority [d f]",
            id="v1.md 13.8 row 19",
        ),
        pytest.param(ask(*SIX, version=">=1.0.4 <=1.0.5"), "1.0.5", id="v1.md 13.8 row 20"),
        pytest.param(ask(G, installed="0.1.0"), "1.0.2", id="v1.md 13.8 row 21"),
        pytest.param(
            ask(G, installed="0.1.0", version="<1.0.0 >=2.0.0"),
            'error upgrading from currently installed version "0.1.0": ' + NONE + ' matching version "<1.0.0 >=2.0.0"',
            id="v1.md 13.8 row 22",
        ),
        pytest.param(
            ask(G, installed="1.0.2", version="<1.0.2", upgradeConstraintPolicy="SelfCertified"),
            "0.1.0",
            id="v1.md 13.8 row 23",
        ),
        pytest.param(
            ask(G, installed="1.0.2", version=">0.1.0 <1.0.0", upgradeConstraintPolicy="SelfCertified"),
            'error upgrading from currently installed version "1.0.2": ' + NONE + ' matching version ">0.1.0 <1.0.0"',
            id="v1.md 13.8 row 24",
        ),
        pytest.param(
            ask(G | {"state": "not-serving"}, installed="1.0.2"),
            'error walking catalogs: error getting package "p" from catalog "g": catalog "g" is not being served',
            id="v1.md 13.8 row 2: the walk fails",
        ),
        pytest.param(
            ask(G, selector={"matchExpressions": [{"key": "name", "operator": "bad", "values": ["a"]}]}),
            'desired catalog selector is invalid: "bad" is not a valid label selector operator',
            id="v1.md 13.8 row 25",
        ),
        pytest.param(
            ask(catalog("a", bundle("1.0.0"), priority=1), catalog("b", bundle("1.1.0"))),
            "1.0.0",
            id="v1.md 13.8 row 28",
        ),
        pytest.param(
            ask(
                *(
                    catalog(name, bundle("1.0.0"), priority=priority)
                    for name, priority in (("a", 1), ("b", 0), ("c", 1))
                )
            ),
            'found bundles for package "p" in multiple catalogs with the same priority [a b c]',
            id="v1.md 13.8 row 29",
        ),
        pytest.param(ask(G | {"availabilityMode": "Unavailable", "state": "no-cache"}), NONE, id="v1.md 13.8 row 30"),
        pytest.param(
            ask(catalog("a", bundle("9.0.0"), availabilityMode="Unavailable"), catalog("b", bundle("1.0.0"))),
            "1.0.0",
            id="v1.md 13.8 row 31",
        ),
        pytest.param(
            ask(catalog("a", bundle("1.0.0", {"type": "olm.constraint", "value": {}}), bundle("0.9.0"))),
            'validating bundle "p.v1.0.0": bundle "p.v1.0.0" has a dependency declared via property "olm.constraint" '
            "which is currently not supported",
            id="v1.md 13.8 row 32",
        ),
        pytest.param(
            ask(G, installed={"name": "p.v1", "version": "one"}),
            "error walking catalogs: error finding upgrade edges: failed to get version and release of installed "
            "bundle: No Major.Minor.Patch elements found",
            id="v1.md 13.3: an installed version that is none",
        ),
        pytest.param(
            ask(G, installed={"name": "p.v1", "version": "1.0.0", "release": "01"}),
            "error walking catalogs: error finding upgrade edges: failed to parse installed bundle version and "
            "release: "
            'error parsing release "01": invalid release "01": segment 0: Numeric PreRelease version must not contain '
            'leading zeroes "01"',
            id="v1.md 14: an installed release that is none",
        ),
        pytest.param(
            ask(G, installed={"name": "p.v1", "version": "1", "release": ""}),
            "error walking catalogs: error finding upgrade edges: failed to parse installed bundle version and "
            "release: "
            'error parsing version "1": No Major.Minor.Patch elements found',
            id="v1.md 14: an installed version beside a release that is none",
        ),
        pytest.param(
            ask(catalog("a"), installed={"name": "p.v1", "version": "one"}),
            'error upgrading from currently installed version "one": ' + NONE,
            id="v1.md 13.2: where the package is unknown, what is installed does not matter",
        ),
        pytest.param(
            ask(catalog("a", bundle("x"))),
            'error getting resolved bundle version for bundle "p.vx": No Major.Minor.Patch elements found',
            id="v1.md 13.6: a version that is none",
        ),
        pytest.param(
            ask(catalog("a", {"schema": "olm.bundle", "package": "p", "name": "b"})),
            'error getting resolved bundle version for bundle "b": no package property found in bundle "b"',
            id="v1.md 14: no package property",
        ),
        pytest.param(
            ask(
                catalog(
                    "a",
                    {
                        "schema": "olm.bundle",
                        "package": "p",
                        "name": "b",
                        "properties": [{"type": "olm.package", "value": 5}],
                    },
                )
            ),
            'error getting resolved bundle version for bundle "b": error unmarshalling package property: '
            "json: cannot unmarshal number into Go value of type property.Package",
            id="v1.md 14: a package property that is none",
        ),
        pytest.param(
            ask(catalog("a", bundle("1.0.0", release=2))),
            'error getting resolved bundle version for bundle "p.v1.0.0": error unmarshalling package property: '
            "json: cannot unmarshal number into Go struct field Package.release of type string",
            id="v1.md 14: a release that is no text",
        ),
        pytest.param(
            ask(catalog("a", {**bundle("1"), "properties": [{"type": "olm.package", "value": None}]})),
            'error getting resolved bundle version for bundle "p.v1": Version string empty',
            id="v1.md 14: an empty package property",
        ),
        pytest.param(
            ask(catalog("a", bundle("1.0.0", release="a_b")), gates={"BundleReleaseSupport": True}),
            'error getting resolved bundle version for bundle "p.v1.0.0": error parsing release "a_b": '
            'invalid release "a_b": segment 0: Invalid character(s) found in prerelease "a_b"',
            id="v1.md 14: an invalid release",
        ),
    ],
)
def test_rows(resolution: dict[str, Any], want: str) -> None:
    assert gist(resolution) == want


STABLE = [
    *(bundle(version) for version in ("2.0.0", "2.1.0", "2.2.0", "2.2.1", "2.3.0", "2.4.0")),
    bundle("2.0.0+1"),
    channel(
        "stable", "p.v2.0.0", {"name": "p.v2.1.0", "replaces": "p.v2.0.0"},
        {"name": "p.v2.2.0", "replaces": "p.v2.1.0", "skips": ["p.v2.0.0+1"]}, "p.v2.2.1",
        {"name": "p.v2.3.0", "replaces": "p.v2.2.0", "skips": ["p.v2.2.1"]},
        {"name": "p.v2.4.0", "skipRange": ">=2.3.0 <2.4.0"}, {"name": "p.v9", "skipRange": "nonsense"},
    ),
]  # fmt: skip


@pytest.mark.parametrize(
    ("installed", "left"),
    [
        ("2.0.0", {"2.1.0", "2.0.0"}),
        ("2.2.1", {"2.3.0", "2.2.1"}),
        ("2.3.0", {"2.4.0", "2.3.0"}),
        ("2.0.0+1", {"2.2.0", "2.0.0+1"}),
        ("9.0.0", set()),
    ],
)
def test_successors(installed: str, left: set[str]) -> None:
    """v1.md 13.8: filter/successors_test.go."""
    resolution = ask(catalog("a", *STABLE), installed=installed)
    [step] = [step for step in resolution["trace"] if step["rule"] == "successor"]
    everything = {blob["name"] for blob in STABLE if blob["schema"] == "olm.bundle"}
    assert everything - set(step["removed"]) == {f"p.v{version}" for version in left}
    assert step["left"] == len(left)


@pytest.mark.parametrize(
    ("made", "gate", "want"),
    [
        pytest.param(
            bundle("1.0.0-pre+1.alpha.2"), False, ("1.0.0-pre", "1.alpha.2", {"version": "1.0.0-pre+1.alpha.2"})
        ),
        pytest.param(bundle("1.0.0+001"), False, ("1.0.0+001", None, {"version": "1.0.0+001"})),
        pytest.param(bundle("1.0.0"), False, ("1.0.0", None, {"version": "1.0.0"})),
        pytest.param(bundle("1.0.0", release="3"), False, ("1.0.0", None, {"version": "1.0.0"})),
        pytest.param(bundle("1.0.0+7", release="3"), True, ("1.0.0+7", "3", {"version": "1.0.0+7", "release": "3"})),
        pytest.param(bundle("1.0.0+7", release=""), True, ("1.0.0+7", "", {"version": "1.0.0+7", "release": ""})),
        pytest.param(bundle("1.0.0+7"), True, ("1.0.0", "7", {"version": "1.0.0", "release": "7"})),
        pytest.param(bundle("1.0.0"), True, ("1.0.0", None, {"version": "1.0.0"})),
        pytest.param(
            bundle("1.0.0", Release="3"), True, ("1.0.0", "3", {"version": "1.0.0", "release": "3"}), id="any case"
        ),
    ],
)
def test_versions_and_releases(made: Blob, *, gate: bool, want: tuple[str, str | None, dict[str, str]]) -> None:
    """v1.md 14: what is taken for version and release, and how it is recorded."""
    resolution = ask(catalog("a", made), gates={"BundleReleaseSupport": gate})
    assert (resolution["version"], resolution["release"], resolution["recorded"]) == (
        *want[:2],
        {"name": made["name"], **want[2]},
    )


def test_an_installed_release_may_stay() -> None:
    """v1.md 13.4: exactly the installed version and release, independent of channels."""
    here = catalog("a", bundle("1.0.0", release="2"), bundle("1.0.0", name="other", release="3"))
    installed = {"name": "gone", "version": "1.0.0", "release": "2"}
    assert ask(here, installed=installed, gates={"BundleReleaseSupport": True})["bundle"] == "p.v1.0.0"


def test_the_trace_says_which_rule_removed_what() -> None:
    trace = ask(G, channels=["beta"], version="<1.0.0")["trace"]
    assert [(step["rule"], step["left"], step["removed"]) for step in trace] == [
        ("package", 6, []),
        ("channel", 2, ["p.v3.0.0", "p.v2.0.0", "p.v1.0.1", "p.v1.0.0"]),
        ("version", 1, ["p.v1.0.2"]),
        ("best", 1, []),
        ("priority", 1, []),
    ]


def test_the_trace_says_what_there_is_instead_of_what_was_asked_for() -> None:
    labels = {"olm.operatorframework.io/metadata.name": "b", "size": "xl"}
    catalogs = (
        catalog("a", bundle("1.0.0"), channel("s", "p.v1.0.0"), labels={"size": "s"}),
        catalog("b", labels=labels),
    )
    resolution = ask(
        *catalogs, catalog("c", availabilityMode="Unavailable"), channels=["t"], selector={"matchLabels": {"size": "s"}}
    )
    assert resolution["error"] == 'no bundles found for package "p" in channels [t]'
    assert resolution["trace"] == [
        {"catalog": "a", "rule": "package", "left": 1, "removed": []},
        {"catalog": "a", "rule": "channel", "left": 0, "removed": ["p.v1.0.0"], "there": ["s"]},
        {"catalog": "b", "rule": "selector", "left": 0, "removed": [],
         "there": ["olm.operatorframework.io/metadata.name=b", "size=xl"]},
        {"catalog": "c", "rule": "availability", "left": 0, "removed": []},
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("selector", "want"),
    [
        ({"matchLabels": {"": "x"}}, 'key: Invalid value: "": name part must be non-empty; name part must consist of'),
        ({"matchLabels": {"/x": "x"}}, 'key: Invalid value: "/x": prefix part must be non-empty'),
        ({"matchLabels": {"A_/x": "x"}}, 'key: Invalid value: "A_/x": prefix part a lowercase RFC 1123 subdomain'),
        ({"matchLabels": {"n" * 64: "x"}}, "name part must be no more than 63 bytes"),
        ({"matchLabels": {"name": "&value"}}, 'values[0][name]: Invalid value: "&value": a valid label must be'),
        ({"matchLabels": {"name": "v" * 64}}, "must be no more than 63 bytes"),
        ({"matchExpressions": [{"key": "a", "operator": "In"}]}, "values set can't be empty"),
        ({"matchExpressions": [{"key": "a", "operator": "Exists", "values": ["b"]}]}, "values set must be empty"),
        ({"matchLabels": {"a/b/c": "x"}}, 'key: Invalid value: "a/b/c": a valid label key must consist of'),
        ({"matchExpressions": [{"key": "", "operator": "In"}]}, '[key: Invalid value: "": name part must be non-empty'),
    ],
)
def test_selectors_that_are_none(selector: Blob, want: str) -> None:
    """v1.md 13.8 row 26."""
    error = gist(ask(G, selector=selector))
    assert error.startswith("desired catalog selector is invalid: ")
    assert want in error


def test_a_selector_picks_catalogs() -> None:
    """v1.md 13.8 row 27."""
    key = "olm.operatorframework.io/metadata.name"
    catalogs = [catalog("a"), catalog("b", bundle("1.0.0"))]
    assert ask(*catalogs, selector={"matchLabels": {key: "b"}})["catalog"] == "b"
    assert gist(ask(*catalogs, selector={"matchLabels": {key: "a"}})) == NONE


@pytest.mark.parametrize(
    ("document", "want"),
    [
        ({}, "extension: there is nothing; wanted spec.source.catalog of a ClusterExtension"),
        ({"extension": 5}, "extension: wanted an object, got a whole number"),
        ({"extension": {"channels": "a"}}, "extension.channels: wanted a list, got a text"),
        ({"extension": {"channels": ["a", None]}}, "extension.channels[1]: there is nothing"),
        ({"extension": {}, "catalogs": [{}]}, "catalogs[0].name: there is nothing"),
        ({"extension": {}, "catalogs": [{"name": "a", "priority": True}]},
         "catalogs[0].priority: wanted a whole number, got true or false"),
        ({"extension": {}, "catalogs": [{"name": "a", "fbc": [{}, 5]}]},
         "catalogs[0].fbc[1]: wanted an object, got a whole number"),
        ({"extension": {"packageName": "p"}, "catalogs": [{"name": "a", "fbc": [{"schema": 5}]}]},
         'expected value for key "schema" to be a string, got %!t(float64=5): 5'),
    ],
)  # fmt: skip
def test_a_request_of_another_shape_is_refused_at_its_place(document: Any, want: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        response_to(document)
    assert str(caught.value) == want


def test_bundles_of_one_version_come_in_the_order_of_their_files() -> None:
    """v1.md 30, 13.5: ties are random in the reference; here the order of blobs never matters."""
    tied = [bundle("1.0.0", name="b"), bundle("1.0.0", name="b-2"), bundle("1.0.0", name="c")]
    assert {ask(catalog("a", *order))["bundle"] for order in (tied, reversed(tied))} == {"b-2"}


def test_an_unknown_state_is_refused() -> None:
    with pytest.raises(InvalidRequest, match="unknown state 'gone'"):
        ask(catalog("a", state="gone"))


def shuffled(rng: random.Random, some: Iterable[Blob]) -> list[Blob]:
    listed = list(some)
    rng.shuffle(listed)
    return listed


def test_the_order_of_catalogs_and_blobs_does_not_matter() -> None:
    rng = random.Random(13)
    for _ in range(30):
        catalogs = shuffled(rng, (one | {"fbc": shuffled(rng, one["fbc"])} for one in [*SIX, G]))
        for version in (">=1.0.0 <=1.0.3", "", "<1.0.0", ">=1.0.4 <2"):
            assert gist(ask(*catalogs, version=version)) == gist(ask(*SIX, G, version=version))


def test_what_is_of_another_package_or_schema_does_not_count() -> None:
    others = [{**bundle("9.0.0"), "package": "q"}, {"schema": "olm.else", "package": "p", "name": "x"}]
    assert gist(ask(catalog("a", bundle("1.0.0"), *others))) == "1.0.0"


def test_a_self_certified_answer_lies_in_the_range() -> None:
    for version in ("0.1.0", "<2", ">=1.0.1 <=1.0.2", "~2"):
        resolution = ask(G, installed="3.0.0", version=version, upgradeConstraintPolicy="SelfCertified")
        assert ask(catalog("x", bundle(resolution["version"])), version=version)["version"] == resolution["version"]
