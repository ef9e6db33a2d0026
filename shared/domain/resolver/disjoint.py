"""Disjoint sets, joined one after the other (union by path halving)."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

T = TypeVar("T", bound=Hashable)


@dataclass(slots=True)
class Disjoint(Generic[T]):
    """Sets without a common member; each is known by one of its members."""

    parents: dict[T, T] = field(default_factory=dict)

    def __contains__(self, one: T) -> bool:
        return one in self.parents

    def root(self, one: T) -> T:
        """The member that stands for the set of this one, which is a set of its own if it is new."""
        parents = self.parents
        while (parent := parents.setdefault(one, one)) is not one:
            parents[one] = one = parents[parent]
        return one

    def join(self, one: T, others: Sequence[T]) -> None:
        """Make one set of all of them, known as that of the first other was: so joining most of them again is quick."""
        parents = self.parents
        first = self.root(others[0] if others else one)
        for each in (one, *others):
            if parents.get(each) is not first:
                parents[self.root(each)] = first
