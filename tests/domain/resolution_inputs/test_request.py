"""Questions of odd shape, and catalogs that cannot be read."""

from __future__ import annotations

from typing import Any

import pytest

from shared import names
from shared.domain.catalog.model import Package
from shared.domain.image_source import ImageSource
from shared.domain.resolution_inputs.request import inputs_of, paths_of, reader_of, response_of
from shared.domain.resolver.catalog_readers import LoadedCatalog
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, Inputs, Subscriber
from shared.domain.resolver.reasons import Code, Reason, together
from shared.domain.resolver.resolve import resolve
from shared.domain.shape import InvalidRequest
from shared.ports import Unavailable
from shared.reading.indexed_catalog import IndexedCatalog
from tests.domain.resolver.scenery import (
    ask,
    bundle,
    catalog,
    channel,
    chosen,
    constraint,
    csv,
    gives,
    needs,
    package,
    releases,
    sub,
)

KEY = CatalogKey("olm", "cat")


def of_blob(blob: Any) -> dict[str, Any]:
    return {"namespace": "ns", "catalogs": [{"name": "c", "namespace": "ns", "fbc": [blob]}]}


@pytest.mark.parametrize(
    ("document", "why"),
    [
        pytest.param({}, "namespace: missing", id="nothing"),
        pytest.param({"namespace": 5}, "namespace: wanted a text, got a whole number", id="a number for a name"),
        pytest.param(
            {"namespace": "ns", "catalogs": [5]}, "catalogs[0]: wanted an object, got a whole number",
            id="a number for a catalog",
        ),
        pytest.param(
            {"namespace": "ns", "catalogs": [{"name": "c"}]}, "catalogs[0].namespace: missing",
            id="a catalog that is nowhere",
        ),
        pytest.param(
            {"namespace": "ns", "subscriptions": ["x"]}, "subscriptions[0]: wanted an object, got a text",
            id="a text for a Subscription",
        ),
        pytest.param(
            {"namespace": "ns", "subscriptions": [sub("a"), {"spec": {"name": "etcd"}}]},
            "subscriptions[1].metadata.name: missing", id="a Subscription without a name",
        ),
        pytest.param(
            {"namespace": "ns", "csvs": [{"metadata": {"name": ""}}]}, "csvs[0].metadata.name: missing",
            id="a version without a name",
        ),
        pytest.param({"namespace": "ns", "csvs": 5}, "csvs: wanted a list, got a whole number", id="no list"),
        pytest.param(of_blob(5), "catalogs[0].fbc[0]: wanted an object, got a whole number", id="a number for a blob"),
        pytest.param(
            of_blob({"schema": "olm.channel", "package": "a", "name": "x", "entries": [5]}),
            "catalogs[0].fbc: olm.channel x.entries[0]: wanted an object, got a whole number", id="a number as entry",
        ),
        pytest.param(
            of_blob({"schema": "olm.bundle", "package": "a", "properties": [{"value": 1}]}),
            "catalogs[0].fbc: olm.bundle without a name.properties[0].type: missing", id="a property without a type",
        ),
    ],
)  # fmt: skip
def test_a_request_of_another_shape_is_refused(document: Any, why: str) -> None:
    with pytest.raises(InvalidRequest) as error:
        inputs_of(document, {}, is_whole=True)
    assert str(error.value) == why


def test_what_a_subscription_leaves_out_is_answered_as_olm_does() -> None:
    """resolver.md 9.1: who names no catalog gets OLM's refusal, not an error of shape."""
    [reported] = chosen(ask(catalog(), subs=[{"metadata": {"name": "a"}, "spec": {"name": "a", "channel": None}}]))
    assert reported.startswith("constraints not satisfiable: no operators found from catalog")


@pytest.mark.parametrize("more", [{"healthy": False}, {"namespace": "elsewhere"}])
def test_a_catalog_that_nobody_needs_is_read_too(more: dict[str, Any]) -> None:
    catalogs = [{"name": name, "namespace": "ns", "path": "/nosuch", **more} for name in ("c", "again")]
    assert list(paths_of({"namespace": "ns", "catalogs": catalogs})) == ["/nosuch"]


@pytest.mark.parametrize(
    ("more", "why"),
    [
        pytest.param({"globalNamespace": None}, "the request has no globalNamespace", id="not said"),
        pytest.param({"globalNamespace": "olm"}, "the globalNamespace is olm", id="another one"),
        pytest.param(
            {
                "globalNamespace": "market",
                "operatorGroups": [{"metadata": {"annotations": {names.EXCLUDE_GLOBAL_CATALOGS: "true"}}}],
            },
            f"its OperatorGroup has the annotation {names.EXCLUDE_GLOBAL_CATALOGS}", id="left out",
        ),
    ],
)  # fmt: skip
def test_a_catalog_that_is_not_seen_is_explained(more: dict[str, Any], why: str) -> None:
    far = catalog(releases("a", 1), namespace="market")
    answer = ask(far, subs=[sub("a", namespace="market")], **more)
    assert answer["unsatisfiable"]
    [reported] = [one["message"] for one in answer["conflict"] if one["code"] == "CatalogEmpty"]
    assert reported.endswith(f" (namespace ns does not see catalog market/cat: {why})")


@pytest.mark.parametrize("whole", [True, False])
def test_versions_that_contradict_each_other_stop_the_namespace(*, whole: bool) -> None:
    """resolver.md 2.5: the virtual catalog cannot be read."""
    broken = csv("b.v1")
    broken["metadata"]["annotations"] = {names.PROPERTIES: "{"}
    [reported] = chosen(ask(catalog(releases("a", 1)), subs=[sub("a")], csvs=[broken], whole=whole))
    assert reported.startswith('error using catalogsource ns/@existing: failed to retrieve properties of csv "b.v1"')


def test_other_schemas_are_passed_over_and_versions_need_not_be_versions() -> None:
    """resolver.md 2.4: unparsable, so no version; not an error."""
    blobs = [
        *package("a", []),
        channel("a", "stable", {"name": "a.x"}),
        bundle("a", "a.x", version="latest"),
        {"schema": "x"},
    ]
    assert chosen(ask(catalog(blobs), subs=[sub("a")])) == ["a.x"]


def test_several_errors_are_reported_as_a_list() -> None:
    """resolver.md 9.4."""
    other, forked = Reason(Code.PREVENTED, "a"), Reason(Code.CHANNEL_FORKED, "b")
    assert together([other, forked, other]) == Reason(Code.CHANNEL_FORKED, "[a, b]")
    sick = [catalog(name="one", healthy=False), catalog(name="two", healthy=False)]
    [reported] = chosen(ask(*sick, subs=[sub("a")]))
    assert reported.startswith("[error using catalogsource ns/one: ")


def test_what_is_wrong_with_the_installed_comes_before_sick_catalogs() -> None:
    """resolver.md 9.2: 2 before 4."""
    wrong = csv("x.v1", constraint(unknown={}))
    assert chosen(ask(catalog(healthy=False), csvs=[wrong], subs=[sub("a")])) == [
        'parse olm.constraint: json: unknown field "unknown"'
    ]


class Sick:
    """Content of which nothing can be read."""

    def package(self, *_: object) -> Unavailable:
        return Unavailable("Malformed", "package a is broken")

    def packages(self, *_: object) -> Unavailable:
        return Unavailable("Unreachable", "no route")

    def providers(self, *_: object) -> Unavailable:
        return Unavailable("Unreachable", "no route")


A = Subscriber("a", "a", "stable", KEY)


def asked(catalog: Catalog, reader: IndexedCatalog | None, *subscribers: Subscriber, whole: bool = False) -> list[str]:
    readers = {KEY: reader} if reader else {}
    found = resolve(Inputs("ns", subscribers, (), {KEY: catalog}, readers, is_whole=whole))
    return [*found.reasons.values()]


def test_a_package_that_cannot_be_read_stops_its_subscriptions() -> None:
    reader = IndexedCatalog(Sick(), "reference", ImageSource("a", "ns"))
    assert asked(Catalog(KEY, reference="r"), reader, A) == ["error using catalogsource olm/cat: package a is broken"]
    assert (list(reader.names()), reader.problem("b")) == ([], "no route")


def test_one_that_waits_goes_on_waiting_whatever_its_catalog_says() -> None:
    waiting = Subscriber("a", "a", "stable", KEY, waits="a plan is under way")
    assert asked(Catalog(KEY, problem="no route"), None, waiting) == ["a plan is under way"]


def test_in_namespace_scope_an_unread_catalog_is_waited_for() -> None:
    assert asked(Catalog(KEY), None, A, whole=True) == ["catalog olm/cat has not been read yet"]


def test_a_loaded_catalog_says_what_is_wrong_with_a_package() -> None:
    reader = LoadedCatalog({"a": Package("a", "", (), {})}, {"b": "it has no channel"})
    assert (reader.problem("a"), reader.problem("b")) == ("", "it has no channel")


def test_two_subscriptions_of_one_name_are_no_request() -> None:
    here = catalog(releases("a", 1))
    assert chosen(ask(here, subs=[sub("a"), sub("a")])) == ['duplicate identifier "subscription:a" in input']


def test_a_loaded_catalog_answers_again_as_before() -> None:
    request = {
        "namespace": "ns",
        "catalogs": [{"name": "cat", "namespace": "ns", "path": "x"}],
        "subscriptions": [sub("a")],
    }
    loaded = {"x": reader_of(releases("a", 2))}
    first, second = (resolve(inputs_of(request, loaded, is_whole=True)) for _ in range(2))
    assert response_of(first) == response_of(second) != {}


@pytest.mark.parametrize("is_met", [True, False])
def test_what_is_needed_from_others_waits_for_catalogs_that_are_not_read_yet(*, is_met: bool) -> None:
    """Otherwise the answer would depend on which catalog came first."""
    other = CatalogKey("olm", "other")
    offered = [
        *releases("a", 1, v1=[needs("K")]),
        *(releases("b", 1, v1=[gives("K")]) if is_met else ()),
    ]
    inputs = Inputs(
        "ns", (A,), (), {KEY: Catalog(KEY, reference="r"), other: Catalog(other)}, {KEY: reader_of(offered)}
    )
    found = resolve(inputs)
    assert (found.chosen, dict(found.reasons)) == ((), {"a": "catalog olm/other has not been read yet"})
    assert all(component.refusal is None for component in found.components)


def test_what_needs_nothing_waits_for_no_other_catalog() -> None:
    other = CatalogKey("olm", "other")
    reader = reader_of(releases("a", 1))
    inputs = Inputs("ns", (A,), (), {KEY: Catalog(KEY, reference="r"), other: Catalog(other)}, {KEY: reader})
    assert [one.bundle.name for one in resolve(inputs).chosen] == ["a.v1"]
