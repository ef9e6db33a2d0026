"""Marks a ConfigMap, and says what it read of catalogs."""

from __future__ import annotations

from shared.step import Merge, Outcome, Ref


def read_catalogs(ref: Ref) -> Outcome:
    return Outcome((Merge(ref, {"data": {"seen": "yes"}}),), read_set={"catalogs": {}})
