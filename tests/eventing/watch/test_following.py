"""What becomes of an object that a follower cannot handle."""

from __future__ import annotations

from eventing.events.event import Event
from eventing.watch.following import Following
from eventing.watch.known_objects import KnownObjects
from eventing.watch.namespaced import Key, ListedKeys
from eventing.watch.skips import Guarded, Skips
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.kinds import CATALOG_SOURCE


class Names:
    """A follower that knows names, and cannot handle `bad`."""

    def __init__(self) -> None:
        self.found: set[str] = set()
        self.is_broken = False

    def put(self, manifest: ReadOnly) -> None:
        self.found.add(_readable(name_of(manifest)))

    def drop(self, key: Key) -> None:
        self.found.discard(_readable(key[1]))

    def keep(self, listed: ListedKeys) -> None:
        if self.is_broken:
            raise OverflowError("too many")
        self.found &= {name for _, name in listed}


def _readable(name: str) -> str:
    if name == "bad":
        raise OverflowError("too long")
    return name


def an_object(name: str, version: int = 1) -> Manifest:
    return {"metadata": {"name": name, "namespace": "olm", "uid": name, "resourceVersion": f"{version}"}}


def ids(*events: Event) -> list[str]:
    return [event.id for event in events]


def test_an_object_that_a_follower_cannot_handle_makes_its_events() -> None:
    """Otherwise its edit is lost, and the next list reports its end, though it exists."""
    names, skips = Names(), Skips()
    observer = Guarded(
        Following(KnownObjects(CATALOG_SOURCE, "api"), names, CATALOG_SOURCE, skips), CATALOG_SOURCE, skips
    )
    listed: set[Key] = set()
    assert ids(*observer.page([an_object("bad"), an_object("tea")], listed)) == ["bad.1.add", "tea.1.add"]
    assert ids(*observer.settle(listed)) == []
    assert ids(*observer.observe("MODIFIED", an_object("bad", 2))) == ["bad.2.update"]
    assert ids(*observer.observe("DELETED", an_object("bad", 3))) == ["bad.3.delete"]
    assert (names.found, skips.counts) == ({"tea"}, {"CatalogSource": 3})


def test_a_follower_that_cannot_handle_the_end_of_a_list_holds_up_nothing() -> None:
    names, skips = Names(), Skips()
    observer = Following(KnownObjects(CATALOG_SOURCE, "api"), names, CATALOG_SOURCE, skips)
    observer.observe("ADDED", an_object("tea"))
    names.is_broken = True
    assert ids(*observer.settle(set())) == ["tea.1.delete"]
    assert skips.counts == {"CatalogSource": 1}
