"""Catalogs that are open: those asked for last are kept within bounds, any other as long as somebody reads it."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Hashable
from dataclasses import dataclass
from weakref import WeakValueDictionary

from shared.adapters.catalog_api.answers import Answers


@dataclass(frozen=True, slots=True)
class Kept:
    """An open catalog, and what it was made of."""

    of: Hashable
    answers: Answers


class KeptCatalogs:
    """By key, with a bound for their entries and one for their number; who asks from several threads holds a lock."""

    def __init__(self, entries: int, catalogs: int) -> None:
        self._entries, self._catalogs = entries, catalogs
        self._kept: OrderedDict[Hashable, Kept] = OrderedDict()
        self._used: WeakValueDictionary[tuple[Hashable, Hashable], Answers] = WeakValueDictionary()
        """All that somebody uses, by key and what it was made of: no two calls open the same."""

    def get(self, key: Hashable, of: Hashable) -> Answers | None:
        """The catalog, if it is open and made of this."""
        if (found := self._kept.get(key)) is not None and found.of == of:
            self._kept.move_to_end(key)
        return self._used.get((key, of))

    def put(self, key: Hashable, one: Kept) -> Kept:
        """Keep it as the one that was used last, unless it is above the bound alone; returns it."""
        self._kept.pop(key, None)
        self._used[key, one.of] = one.answers
        if one.answers.entries <= self._entries:
            self._kept[key] = one
        while len(self._kept) > self._catalogs or self._size() > self._entries:
            self._kept.popitem(last=False)
        return one

    def drop(self, key: Hashable, answers: Answers | None = None) -> None:
        """Open it anew the next time; with `answers` only if they are what is open."""
        for used in [each for each, one in self._used.items() if each[0] == key and answers in (None, one)]:
            del self._used[used]
        if (found := self._kept.get(key)) is not None and answers in (None, found.answers):
            del self._kept[key]

    def _size(self) -> int:
        return sum(one.answers.entries for one in self._kept.values())
