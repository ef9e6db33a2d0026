"""Whom a change of a catalog concerns: whoever got another answer from it, and of whom too little is known."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Subscription
from shared.domain.catalog.model import Package, Property
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog
from shared.kinds import NAMESPACE, Ref
from shared.ports import Policy, Unavailable
from shared.reading.indexed_catalog import IndexedCatalog
from shared.reading.read_sets import MOST_PACKAGES, MOST_REQUESTS, known_reads, read_set_of, unaffected, unchanged
from tests.functions.catalog_source.stored_reads import StoredReads
from tests.functions.subscription.world import FakeCatalogs, a_package, a_subscription

IMAGE, KEY, API = "registry/local:v1", CatalogKey("olm", "local"), Gvk("g", "v1", "K")
NS = NAMESPACE.ref("ns")
PROVIDES = [Property("olm.gvk", API._asdict())]
TROUBLE = Unavailable("Unreachable", "the registry does not answer")


def nothing(_: IndexedCatalog) -> None: ...


def everything(reader: IndexedCatalog) -> None:
    """All that can be asked of a catalog, but for all names."""
    reader.is_empty()
    reader.package("etcd")
    reader.package("nosuch")
    reader.providers(API)


def catalogs() -> FakeCatalogs:
    found = FakeCatalogs()
    found.publish(IMAGE, a_package("etcd", "1.0.0"), a_package("vault", "1.0.0", properties=PROVIDES))
    return found


def catalog_of(content: FakeCatalogs) -> Catalog:
    return Catalog(KEY, IMAGE, content.reference(IMAGE))


def read(
    content: FakeCatalogs, ask: Callable[[IndexedCatalog], object], policy: Policy | None = None
) -> Manifest | None:
    """What is stored of somebody who asked that."""
    catalog = catalog_of(content)
    reader = IndexedCatalog(content, catalog.reference, catalog.source)
    ask(reader)
    ask(reader)
    return read_set_of([catalog], {KEY: reader}, policy or Policy())


def is_left_out(content: FakeCatalogs, stored: Manifest | None, catalog: Catalog | None = None) -> bool:
    return left_out(content, {NS: stored}, catalog or catalog_of(content)) == {NS}


def left_out(content: FakeCatalogs, stored: Mapping[Ref, Manifest | None], catalog: Catalog) -> set[Ref]:
    return unaffected(known_reads([*stored], catalog, StoredReads(stored), Policy()), catalog, content)


@pytest.mark.parametrize("ask", [nothing, everything])
def test_who_would_be_answered_the_same_is_left_out(ask: Callable[[IndexedCatalog], object]) -> None:
    content = catalogs()
    stored = read(content, ask)
    others = [a_package("other", "1.0.0"), a_package("vault", "1.0.0", "2.0.0", properties=PROVIDES)]
    content.publish(IMAGE, a_package("etcd", "1.0.0"), *others)
    assert is_left_out(content, stored)


@pytest.mark.parametrize(
    ("ask", "published"),
    [
        pytest.param(
            lambda one: one.package("etcd"), [a_package("etcd", "1.0.0", "1.1.0")], id="a package has a new version"
        ),
        pytest.param(lambda one: one.package("etcd"), [a_package("vault", "1.0.0")], id="a package is gone"),
        pytest.param(
            lambda one: one.package("nosuch"), [a_package("nosuch", "1.0.0")], id="a missing package is there"
        ),
        pytest.param(
            lambda one: one.providers(API), [a_package("new", "1.0.0", properties=PROVIDES)], id="another provider"
        ),
        pytest.param(
            lambda one: one.providers(API), [a_package("vault", "1.0.0")], id="a provider does not provide it"
        ),
        pytest.param(lambda one: one.is_empty(), [], id="it is empty"),
    ],
)
def test_who_got_another_answer_is_concerned(ask: Callable[[IndexedCatalog], object], published: list[Package]) -> None:
    content = catalogs()
    stored = read(content, ask)
    content.publish(IMAGE, *published)
    assert not is_left_out(content, stored)


@pytest.mark.parametrize("ask", [lambda one: one.names(), lambda one: one.package("sick")])
def test_who_asked_for_all_or_could_not_read_something_is_concerned(ask: Callable[[IndexedCatalog], object]) -> None:
    content = catalogs()
    content.written["sick"] = ()
    assert read(content, ask) is None
    assert not is_left_out(content, None)


def test_whose_package_has_no_digest_is_concerned() -> None:
    """It was read by a build that knew none, or is no snapshot."""
    content = catalogs()
    found = content.content[content.reference(IMAGE)]
    found["etcd"] = replace(found["etcd"], digest="")
    assert read(content, lambda one: one.package("etcd")) is None


@pytest.mark.parametrize(
    "ask", [lambda one: one.package("etcd"), lambda one: one.providers(API), lambda one: one.is_empty()]
)
def test_who_may_get_another_answer_from_what_cannot_be_read_now_is_concerned(
    ask: Callable[[IndexedCatalog], object],
) -> None:
    content = catalogs()
    stored = read(content, ask)
    assert is_left_out(content, stored)
    content.trouble = TROUBLE
    assert not is_left_out(content, stored)


def test_who_did_not_see_the_catalog_is_concerned() -> None:
    content = catalogs()
    stored = read(content, nothing)
    assert not is_left_out(content, stored, replace(catalog_of(content), key=CatalogKey("olm", "new")))


def test_whoever_decided_under_other_settings_is_concerned() -> None:
    content = catalogs()
    assert not is_left_out(content, read(content, nothing, Policy(catalog_policy="strict")))


def test_another_state_of_the_catalog_source_concerns_everybody() -> None:
    content = catalogs()
    stored = read(content, nothing)
    assert not is_left_out(content, stored, replace(catalog_of(content), priority=7))


def test_a_catalog_without_content_is_no_reason_while_it_has_none() -> None:
    content, without = catalogs(), Catalog(KEY, IMAGE, problem="no answer")
    stored = read_set_of([without], {}, Policy())
    assert is_left_out(content, stored, without)
    assert not is_left_out(content, stored)


def test_without_a_catalog_nothing_was_read() -> None:
    assert read_set_of([], {}, Policy()) is None


def test_each_question_of_many_is_asked_once() -> None:
    content = catalogs()
    stored, asked = read(content, everything), list[str]()

    class Counting(FakeCatalogs):
        """Notes what it is asked."""

        def __getattribute__(self, name: str) -> object:
            if name in ("package", "package_digests", "packages", "providers"):
                asked.append(name)
            return super().__getattribute__(name)

    refs = [NAMESPACE.ref(f"ns-{number}") for number in range(50)]
    counting = Counting(content.content, content.digests)
    found = left_out(counting, dict.fromkeys(refs, stored), catalog_of(content))
    assert (found, sorted(asked)) == (set(refs), ["package_digests", "packages", "providers"])


def test_whoever_has_too_many_requests_is_concerned_and_nobody_else() -> None:
    content = catalogs()
    greedy = [NAMESPACE.ref(f"greedy-{number}") for number in range(6)]

    def asks(number: int) -> Callable[[IndexedCatalog], object]:
        return lambda one: [one.providers(Gvk(f"g{number}-{each}", "v1", "K")) for each in range(MOST_REQUESTS // 5)]

    stored = {ref: read(content, asks(number)) for number, ref in enumerate(greedy)}
    found = left_out(content, {**stored, NS: read(content, everything)}, catalog_of(content))
    assert (NS in found, len(found)) == (True, 5)


def users(*packages: str) -> list[Subscription]:
    return [Subscription(a_subscription(name)) for name in packages]


def test_who_could_get_another_status_from_what_cannot_be_read_is_concerned() -> None:
    content = catalogs()
    content.written["sick"] = ()
    found = unchanged(users("etcd", "sick", "nosuch"), catalog_of(content), content)
    assert {ref.name for ref in found} == {"etcd", "nosuch"}
    assert unchanged(users("etcd"), Catalog(KEY, IMAGE, problem="no answer"), content) == set()
    content.trouble = TROUBLE
    assert unchanged(users("etcd"), catalog_of(content), content) == set()


def test_no_more_packages_are_read_whole_than_one_look_may() -> None:
    content, names = catalogs(), [f"package-{number:03}" for number in range(MOST_PACKAGES + 5)]
    content.publish(IMAGE, *(a_package(name, "1.0.0") for name in names))
    twice = [*users(*names), *users(names[0])]
    assert {ref.name for ref in unchanged(twice, catalog_of(content), content)} == set(names[:MOST_PACKAGES])


def test_the_packages_with_a_bundle_are_found_among_those_that_were_asked_for() -> None:
    content = catalogs()
    reader = IndexedCatalog(content, content.reference(IMAGE), catalog_of(content).source)
    everything(reader)
    assert (reader.holders("etcd.v1.0.0"), reader.holders("vault.v1.0.0")) == (("etcd",), ())
