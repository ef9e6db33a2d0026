"""Disjoint sets, joined one after the other (union by path halving)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable
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

    def join(self, one: T, others: Iterable[T]) -> None:
        """Make one set of all of them."""
        first = self.root(one)
        for other in others:
            self.parents[self.root(other)] = first
