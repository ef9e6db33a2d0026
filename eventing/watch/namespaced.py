"""Objects by namespace and name, for kinds of which a large cluster has hundreds of thousands.

Decision: names are kept in one dict or set for each namespace. *Context:* a pair of texts for each object takes more
than what is known of it. *Turned down:* names joined with their namespace to one text, which helps less.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, MutableMapping, MutableSet
from typing import TypeAlias, TypeVar

Key: TypeAlias = tuple[str, str]
"""Namespace and name."""
ListedKeys: TypeAlias = MutableSet[Key]
"""The objects of a list, while its pages arrive."""
Value = TypeVar("Value")


class Namespaced(MutableMapping[Key, Value]):
    """Values by namespace and name."""

    def __init__(self) -> None:
        self._values: dict[str, dict[str, Value]] = {}

    def __getitem__(self, key: Key) -> Value:
        return self._values[key[0]][key[1]]

    def __setitem__(self, key: Key, value: Value) -> None:
        self._values.setdefault(sys.intern(key[0]), {})[key[1]] = value

    def __delitem__(self, key: Key) -> None:
        present = self._values[key[0]]
        del present[key[1]]
        if not present:
            del self._values[key[0]]

    def __iter__(self) -> Iterator[Key]:
        return ((namespace, name) for namespace, present in self._values.items() for name in present)

    def __len__(self) -> int:
        return sum(map(len, self._values.values()))


class Keys(MutableSet[Key]):
    """A set of namespaces and names."""

    def __init__(self, keys: Iterable[Key] = ()) -> None:
        self._names: dict[str, set[str]] = {}
        for key in keys:
            self.add(key)

    def __contains__(self, key: object) -> bool:
        return isinstance(key, tuple) and key[1] in self._names.get(key[0], ())

    def __iter__(self) -> Iterator[Key]:
        return ((namespace, name) for namespace, present in self._names.items() for name in present)

    def __len__(self) -> int:
        return sum(map(len, self._names.values()))

    def add(self, value: Key) -> None:
        """Implements `MutableSet`."""
        self._names.setdefault(sys.intern(value[0]), set()).add(value[1])

    def discard(self, value: Key) -> None:
        """Implements `MutableSet`."""
        self._names.get(value[0], set()).discard(value[1])
