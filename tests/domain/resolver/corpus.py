"""Namespaces that get nothing, with the rows of the specification that they come from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from shared.domain.resolver.model import Inputs
from tests.domain.resolver.scenery import (
    DEPRECATED,
    GLOBAL,
    Blob,
    a,
    b,
    bundle,
    catalog,
    channel,
    constraint,
    csv,
    entry,
    gives,
    needs,
    needs_package,
    package,
    releases,
    seen,
    sub,
)


class Situation(NamedTuple):
    """A namespace, and the row that says it gets nothing."""

    row: str
    inputs: Inputs


def _situation(
    row: str, *catalogs: Blob, subs: Iterable[Blob] = (), csvs: Iterable[Blob] = (), **more: Any
) -> Situation:
    return Situation(row, seen(*catalogs, subs=subs, csvs=csvs, **more))


def rule(text: str) -> Blob:
    return constraint(failureMessage="wants it", cel={"rule": text})


NEEDY = catalog(a(v1=[needs("K")]))
ONE = catalog(a())
A, B = sub("a"), sub("b")
HAS_B2 = sub("b", installed="b.v2")
FORK = package("f", [entry("f.v3", "f.v1"), entry("f.v2", "f.v1"), entry("f.v1")], v3=[gives("K")])
SKIPPED = package("b", [entry("b.v2", "", skips=["b.v1"]), entry("b.v1")], v1=[gives("K")])
TWO_CHANNELS = [*a(), channel("a", "beta", entry("a.v9")), bundle("a", "a.v9")]
V1 = csv("a.v1")
S = _situation

SITUATIONS = {
    "the catalog is empty": S("94", catalog(), subs=[A]),
    "the catalog is in a third namespace": S("197", ONE, subs=[sub("a", namespace="elsewhere")]),
    "the catalog is spelled wrongly": S("94", ONE, subs=[sub("a", source="kat")]),
    "global catalogs are excluded": S(
        "200", catalog(a(), namespace=GLOBAL), subs=[sub("a", namespace=GLOBAL)],
        operatorGroups=[{"metadata": {"name": "og", "annotations": {
            "olm.operatorframework.io/exclude-global-namespace-resolution": "true"}}}],
    ),
    "the package is missing": S("95", ONE, subs=[sub("zebra")]),
    "the package of an installed operator went": S(
        "95", catalog(b()), subs=[sub("a", installed="a.v1"), B], csvs=[V1]
    ),
    "the package of a deleted operator went": S("95", catalog(b()), subs=[sub("a", installed="a.v1")]),
    "the package is spelled wrongly": S("95", catalog(releases("etcd", 1)), subs=[sub("ectd")]),
    "the package is spelled with a dash too many": S(
        "95", catalog(releases("etcd", 1)), subs=[sub("Et-cd")]
    ),
    "the package has a letter too many": S("95", catalog(releases("etcd", 1)), subs=[sub("etcdd")]),
    "the package is in another catalog": S("95", ONE, catalog(b(), name="two"), subs=[B]),
    "the channel is missing": S("96", ONE, subs=[sub("a", channel="beta")]),
    "the channel of an installed operator vanished": S(
        "177", ONE, subs=[sub("a", channel="old", installed="a.v1")], csvs=[V1]
    ),
    "the catalog of an installed operator vanished": S("177", subs=[sub("a", installed="a.v1")], csvs=[V1]),
    "the first version is missing": S("97", ONE, subs=[sub("a", starting="a.v7")]),
    "the first version is in another channel": S("97", catalog(TWO_CHANNELS), subs=[sub("a", starting="a.v9")]),
    "an API is offered by nobody": S("102", NEEDY, subs=[A]),
    "an API is offered by nobody, in component mode": S("102", NEEDY, subs=[A], whole=False),
    "a package is offered by nobody": S("137", catalog(a(v1=[needs_package("k", ">=1.2.0 <2.0.0")])), subs=[A]),
    "every version lacks two providers": S(
        "137",
        catalog(
            a(
                3,
                v3=[needs_package("k", "0.13.0"), needs("L"), needs("L")],
                v2=[needs_package("k", "0.12.0"), needs("L")],
                v1=[needs_package("k", "0.9.0"), needs("L")],
            )
        ),
        subs=[A],
    ),
    "a package is offered above a bound only": S("137", catalog(a(v1=[needs_package("k", ">1.2.0")])), subs=[A]),
    "a package is offered in no such version": S("134", catalog(a(v1=[needs_package("b", ">=3.0.0")]), b()), subs=[A]),
    "one of two needed APIs is offered": S(
        "102", catalog(a(v1=[needs("K"), needs("L")]), b(v1=[gives("K")])), subs=[A]
    ),
    "what would be replaced is needed": S(
        "109",
        catalog(package("b", [entry("b.v2", "a.v1")]), releases("c", 1, v1=[needs_package("b", "2.0.0")])),
        subs=[sub("b", installed="a.v1"), sub("c")],
        csvs=[csv("a.v1", gives("K")), csv("x.v1", needs("K"))],
    ),
    "a label is offered by nobody": S(
        "137", catalog(a(v1=[{"type": "olm.label.required", "value": {"label": "blue"}}])), subs=[A]
    ),
    "both versions need what is not there": S("102", catalog(a(2, v2=[needs("K")], v1=[needs("K")])), subs=[A]),
    "a dependency of a dependency is missing": S(
        "135", catalog(a(v1=[needs("K")]), b(v1=[gives("K"), needs("L")])), subs=[A]
    ),
    "an API is only on a skipped entry": S("156", catalog(a(v1=[needs("K")]), SKIPPED), subs=[A]),
    "two Subscriptions want different channels of a package": S(
        "105", catalog(TWO_CHANNELS), subs=[sub("a"), sub("a-beta", package="a", channel="beta")]
    ),
    "two bundles provide one API": S("104", catalog(a(v1=[gives("K")]), b(v1=[gives("K")])), subs=[A, B]),
    "two bundles provide one API, in component mode": S(
        "104", catalog(a(v1=[gives("K")]), b(v1=[gives("K")])), subs=[A, B], whole=False
    ),
    "an unclaimed version provides the API": S(
        "149", catalog(a(v1=[gives("K")])), subs=[A], csvs=[csv("x.v1", gives("K"))]
    ),
    "an unclaimed version of the package": S("171", catalog(a(2)), subs=[A], csvs=[V1]),
    "an unclaimed version of another name": S("149", ONE, subs=[A], csvs=[csv("a.v0")]),
    "an unclaimed version needs what is not there": S("169", ONE, subs=[A], csvs=[csv("x.v1", needs("K"))]),
    "an unclaimed version is deprecated": S("178", ONE, subs=[A], csvs=[csv("x.v1", DEPRECATED)]),
    "the only version is deprecated": S("152", catalog(a(v1=[DEPRECATED])), subs=[A]),
    "the installed version is deprecated": S(
        "178", catalog(a(v1=[DEPRECATED])), subs=[sub("a", installed="a.v1")], csvs=[csv("a.v1", DEPRECATED)]
    ),
    "the only provider is deprecated": S("179", catalog(a(v1=[needs("K")]), b(v1=[gives("K"), DEPRECATED])), subs=[A]),
    "the installed version of another package is too new": S(
        "187", catalog(a(v1=[needs_package("b", "<2.0.0")]), b(2)), subs=[A, HAS_B2], csvs=[csv("b.v2")]
    ),
    "a dependency is too new, in component mode": S(
        "187", catalog(a(v1=[needs_package("b", "<2.0.0")]), b(2)), subs=[A, HAS_B2], csvs=[csv("b.v2")], whole=False
    ),
    "one Subscription is bad and one is good": S("189", ONE, subs=[A, sub("nothing")]),
    "what is needed was withdrawn": S(
        "198a", catalog(a()), subs=[sub("a", installed="a.v1")], csvs=[csv("a.v1", needs("K"))]
    ),
    "the same API is stated twice": S("195", catalog(a(v1=[gives("K"), gives("K")])), subs=[A]),
    "a rule is met by nobody": S("159", catalog(a(v1=[rule("properties.exists(p, p.type == 'q')")])), subs=[A]),
    "all of it at once is met by nobody": S(
        "139",
        catalog(
            a(v1=[constraint(all={"constraints": [
                {"gvk": {"group": "g", "version": "v1", "kind": "K"}},
                {"gvk": {"group": "g", "version": "v1", "kind": "L"}}]})]),
            b(v1=[gives("K")]),
        ),
        subs=[A],
    ),
    "the package cannot help itself": S(
        "150", catalog([*a(v1=[needs("K")]), channel("a", "beta", entry("a.v9")), bundle("a", "a.v9", gives("K"))]),
        subs=[A],
    ),
    "two dependencies want different versions": S(
        "134",
        catalog(a(v1=[needs_package("k", "1.0.0")]), b(v1=[needs_package("k", "2.0.0")]), releases("k", 2)),
        subs=[A, B],
    ),
    "a channel has two heads": S("131", catalog(FORK), subs=[sub("f")]),
    "a channel has no head": S("158", catalog(package("a", [entry("a.v1", "a.v2"), entry("a.v2", "a.v1")])), subs=[A]),
    "a channel turns in a circle": S(
        "158", catalog(package("a", [entry("a.v3", "a.v2"), entry("a.v2", "a.v1"), entry("a.v1", "a.v2")])), subs=[A]
    ),
    "a foreign channel has two heads": S("193", catalog(a(v1=[needs("K")]), FORK), subs=[A]),
    "a version range is none": S("194", catalog(a(v1=[needs_package("b", "*")])), subs=[A]),
    "a constraint has an unknown key": S("142", catalog(a(v1=[constraint(unknown={})])), subs=[A]),
    "a flawed bundle, in component mode": S("142", catalog(a(v1=[constraint(unknown={})])), subs=[A], whole=False),
    "the catalog cannot be read": S("32", catalog(healthy=False), subs=[A]),
    "another catalog cannot be read": S("206", ONE, catalog(name="sick", healthy=False), subs=[A]),
    "there are two OperatorGroups": S(
        "2.1", ONE, subs=[A],
        operatorGroups=[
            {"metadata": {"name": "added", "creationTimestamp": "2026-02-02T00:00:00Z"}},
            {"metadata": {"name": "old", "creationTimestamp": "2026-01-01T00:00:00Z"}},
        ],
    ),
    "there is no OperatorGroup": S("2.1", ONE, subs=[A], operatorGroups=[]),
    "there is no OperatorGroup for two": S("2.1", catalog(a(), b()), subs=[A, B], operatorGroups=[]),
    "two packages have a bundle of one name": S(
        "174", catalog(a(), [*package("z", [entry("a.v1")]), bundle("z", "a.v1")]), subs=[A]
    ),
    "a channel has a slash": S(
        "196", catalog(releases("a", 1, channel="x/y")), subs=[sub("a", channel="x/y")]
    ),
    "a pin is on a version that is not there": S("97", catalog(a(2)), subs=[sub("a", version="7.0.0")]),
    "the installed version is above a ceiling": S(
        "97", catalog(a(2)), subs=[sub("a", installed="a.v2", version="<2.0.0")], csvs=[csv("a.v2")], whole=False
    ),
    "a ceiling keeps what another one needs away": S(
        "134", catalog(a(2), b(v1=[needs_package("a", ">=2.0.0")])), subs=[sub("a", version="1.0.0"), B], whole=False
    ),
    "a hold keeps what another one needs away": S(
        "187", catalog(a(2), b(v1=[needs_package("a", ">=2.0.0")])),
        subs=[sub("a", installed="a.v1", hold="release week"), B], csvs=[V1], whole=False,
    ),
    "a dependency has to be there": S(
        "102", catalog(a(v1=[needs("K")]), b(v1=[gives("K")])), subs=[sub("a", dependencies="require")]
    ),
    "a catalog cannot be read, and the group is strict": S(
        "206", ONE, catalog(name="sick", healthy=False), subs=[A], whole=False,
        operatorGroups=[{"metadata": {"name": "og", "annotations": {"olmf.io/catalog-policy": "strict"}}}],
    ),
    "a wish is none": S("2.1", ONE, subs=[sub("a", dependencies="perhaps")]),
    "a copy has the name": Situation(
        "csv.md 10", replace(seen(ONE, subs=[A], whole=False), copies={"a.v1": "operators"})
    ),
}  # fmt: skip
