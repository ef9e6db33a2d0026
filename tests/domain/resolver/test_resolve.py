"""The answer for a namespace: who gets what, who is refused, and who stands apart."""

from __future__ import annotations

import random
from collections.abc import Iterable
from dataclasses import replace

import pytest

from shared.domain.catalog.model import Bundle, Channel, Entry, Package, Property
from shared.domain.resolver.catalog_readers import LoadedCatalog
from shared.domain.resolver.constraints import Constraint
from shared.domain.resolver.identity import CatalogKey, Installed
from shared.domain.resolver.model import Catalog, CatalogReader, Inputs, Resolution, Stay, Subscriber, prevented
from shared.domain.resolver.reasons import Code, Reason
from shared.domain.resolver.resolve import resolve
from shared.domain.resolver.sat import GaveUp
from shared.domain.resolver.subscription_policy import SubscriptionPolicy

KEY = CatalogKey("olm", "local")
CATALOG = Catalog(KEY, "registry/local:v1", "registry/local@sha256:1")


def a_subscriber(package: str, name: str = "", **fields: object) -> Subscriber:
    return Subscriber(name or package, package, "stable", KEY, **fields)  # type: ignore[arg-type]  # why: any field


def gvk(kind: str, *, required: bool = False) -> Property:
    value = {"group": "example.com", "version": "v1", "kind": kind}
    return Property("olm.gvk.required" if required else "olm.gvk", value)


def needs_package(name: str, versions: str) -> Property:
    return Property("olm.package.required", {"packageName": name, "versionRange": versions})


def constraint(**value: object) -> Property:
    return Property("olm.constraint", value)


def a_package(name: str, *properties: Property, version: str = "1.0.0", replaces: str = "") -> Package:
    csv = f"{name}.v{version}"
    identity = Property("olm.package", {"packageName": name, "version": version})
    bundle = Bundle(csv, version, f"registry/{csv}", (identity, *properties))
    return Package(name, "stable", (Channel("stable", (Entry(csv, replaces),)),), {csv: bundle})


def an_installed(name: str, *properties: Property, version: str = "1.0.0", owner: str = "") -> Installed:
    identity = Property("olm.package", {"packageName": name, "version": version})
    return Installed(f"{name}.v{version}", version, (identity, *properties), owner)


def answer(
    *subscribers: Subscriber, packages: Iterable[Package] = (), installed: Iterable[Installed] = (), whole: bool = False
) -> Resolution:
    return resolve(Inputs("ns", subscribers, tuple(installed), {KEY: CATALOG}, readers(*packages), is_whole=whole))


def readers(*packages: Package) -> dict[CatalogKey, CatalogReader]:
    return {KEY: LoadedCatalog({package.name: package for package in packages})}


def chosen(resolution: Resolution) -> list[str]:
    return [one.bundle.name for one in resolution.chosen]


def refusal(resolution: Resolution, name: str) -> str:
    component = resolution.component_of(name)
    assert component is not None
    return component.refusal.message if component.refusal else ""


A, B = a_subscriber("a"), a_subscriber("b")


def test_a_fresh_install_keeps_what_its_channel_says_it_replaces() -> None:
    """resolver.md 10.1: the channel entry's replaces, although that version is not installed."""
    [one] = answer(A, packages=[a_package("a", replaces="a.v0")]).chosen
    assert (one.bundle.name, one.replaces, one.channel, one.subscribers) == ("a.v1.0.0", "a.v0", "stable", ("a",))


def test_an_update_replaces_what_is_installed() -> None:
    newer = a_package("a", version="2.0.0", replaces="a.v1.0.0")
    mine = an_installed("a", owner="a")
    [one] = answer(a_subscriber("a", installed_csv="a.v1.0.0"), packages=[newer], installed=[mine]).chosen
    assert (one.bundle.name, one.replaces) == ("a.v2.0.0", "a.v1.0.0")


def test_an_operator_that_may_stay_as_it_is_keeps_its_version() -> None:
    resolution = answer(
        a_subscriber("a", installed_csv="a.v1.0.0"), packages=[a_package("a")], installed=[an_installed("a", owner="a")]
    )
    assert (chosen(resolution), refusal(resolution, "a")) == ([], "")
    assert resolution.reasons["a"] == "a.v1.0.0 is installed, and nothing in its channel replaces it"


@pytest.mark.parametrize("whole", [True, False])
@pytest.mark.parametrize("lacks", [gvk("K", required=True), Property("olm.deprecated", {})])
def test_a_newer_version_that_cannot_be_installed_is_named(lacks: Property, *, whole: bool) -> None:
    newer, mine = a_package("a", lacks, version="2.0.0", replaces="a.v1.0.0"), an_installed("a", owner="a")
    subscriber = a_subscriber("a", installed_csv="a.v1.0.0")

    resolution = answer(subscriber, packages=[newer], installed=[mine], whole=whole)

    assert (chosen(resolution), refusal(resolution, "a")) == ([], "")
    passed = "a.v2.0.0, which would replace it, cannot be installed now"
    assert resolution.reasons["a"] == f"a.v1.0.0 is installed, and {passed}"
    (component,) = resolution.components
    assert component.stays == {"a": Stay("NotInstallable", resolution.reasons["a"])}


def test_what_a_catalog_may_still_bring_is_not_found_lacking() -> None:
    newer = a_package("a", gvk("K", required=True), version="2.0.0", replaces="a.v1.0.0")
    subscriber, other = a_subscriber("a", installed_csv="a.v1.0.0"), CatalogKey("later", "olm")
    catalogs = {KEY: CATALOG, other: Catalog(other)}
    found = resolve(Inputs("ns", (subscriber,), (an_installed("a", owner="a"),), catalogs, readers(newer)))
    assert [one.stays for one in found.components] == [None]


def test_deprecated_bundles_are_passed_over() -> None:
    package = a_package("a", Property("olm.deprecated", {}))
    assert "is deprecated" in refusal(answer(A, packages=[package]), "a")


@pytest.mark.parametrize(
    ("need", "installed", "want"),
    [
        pytest.param(gvk("K", required=True), an_installed("b", gvk("K")), "", id="an API that is installed"),
        pytest.param(
            gvk("K", required=True),
            an_installed("b"),
            "bundle a.v1.0.0 requires an operator providing an API with group: example.com, version: v1, kind: K",
            id="catalog.md 8.7.87: an API that nobody provides",
        ),
        pytest.param(needs_package("b", ">=1.0.0 <2.0.0"), an_installed("b"), "", id="a package in range"),
        pytest.param(
            needs_package("b", ">=2.0.0"),
            an_installed("b"),
            "bundle a.v1.0.0 requires an operator with package: b and with version in range: >=2.0.0",
            id="a package out of range",
        ),
        pytest.param(
            needs_package("b", "~1"),
            an_installed("b"),
            "bundle local/olm/stable/a.v1.0.0 cannot be used: Could not parse Range",
            id="resolver.md 13 B7: a range that is none prohibits its bundle",
        ),
        pytest.param(
            constraint(
                all={"constraints": [{"gvk": gvk("K").value}, {"package": needs_package("b", ">=1.0.0").value}]}
            ),
            an_installed("b", gvk("K")),
            "",
            id="resolver.md 4.3: one operator meets all of a compound constraint",
        ),
        pytest.param(
            constraint(any={"constraints": [{"gvk": gvk("K").value}, {"gvk": gvk("L").value}]}),
            an_installed("b", gvk("L")),
            "",
            id="resolver.md 4.3: any",
        ),
        pytest.param(
            constraint(cel={"rule": "properties.exists(p, p.type == 'x')"}, failureMessage="needs x"),
            an_installed("b"),
            'with constraint: "properties.exists(p, p.type == \'x\')" and message: "needs x"',
            id="resolver.md 4.4: a rule in CEL that nobody meets",
        ),
        pytest.param(constraint(), an_installed("b"), "constraint is empty", id="resolver.md 4.3: an empty constraint"),
    ],
)
def test_needs(need: Property, installed: Installed, want: str) -> None:
    sentence = refusal(answer(A, packages=[a_package("a", need)], installed=[installed]), "a")
    assert (want in sentence) if want else sentence == ""


def test_two_that_need_each_other_are_installed_together() -> None:
    resolution = answer(
        A,
        B,
        packages=[a_package("a", gvk("K"), gvk("L", required=True)), a_package("b", gvk("L"), gvk("K", required=True))],
    )
    assert [component.subscribers for component in resolution.components] == [("a", "b")]
    assert chosen(resolution) == ["a.v1.0.0", "b.v1.0.0"]


def test_who_needs_a_refused_one_is_refused_too_and_others_are_not() -> None:
    resolution = answer(
        A, B, a_subscriber("c"),
        packages=[
            a_package("a", gvk("K", required=True)), a_package("b", gvk("K"), gvk("M", required=True)), a_package("c"),
        ],
    )  # fmt: skip
    assert refusal(resolution, "a")
    assert refusal(resolution, "b")
    assert chosen(resolution) == ["c.v1.0.0"]


def test_an_api_has_one_provider() -> None:
    resolution = answer(A, packages=[a_package("a", gvk("K"))], installed=[an_installed("b", gvk("K"))])
    assert refusal(resolution, "a") == (
        "constraints not satisfiable: @existing/ns//b.v1.0.0 and local/olm/stable/a.v1.0.0 provide K (example.com/v1), "
        "clusterserviceversion b.v1.0.0 exists and is not referenced by a subscription, subscription a exists, "
        "subscription a requires local/olm/stable/a.v1.0.0"
    )


def test_an_update_whose_name_a_copy_has_is_refused_in_its_component_only() -> None:
    newer = a_package("a", version="2.0.0", replaces="a.v1.0.0")
    offered = readers(newer, a_package("b"))
    subscribers = (a_subscriber("a", installed_csv="a.v1.0.0"), B)
    copies = {"a.v2.0.0": "elsewhere"}
    resolution = resolve(
        Inputs("ns", subscribers, (an_installed("a", owner="a"),), {KEY: CATALOG}, offered, copies=copies)
    )
    assert chosen(resolution) == ["b.v1.0.0"]
    assert "a.v2.0.0 is installed for this namespace already, from namespace elsewhere" in refusal(resolution, "a")


NEEDING = a_package("a", gvk("K", required=True))
"""It needs what `b` gives."""


@pytest.mark.parametrize("dependencies", ["install", "require"])
@pytest.mark.parametrize("is_whole", [False, True])
def test_a_dependency_that_serves_the_namespace_from_elsewhere_is_not_installed_again(
    dependencies: str, *, is_whole: bool
) -> None:
    asking = a_subscriber("a", policy=SubscriptionPolicy(dependencies=dependencies))
    offered, copies = readers(NEEDING, a_package("b", gvk("K"))), {"b.v1.0.0": "elsewhere"}
    inputs = Inputs("ns", (asking,), (), {KEY: CATALOG}, offered, copies=copies, is_whole=is_whole)
    resolution = resolve(inputs)
    assert chosen(resolution) == ["a.v1.0.0"]
    assert resolution.reasons["a"] == (
        "a.v1.0.0 from channel stable of catalog olm/local; "
        "b.v1.0.0 is installed for this namespace already, from namespace elsewhere"
    )
    both = resolve(replace(inputs, subscribers=(*inputs.subscribers, B)))
    assert "b.v1.0.0 is installed for this namespace already" in refusal(both, "b")


def test_a_copy_of_another_version_stands_in_nobodys_way() -> None:
    offered = readers(a_package("a"))
    assert chosen(resolve(Inputs("ns", (A,), (), {KEY: CATALOG}, offered, copies={"a.v0": "x"}))) == ["a.v1.0.0"]


def test_a_second_subscription_for_an_installed_package_is_refused() -> None:
    """resolver.md 10.3: the installed copy and the catalog's copy are the same package."""
    first = a_subscriber("a", "first", installed_csv="a.v1.0.0")
    resolution = answer(
        first, a_subscriber("a", "second"), packages=[a_package("a")], installed=[an_installed("a", owner="first")]
    )
    assert refusal(resolution, "second") == (
        "constraints not satisfiable: @existing/ns//a.v1.0.0 and local/olm/stable/a.v1.0.0 originate from package a, "
        "subscription first exists, subscription first requires @existing/ns//a.v1.0.0, subscription second exists, "
        "subscription second requires local/olm/stable/a.v1.0.0"
    )


def test_two_subscriptions_for_one_package_get_one_bundle() -> None:
    """catalog.md 8.7.83: two Subscriptions for the same package share one plan."""
    resolution = answer(a_subscriber("a", "x"), a_subscriber("a", "y"), packages=[a_package("a")])
    [one] = resolution.chosen
    assert one.subscribers == ("x", "y")


def test_a_refusal_in_namespace_scope_refuses_all() -> None:
    """catalog.md 8.7.67: OLM stamps every Subscription of the namespace."""
    resolution = answer(A, B, packages=[a_package("a")], whole=True)
    assert chosen(resolution) == []
    assert refusal(resolution, "a") == refusal(resolution, "b") != ""


def test_one_that_waits_holds_up_its_own_component_only() -> None:
    waiting = a_subscriber("a", "x", waits="InstallPlan install-1 is under way")
    resolution = answer(waiting, a_subscriber("a", "y"), B, packages=[a_package("a"), a_package("b")])
    assert chosen(resolution) == ["b.v1.0.0"]
    assert resolution.reasons["x"] == "InstallPlan install-1 is under way"


def test_a_problem_of_the_namespace_is_told_to_every_subscription() -> None:
    two = Reason(Code.OPERATOR_GROUPS, "expected 1 OperatorGroup in the namespace, found 2")
    resolution = resolve(Inputs("ns", (A, B), problem=two))
    assert {refusal(resolution, name) for name in "ab"} == {two.text}


def test_a_bug_in_the_solver_is_no_refusal() -> None:
    def is_broken(_: object) -> tuple[Constraint, ...]:
        raise ValueError("a bug")

    inputs = Inputs("ns", (a_subscriber("x"),), catalogs={KEY: CATALOG}, readers=readers())
    with pytest.raises(ValueError, match="a bug"):
        resolve(inputs, why=is_broken)


def test_a_search_that_takes_too_long_is_a_refusal() -> None:
    def gives_up(_: object) -> tuple[Constraint, ...]:
        raise GaveUp("gave up because it took too long")

    inputs = Inputs("ns", (a_subscriber("x"),), catalogs={KEY: CATALOG}, readers=readers())
    [component] = resolve(inputs, why=gives_up).components
    assert component.refusal == prevented(Reason(Code.GAVE_UP, "gave up because it took too long"))


@pytest.mark.parametrize(
    ("catalog", "want"),
    [
        pytest.param(Catalog(KEY), "", id="a catalog that was not read yet is waited for"),
        pytest.param(
            Catalog(KEY, problem="couldn't connect to registry - no"),
            "error using catalogsource olm/local: couldn't connect to registry - no",
            id="catalog.md 8.7.68: a catalog that cannot be read",
        ),
    ],
)
def test_catalogs_without_content(catalog: Catalog, want: str) -> None:
    resolution = resolve(Inputs("ns", (A,), catalogs={KEY: catalog}))
    assert refusal(resolution, "a") == want


def test_the_order_of_the_inputs_does_not_matter() -> None:
    subscribers = [a_subscriber(name) for name in "abcdef"]
    packages = [a_package(name, gvk("K", required=name != "a")) for name in "abcdef"]
    first = answer(*subscribers, packages=packages)
    shuffler = random.Random(1)
    for _ in range(50):
        shuffler.shuffle(subscribers)
        shuffler.shuffle(packages)
        assert answer(*subscribers, packages=packages) == first


def test_a_channel_without_one_order_prevents_the_decision_of_its_subscriptions_only() -> None:
    fork = (Entry("a.v3", "a.v1"), Entry("a.v2", "a.v1"), Entry("a.v1"))
    bundles = {entry.name: Bundle(entry.name, "1.0.0", "i") for entry in fork}
    resolution = answer(A, B, packages=[Package("a", "stable", (Channel("stable", fork),), bundles), a_package("b")])
    assert "a unique replacement chain within a channel is required" in refusal(resolution, "a")
    assert chosen(resolution) == ["b.v1.0.0"]


def test_a_package_has_one_provider() -> None:
    """resolver.md 9.1: an unclaimed version of the same package, which the catalog does not have, stands in the way."""
    resolution = answer(A, packages=[a_package("a", version="2.0.0")], installed=[an_installed("a")])
    assert refusal(resolution, "a") == (
        "constraints not satisfiable: @existing/ns//a.v1.0.0 and local/olm/stable/a.v2.0.0 originate from package a, "
        "clusterserviceversion a.v1.0.0 exists and is not referenced by a subscription, subscription a exists, "
        "subscription a requires local/olm/stable/a.v2.0.0"
    )


def test_what_nobody_claims_is_taken_over() -> None:
    resolution = answer(A, packages=[a_package("a")], installed=[an_installed("a")])
    assert [(one.bundle.name, one.subscribers) for one in resolution.chosen] == [("a.v1.0.0", ("a",))]
