"""Entries of catalogs and of what is installed, and what fails forward (resolver.md §12.3–§12.6, §12.11)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.views import Csv
from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.resolution_inputs.existing import of_csv
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.operators import Operator, of_package
from tests.domain.resolver.scenery import (
    Blob,
    ask,
    bundle,
    catalog,
    channel,
    chosen,
    csv,
    entry,
    gives,
    needs,
    releases,
    sub,
)

FORWARD = [{"metadata": {"name": "og"}, "spec": {"upgradeStrategy": "TechPreviewUnsafeFailForward"}}]
KEY = CatalogKey("ns", "cat")
GVK = {"group": "g", "version": "v1", "kind": "K"}


def entries(*properties: Property, default: str = "stable") -> Operator:
    """The only entry of a package."""
    made = Bundle("a.v1", "", "image", properties)
    found = of_package(Package("a", default, (Channel("stable", (Entry("a.v1"),)),), {"a.v1": made}), KEY)
    [one] = found["stable"]
    return one


def test_a_bundle_without_version_or_apis_is_an_entry_all_the_same() -> None:
    """resolver.md 12 rows 40 and 42."""
    one = entries()
    assert (one.version, one.facts.apis) == (None, ())
    assert [each.type for each in one.facts.properties] == ["olm.package"]


def test_what_is_required_is_reported_as_property_and_as_dependency() -> None:
    """resolver.md 12 rows 41 and 44."""
    one = entries(Property("olm.gvk", GVK), Property("olm.gvk.required", GVK), Property("olm.bundle.object", {}))
    want = ["olm.gvk", "olm.gvk.required", "olm.gvk.required", "olm.package"]
    assert [each.type for each in one.facts.properties] == want


@pytest.mark.parametrize(("default", "want"), [("stable", True), ("beta", False), ("", False)])
def test_a_channel_is_the_default_one_or_not(default: str, want: bool) -> None:
    """resolver.md 12 row 43."""
    assert entries(default=default).is_default is want


@pytest.mark.parametrize(
    ("packages", "version", "want"),
    [
        pytest.param([], "1.2.3", None, id="resolver.md 12 row 46: no Subscription, or one for another version"),
        pytest.param([""], "1.2.3", None, id="resolver.md 12 row 48: a Subscription without package"),
        pytest.param(["x", "y"], "1.2.3", None, id="resolver.md 12 row 49: two packages"),
        pytest.param(["x", "x"], "1.2.3", "1.2.3", id="resolver.md 12 row 50: one package, two Subscriptions"),
        pytest.param(["x"], "1.2.3", "1.2.3", id="resolver.md 12 row 51: one Subscription"),
        pytest.param(["x"], "", "", id="resolver.md 12 row 53: no version"),
    ],
)
def test_a_package_is_inferred_from_subscriptions(packages: list[str], version: str, want: str | None) -> None:
    found = of_csv(Csv({"metadata": {"name": "a.v1"}, "spec": {"version": version}}), packages)
    assert [one.value["version"] for one in found] == ([] if want is None else [want]), "resolver.md 12 row 54: no APIs"


def test_apis_of_definitions_and_services_are_told_without_plural() -> None:
    """resolver.md 12 rows 55 and 57."""
    crds = {"owned": [{"name": "ks.g", "version": "v1", "kind": "K"}]}
    services = {"required": [{"group": "h", "version": "v1", "kind": "L", "name": "ls"}]}
    spec = {"customresourcedefinitions": crds, "apiservicedefinitions": services}
    assert of_csv(Csv({"metadata": {"name": "a.v1"}, "spec": spec}), []) == (
        Property("olm.gvk", GVK), Property("olm.gvk.required", {"group": "h", "version": "v1", "kind": "L"}),
    )  # fmt: skip


def test_a_version_of_two_packages_keeps_both_to_itself() -> None:
    """resolver.md 12 row 61."""
    other = {"type": "olm.package", "value": {"packageName": "b", "version": "1.0.0"}}
    here = catalog(releases("a", 1), releases("b", 1))
    for desired in ("a", "b"):
        answer = ask(here, subs=[sub(desired)], csvs=[csv("a.v1", other)])
        assert f"originate from package {desired}, clusterserviceversion a.v1 exists" in answer["error"]


A4 = catalog(releases("a", 4))
CHAIN = [
    csv("a.v1", phase="Replacing"), csv("a.v2", phase="Replacing", replaces="a.v1"),
    csv("a.v3", phase="Failed", replaces="a.v2"),
]  # fmt: skip
ALL_FAILED = [csv("a.v1", phase="Failed"), csv("a.v2", phase="Failed", replaces="a.v1")]
STRANGER = csv("b.v1", gives("K"), phase="Replacing")


@pytest.mark.parametrize(
    ("csvs", "more", "want"),
    [
        pytest.param(CHAIN, {}, "clusterserviceversion a.v1 exists", id="resolver.md 12 row 83"),
        pytest.param(CHAIN, {"operatorGroups": FORWARD}, "a.v4", id="resolver.md 12 row 84"),
        pytest.param(
            ALL_FAILED,
            {"operatorGroups": FORWARD},
            "in phase Failed instead of Replacing",
            id="resolver.md 12 rows 78 and 85",
        ),
        pytest.param(CHAIN, {"operatorGroups": []}, "found 0", id="resolver.md 12 row 91"),
    ],
)
def test_failing_forward(csvs: list[Blob], more: dict[str, Any], want: str) -> None:
    [sentence] = chosen(ask(A4, subs=[sub("a", installed="a.v3")], csvs=csvs, **more))
    assert want in sentence


def test_a_stranger_of_the_same_api_is_not_passed() -> None:
    """resolver.md 12 row 86."""
    installed = [csv("a.v1", gives("K"), phase="Failed"), STRANGER]
    answer = ask(A4, subs=[sub("a", installed="a.v1")], csvs=installed, operatorGroups=FORWARD)
    assert chosen(answer) == ["a.v2"], "which does not provide the API any more"
    providing = catalog(releases("a", 2, v2=[gives("K")]))
    answer = ask(providing, subs=[sub("a", installed="a.v1")], csvs=installed, operatorGroups=FORWARD)
    assert "clusterserviceversion b.v1 exists" in answer["error"]


def test_ranges_hold_prereleases() -> None:
    """resolver.md 12 row 202."""
    old, new = "0.1.0-1556661347", "0.1.0-1556661832"
    here = [
        {"schema": "olm.package", "name": "a", "defaultChannel": "stable"},
        channel("a", "stable", entry("a.new", skip_range=f">={old} <{new}")),
        bundle("a", "a.new", version=new),
    ]
    [one] = ask(catalog(here), subs=[sub("a", installed="a.old")], csvs=[csv("a.old", version=old)])["operators"]
    assert (one["name"], one["replaces"]) == ("a.new", "a.old")


def test_a_second_channel_of_an_installed_package_is_never_installed() -> None:
    """resolver.md 12 row 204: the package of a version without annotation is inferred."""
    here = [*releases("a", 1), channel("a", "beta", entry("a.v9")), bundle("a", "a.v9")]
    subs = [sub("a", installed="a.v1"), sub("a-beta", package="a", channel="beta")]
    assert "originate from package a" in ask(catalog(here), subs=subs, csvs=[csv("a.v1", declared=False)])["error"]


def test_the_newest_provider_of_a_chain_is_taken_over_one_that_lost_the_api() -> None:
    """resolver.md 12 row 205."""
    here = catalog(releases("root", 1, v1=[needs("K")]), releases("k", 3, v1=[gives("K")], v3=[gives("K")]))
    assert chosen(ask(here, subs=[sub("root")])) == ["k.v3", "root.v1"]


@pytest.mark.parametrize("wrong", [{**GVK, "version": 1}, {"Group": 1}, "K"])
def test_an_api_that_cannot_be_read_is_none(wrong: object) -> None:
    """resolver.md 7.2: undecodable values are skipped."""
    assert entries(Property("olm.gvk", wrong), Property("olm.gvk", GVK)).facts.apis == (("g", "v1", "K"),)
