"""What is kept by namespace and name behaves as a dict and a set of pairs do."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from eventing.watch.namespaced import Keys, Namespaced

KEYS = st.tuples(st.sampled_from(["", "a", "b"]), st.sampled_from(["x", "y"]))
CHANGES = st.lists(st.tuples(st.booleans(), KEYS, st.integers()))


@given(CHANGES)
def test_it_is_a_mapping_and_a_set_of_pairs(changes: list[tuple[bool, tuple[str, str], int]]) -> None:
    model: dict[tuple[str, str], int] = {}
    kept: Namespaced[int] = Namespaced()
    keys = Keys()
    for is_there, key, value in changes:
        if is_there:
            model[key] = kept[key] = value
            keys.add(key)
        else:
            assert kept.pop(key, None) == model.pop(key, None)
            keys.discard(key)
        assert (dict(kept), set(keys)) == (model, set(model))
        assert {("a", "x"), ("c", "x")} - keys == {("a", "x"), ("c", "x")} - set(model)
        assert (len(kept), len(keys)) == (len(model), len(model))
        assert all(
            (key in kept, key in keys, kept.get(key)) == (key in model, key in model, model.get(key)) for key in _all()
        )


def _all() -> list[Any]:
    return [(namespace, name) for namespace in ("", "a", "b", "c") for name in ("x", "y", "z")]
