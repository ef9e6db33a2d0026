"""A read is made once per change, and never outlives a foreign change that an event told of."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.kube import ApiError, CachedClient, ChangeCounts, KubeClient, connect
from shared.adapters.kube.answers import BRIEF_SECONDS, Place, place_of
from shared.adapters.kube.cached import MAX_OBJECTS
from shared.adapters.kube.reported import PRESENT_READS, PresentRun
from shared.api.manifest import Manifest, resource_version_of
from shared.kinds import CONFIG_MAP, CUSTOM_RESOURCE_DEFINITION, NAMESPACE, SECRET, SERVICE_ACCOUNT, Kind, Ref
from shared.names import ANY, NONE, V1_MANAGED_BY, V1_MANAGER
from shared.resource_versions import weight
from tests.kit.sandbox import running_sandbox

REF = SERVICE_ACCOUNT.ref("one", "default")


class Notifier:
    """Tells one worker of the changes that a test lets it tell of, and of the writes of the others."""

    def __init__(self) -> None:
        self.total = self.writes = self.asked = 0
        self.others: list[Notifier] = []
        self.expects = False

    def counts(self, places: Sequence[Place]) -> list[ChangeCounts]:
        self.asked += 1
        return [ChangeCounts(self.total, "", self.writes)] * len(places)

    def expect(self, step: str, kind: Kind, namespace: str) -> None:
        assert self.expects, "no run reads here"

    def forget(self, kind: Kind) -> None:
        self.total = self.writes = 0

    def wrote(self, kind: Kind, namespace: str) -> None:
        for other in self.others:
            other.writes += 1

    def notify(self, manifest: Manifest | None) -> None:
        self.total += weight(resource_version_of(manifest or {}))


class Hands:
    """A clock that a test moves."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture(scope="module")
def kubeconfig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    with running_sandbox(tmp_path_factory.mktemp("sandbox")) as path:
        yield path


@pytest.fixture(autouse=True)
def other(kubeconfig: Path) -> Iterator[KubeClient]:
    """Somebody else."""
    client = KubeClient.from_kubeconfig(str(kubeconfig))
    yield client
    if client.get(REF):
        client.delete(REF)


@pytest.fixture
def notifier() -> Notifier:
    return Notifier()


@pytest.fixture
def hands() -> Hands:
    return Hands()


@pytest.fixture
def cached(kubeconfig: Path, notifier: Notifier, hands: Hands) -> CachedClient:
    kinds = [SERVICE_ACCOUNT, CUSTOM_RESOURCE_DEFINITION]
    return CachedClient(connect(str(kubeconfig)), notifier, kinds, [CONFIG_MAP], now=hands)


def an_account(**labels: str) -> Manifest:
    meta = {"name": REF.name, "namespace": REF.namespace, "labels": labels}
    return {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}


def labels(manifest: Manifest | None) -> object:
    return (manifest or {}).get("metadata", {}).get("labels")


def requests(client: KubeClient, *reads: Ref) -> int:
    before = client.requests_made
    for ref in reads:
        client.get(ref)
    return client.requests_made - before


def test_the_second_read_asks_nobody(cached: CachedClient, other: KubeClient) -> None:
    other.create(an_account())
    assert requests(cached, REF, REF, REF) == 1


def test_that_an_object_is_absent_is_remembered(cached: CachedClient) -> None:
    assert cached.get(REF) is None
    assert requests(cached, REF) == 0


def test_a_list_answers_for_each_of_its_objects(cached: CachedClient, other: KubeClient) -> None:
    other.create(an_account())
    listed = cached.list(SERVICE_ACCOUNT, "default")
    assert requests(cached, REF) == 0
    assert cached.list(SERVICE_ACCOUNT, "default") == listed
    assert cached.get(REF) in listed


def test_a_list_of_all_answers_for_each_namespace(cached: CachedClient, other: KubeClient) -> None:
    other.create(an_account())
    everywhere = cached.list(SERVICE_ACCOUNT)
    before = cached.requests_made
    assert cached.list(SERVICE_ACCOUNT, "default") == tuple(
        one for one in everywhere if Ref.of(one).namespace == "default"
    )
    assert cached.get(REF) in everywhere
    assert cached.requests_made == before


def test_a_foreign_change_spoils_the_list_of_all(cached: CachedClient, other: KubeClient, notifier: Notifier) -> None:
    cached.list(SERVICE_ACCOUNT)
    notifier.notify(other.create(an_account()))
    assert REF in [Ref.of(found) for found in cached.list(SERVICE_ACCOUNT, "default")]
    assert cached.get(REF) is not None


def test_a_foreign_change_that_was_told_is_read(cached: CachedClient, other: KubeClient, notifier: Notifier) -> None:
    other.create(an_account(colour="blue"))
    cached.get(REF)
    notifier.notify(other.replace(an_account(colour="red")))
    assert labels(cached.get(REF)) == {"colour": "red"}


def test_a_foreign_change_spoils_the_list_too(cached: CachedClient, other: KubeClient, notifier: Notifier) -> None:
    cached.list(SERVICE_ACCOUNT, "default")
    notifier.notify(other.create(an_account()))
    assert REF in [Ref.of(found) for found in cached.list(SERVICE_ACCOUNT, "default")]


def test_our_own_write_is_known_before_and_after_its_event(cached: CachedClient, notifier: Notifier) -> None:
    cached.list(SERVICE_ACCOUNT, "default")
    written = cached.create(an_account())
    assert requests(cached, REF) == 0
    assert cached.get(REF) == written
    notifier.notify(written)
    assert requests(cached, REF) == 0


def test_a_foreign_change_between_two_of_ours_is_read(
    cached: CachedClient, other: KubeClient, notifier: Notifier
) -> None:
    notifier.notify(cached.create(an_account()))
    cached.get(REF)
    notifier.notify(cached.replace(an_account(colour="blue")))
    notifier.notify(other.replace(an_account(colour="red")))
    assert labels(cached.get(REF)) == {"colour": "red"}


def test_the_event_of_what_was_read_says_nothing_new(
    cached: CachedClient, other: KubeClient, notifier: Notifier
) -> None:
    other.create(an_account())
    first, second = (other.merge(REF, {"metadata": {"labels": {"a": each}}}) for each in ("first", "second"))
    assert labels(cached.get(REF)) == {"a": "second"}
    notifier.notify(first)
    assert requests(cached, REF) == 1, "nobody knows that this was the one before"
    notifier.notify(second)
    assert requests(cached, REF) == 0
    cached.merge(REF, {"metadata": {"labels": {"a": "third"}}})
    notifier.notify(other.merge(REF, {"metadata": {"labels": {"a": "fourth"}}}))
    assert labels(cached.get(REF)) == {"a": "fourth"}


def test_what_is_made_or_read_before_the_event_of_our_last_write_outlives_that(
    cached: CachedClient, other: KubeClient, notifier: Notifier
) -> None:
    refs = [SERVICE_ACCOUNT.ref(name, "default") for name in ("first", "second", "third")]
    made = [{**an_account(), "metadata": {"name": ref.name, "namespace": "default"}} for ref in refs]
    other.create(made[2])
    ours = [cached.create(each) for each in made[:2]]
    assert requests(cached, *refs) == 1
    for each in ours:
        assert requests(cached, *refs) == 0
        notifier.notify(each)
    assert requests(cached, *refs) == 0
    notifier.notify(other.merge(refs[1], {"metadata": {"labels": {"a": "b"}}}))
    assert requests(cached, *refs) == len(refs)
    for ref in refs:
        other.delete(ref)


def test_a_write_that_changes_nothing_expects_no_event(
    cached: CachedClient, other: KubeClient, notifier: Notifier
) -> None:
    other.create(an_account(colour="blue"))
    cached.get(REF)
    cached.replace(an_account(colour="blue"))
    assert requests(cached, REF) == 0
    notifier.notify(other.replace(an_account(colour="red")))
    assert labels(cached.get(REF)) == {"colour": "red"}


def test_what_we_deleted_is_read_again(cached: CachedClient, other: KubeClient) -> None:
    other.create(an_account())
    cached.list(SERVICE_ACCOUNT, "default")
    cached.delete(REF)
    assert cached.get(REF) is None


def test_what_we_deleted_is_read_again_also_where_it_was_read_meanwhile(
    cached: CachedClient, other: KubeClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By another thread, after the request began."""
    delete = KubeClient.delete

    def read_before(client: KubeClient, ref: Ref, **words: Any) -> None:
        assert cached.get(ref)
        delete(client, ref, **words)

    other.create(an_account())
    monkeypatch.setattr(KubeClient, "delete", read_before)
    cached.delete(REF)
    assert cached.get(REF) is None


def test_an_answer_is_good_for_seconds_only_even_if_no_event_comes(
    cached: CachedClient, other: KubeClient, hands: Hands
) -> None:
    other.create(an_account(colour="blue"))
    cached.get(REF)
    other.replace(an_account(colour="red"))
    hands.seconds = 10.5
    assert labels(cached.get(REF)) == {"colour": "red"}


def test_a_write_of_another_worker_is_read_before_its_event(
    cached: CachedClient, kubeconfig: Path, notifier: Notifier, hands: Hands
) -> None:
    notifier.others = [Notifier()]
    worker = CachedClient(connect(str(kubeconfig)), notifier.others[0], [SERVICE_ACCOUNT], now=hands)
    cached.create(an_account(colour="blue"))
    assert labels(worker.get(REF)) == {"colour": "blue"}
    cached.replace(an_account(colour="red"))
    assert labels(worker.get(REF)) == {"colour": "red"}
    cached.delete(REF)
    assert worker.get(REF) is None


def test_a_refused_write_is_decided_again_from_what_there_is(cached: CachedClient, other: KubeClient) -> None:
    read = other.create(an_account(colour="blue"))
    assert cached.get(REF) == read
    other.replace(an_account(colour="red"))
    with pytest.raises(ApiError, match="Conflict"):
        cached.replace(read)
    assert labels(cached.get(REF)) == {"colour": "red"}


def test_a_kind_of_which_not_every_change_is_told_is_always_read(cached: CachedClient) -> None:
    assert requests(cached, NAMESPACE.ref("default"), NAMESPACE.ref("default")) == 2


MAP = CONFIG_MAP.ref("one", "default")


@pytest.fixture
def labelled(other: KubeClient) -> Iterator[Manifest]:
    """An object of a kind of which only those with our label are told of."""
    meta = {"name": MAP.name, "namespace": MAP.namespace, "labels": {"olm.managed": "true"}}
    yield other.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
    if other.get(MAP):
        other.delete(MAP)


def test_of_a_kind_of_which_only_ours_are_told_ours_are_remembered(
    cached: CachedClient, other: KubeClient, notifier: Notifier, labelled: Manifest
) -> None:
    assert requests(cached, MAP, MAP) == 1
    notifier.notify(other.merge(MAP, {"data": {"a": "b"}}))
    assert (cached.get(MAP) or {})["data"] == {"a": "b"}
    assert requests(cached, MAP) == 0


def test_that_it_is_absent_or_not_ours_is_not(cached: CachedClient, other: KubeClient, labelled: Manifest) -> None:
    assert requests(cached, CONFIG_MAP.ref("absent", "default"), CONFIG_MAP.ref("absent", "default")) == 2
    other.merge(MAP, {"metadata": {"labels": {"olm.managed": None}}})
    assert requests(cached, MAP, MAP) == 2
    assert [len(cached.list(CONFIG_MAP, "default")) for _ in range(2)] == [1, 1]


def test_what_we_take_our_label_from_is_read_again(cached: CachedClient, labelled: Manifest) -> None:
    assert requests(cached, MAP, MAP) == 1
    cached.merge(MAP, {"metadata": {"labels": {"olm.managed": None}}})
    assert requests(cached, MAP, MAP) == 2


def test_a_selection_by_labels_is_read_once_per_change(
    cached: CachedClient, other: KubeClient, notifier: Notifier
) -> None:
    def selected(value: str = "b") -> list[str]:
        return [Ref.of(one).name for one in cached.list(SERVICE_ACCOUNT, "default", labels={"a": value})]

    assert selected() == []
    written = cached.create(an_account(a="b"))
    asked = cached.requests_made
    assert selected() == ["one"]
    notifier.notify(written)
    assert selected() == ["one"]
    notifier.notify(cached.merge(REF, {"metadata": {"labels": {"a": "c"}}}))
    assert selected() == []
    assert cached.requests_made == asked + 1, "our own writes are known"
    assert selected("c") == ["one"]
    notifier.notify(other.merge(REF, {"metadata": {"labels": {"a": "b"}}}))
    assert (selected("b"), selected("c")) == (["one"], [])
    notifier.notify(other.create({**an_account(), "metadata": {"name": "two", "namespace": "default"}}))
    cached.list(SERVICE_ACCOUNT, "default")
    asked = cached.requests_made
    assert (selected(ANY), selected(NONE)) == (["one"], ["default", "two"]), "of a list of all"
    assert cached.requests_made == asked
    other.delete(SERVICE_ACCOUNT.ref("two", "default"))


def test_what_we_made_is_known(cached: CachedClient, other: KubeClient, notifier: Notifier) -> None:
    written = cached.create(an_account())
    assert requests(cached, REF) == 0
    assert cached.get(REF) == written
    notifier.notify(written)
    assert requests(cached, REF) == 0
    notifier.notify(other.merge(REF, {"metadata": {"labels": {"a": "b"}}}))
    assert labels(cached.get(REF)) == {"a": "b"}


def test_of_a_kind_of_which_only_ours_are_told_what_we_made_is_known_if_it_is_ours(cached: CachedClient) -> None:
    for is_ours in (True, False):
        meta = {"name": MAP.name, "namespace": MAP.namespace, "labels": {"olm.managed": "true"} if is_ours else {}}
        cached.create({"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta})
        assert requests(cached, MAP, MAP) == (0 if is_ours else 2)
        cached.delete(MAP)


HELD = SECRET.ref("one", "default")
OF_A_REVISION = {V1_MANAGED_BY: V1_MANAGER}


def a_secret(**more: object) -> Manifest:
    meta = {"name": HELD.name, "namespace": HELD.namespace, "labels": OF_A_REVISION}
    return {"apiVersion": "v1", "kind": "Secret", "metadata": meta, **more}


@pytest.fixture
def held(other: KubeClient) -> Iterator[Manifest]:
    """An object of a revision, of a kind that is not watched."""
    yield other.create(a_secret())
    if other.get(HELD):
        other.delete(HELD)


def test_of_a_kind_that_nobody_need_watch_what_a_revision_has_is_remembered_for_a_while(
    cached: CachedClient, other: KubeClient, hands: Hands, held: Manifest
) -> None:
    assert requests(cached, HELD, HELD) == 1
    other.merge(HELD, {"data": {"a": "YQ=="}})
    hands.seconds = BRIEF_SECONDS + 0.1
    assert (cached.get(HELD) or {})["data"] == {"a": "YQ=="}
    other.delete(HELD)
    hands.seconds = 2 * BRIEF_SECONDS + 0.2
    assert requests(cached, HELD, HELD) == 2, "that it is absent is asked each time"


def test_a_change_of_it_that_was_told_is_read(
    cached: CachedClient, other: KubeClient, notifier: Notifier, held: Manifest
) -> None:
    assert requests(cached, HELD, HELD) == 1
    notifier.notify(other.merge(HELD, {"data": {"a": "YQ=="}}))
    assert (cached.get(HELD) or {})["data"] == {"a": "YQ=="}


def test_one_that_cannot_change_is_remembered_like_any_other(cached: CachedClient, hands: Hands) -> None:
    cached.create(a_secret(immutable=True))
    cached.delete(HELD)
    cached.create(a_secret(immutable=True))
    assert requests(cached, HELD) == 0, "as it was made"
    hands.seconds = BRIEF_SECONDS + 0.1
    assert requests(cached, HELD) == 1
    hands.seconds = 2 * BRIEF_SECONDS + 0.2
    assert requests(cached, HELD) == 0
    cached.delete(HELD)


def test_another_worker_knows_of_our_write_to_it(
    cached: CachedClient, kubeconfig: Path, notifier: Notifier, hands: Hands, held: Manifest
) -> None:
    notifier.others = [Notifier()]
    worker = CachedClient(connect(str(kubeconfig)), notifier.others[0], [], now=hands)
    assert requests(worker, HELD, HELD) == 1
    cached.merge(HELD, {"data": {"a": "YQ=="}})
    assert (worker.get(HELD) or {})["data"] == {"a": "YQ=="}
    cached.merge(HELD, {"metadata": {"labels": {V1_MANAGED_BY: None}}})
    assert requests(cached, HELD, HELD) == 2, "it is of no revision any more"


def a_definition(letter: str) -> Manifest:
    names = {"plural": f"{letter}s", "kind": letter.upper(), "listKind": f"{letter.upper()}List", "singular": letter}
    version = {"name": "v1", "served": True, "storage": True, "schema": {"openAPIV3Schema": {"type": "object"}}}
    spec = {"group": "cached.example", "scope": "Namespaced", "names": names, "versions": [version]}
    meta = {"name": f"{letter}s.cached.example"}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta, "spec": spec}


def test_a_kind_is_not_found_any_more_once_the_change_of_its_definition_was_reported(
    cached: CachedClient, other: KubeClient, notifier: Notifier
) -> None:
    definition = other.create(a_definition("r"))
    api = ("cached.example/v1", "R")
    assert cached.find(*api)
    other.delete(Ref.of(definition))
    assert cached.find(*api), "remembered, until an event tells of it"
    notifier.notify(definition)
    asked = cached.requests_made
    assert [cached.find(*api), cached.find(*api)] == [None, None]
    assert cached.requests_made == asked + 1


def test_definitions_that_are_absent_cost_two_reads_however_many(
    cached: CachedClient, other: KubeClient, notifier: Notifier
) -> None:
    definitions = [a_definition(letter) for letter in "mnop"]
    notifier.notify(other.create(definitions[3]))
    refs = [Ref.of(each) for each in definitions]
    assert requests(cached, *refs[:3]) == 2
    assert [cached.get(ref) for ref in refs[:3]] == [None, None, None]
    assert cached.get(refs[3]) is not None
    cached.create(definitions[0])
    assert cached.get(refs[0]) is not None
    notifier.notify(other.create(definitions[1]))
    assert cached.get(refs[1]) is not None


def test_a_part_of_a_list_is_not_taken_for_the_list(cached: CachedClient, other: KubeClient) -> None:
    second = Ref.of(other.create({**an_account(), "metadata": {"name": "two", "namespace": "default"}}))
    other.create(an_account())
    assert len(cached.list(SERVICE_ACCOUNT, "default", most=1)) == 1
    whole = cached.list(SERVICE_ACCOUNT, "default")
    assert {REF, second} <= {Ref.of(one) for one in whole}
    before = cached.requests_made
    assert cached.list(SERVICE_ACCOUNT, "default", most=1) == whole[:1]
    assert cached.requests_made == before
    other.delete(second)


def test_a_long_list_is_kept_of_namespaces_only(kubeconfig: Path, notifier: Notifier, other: KubeClient) -> None:
    """Each run for a group of all namespaces lists them; of other kinds so many objects would take much memory."""
    client = CachedClient(connect(str(kubeconfig)), notifier, [NAMESPACE, SERVICE_ACCOUNT])
    for number in range(MAX_OBJECTS + 1):
        name = f"many-{number}"
        other.create({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}})
        other.create({**an_account(), "metadata": {"name": "one", "namespace": name}})

    def asked(kind: Kind) -> int:
        before = client.requests_made
        assert len(client.list(kind)) == len(client.list(kind)) > MAX_OBJECTS
        return client.requests_made - before

    assert asked(NAMESPACE) == 1
    assert asked(SERVICE_ACCOUNT) == 2


def in_a_run(ask: Callable[[], object]) -> object:
    """The answer as a run has it."""
    token = PRESENT_READS.set(PresentRun("demo/look", "default"))
    try:
        return ask()
    finally:
        PRESENT_READS.reset(token)


def test_a_run_reads_what_was_reported_before_it_and_need_not_know_what_comes_later(
    kubeconfig: Path, other: KubeClient, notifier: Notifier
) -> None:
    cached = CachedClient(connect(str(kubeconfig)), notifier, [SERVICE_ACCOUNT, CUSTOM_RESOURCE_DEFINITION])
    notifier.expects = True
    other.create(an_account(colour="blue"))

    def first() -> None:
        assert labels(cached.get(REF)) == {"colour": "blue"}
        notifier.notify(other.replace(an_account(colour="red")))
        assert labels(cached.get(REF)) == {"colour": "blue"}, "its event enqueues the step again"

    in_a_run(first)
    assert in_a_run(lambda: labels(cached.get(REF))) == {"colour": "red"}


def test_a_run_that_another_worker_enqueued_reads_what_that_one_wrote(
    kubeconfig: Path, other: KubeClient, notifier: Notifier
) -> None:
    """Before any event tells of it; and our own write in between hides nothing."""
    cached = CachedClient(connect(str(kubeconfig)), notifier, [SERVICE_ACCOUNT, CUSTOM_RESOURCE_DEFINITION])
    notifier.expects = True
    other.create(an_account(colour="blue"))
    second = SERVICE_ACCOUNT.ref("two", "default")
    in_a_run(lambda: (cached.list(SERVICE_ACCOUNT, "default"), cached.get(REF)))
    other.replace(an_account(colour="red"))
    notifier.writes += 1  # as its run ends
    meta = {"name": second.name, "namespace": second.namespace}
    in_a_run(lambda: cached.create({"apiVersion": "v1", "kind": "ServiceAccount", "metadata": meta}))
    assert in_a_run(lambda: labels(cached.get(REF))) == {"colour": "red"}
    other.delete(second)


class NotifierOfPlaces(Notifier):
    """Tells of changes where they were."""

    def __init__(self) -> None:
        super().__init__()
        self.totals: dict[str, int] = {}

    def counts(self, places: Sequence[Place]) -> list[ChangeCounts]:
        return [ChangeCounts(self.totals.get(place, 0)) for _, place in places]

    def notify_of(self, manifest: Manifest) -> None:
        for place in (place_of(Ref.of(manifest)), ""):
            self.totals[place] = self.totals.get(place, 0) + weight(resource_version_of(manifest))


def things_of(group: str, **annotations: str) -> Manifest:
    names, schema = {"plural": "things", "kind": "Thing"}, {"openAPIV3Schema": {"type": "object"}}
    version = {"name": "v1", "served": True, "storage": True, "schema": schema}
    meta = {"name": f"things.{group}", "annotations": annotations}
    spec = {"group": group, "names": names, "scope": "Namespaced", "versions": [version]}
    return {"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "metadata": meta, "spec": spec}


def test_a_definition_is_outdated_by_those_of_its_group_alone(kubeconfig: Path, other: KubeClient) -> None:
    """Operators that are installed at the same time bring a hundred, each of which changes four times."""
    notifier = NotifierOfPlaces()
    cached = CachedClient(connect(str(kubeconfig)), notifier, [CUSTOM_RESOURCE_DEFINITION])
    own, foreign = (other.create(things_of(f"{name}.example.com")) for name in ("own", "foreign"))
    ref = Ref.of(own)
    for each in (own, foreign):
        notifier.notify_of(each)
    cached.get(ref)
    notifier.notify_of(other.merge(Ref.of(foreign), {"metadata": {"annotations": {"told": "yes"}}}))
    assert requests(cached, ref) == 0
    notifier.notify_of(other.merge(ref, {"metadata": {"annotations": {"told": "yes"}}}))
    assert requests(cached, ref) == 1
    for each in (own, foreign):
        other.delete(Ref.of(each))


def test_where_nobody_counts_groups_every_definition_outdates_the_others(kubeconfig: Path, other: KubeClient) -> None:
    """A watcher of before this build counts all of them together."""
    notifier = NotifierOfPlaces()
    cached = CachedClient(connect(str(kubeconfig)), notifier, [CUSTOM_RESOURCE_DEFINITION])
    ref = Ref.of(other.create(things_of("own.example.com")))
    notifier.totals[""] = 1
    cached.get(ref)
    notifier.totals[""] = 2
    assert requests(cached, ref) == 1
    other.delete(ref)
