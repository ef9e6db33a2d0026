from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared.domain.merge_patch import merged, patch_between, united

_scalars = st.integers(0, 2) | st.text("ab", max_size=1) | st.booleans()
_objects = st.recursive(
    st.dictionaries(st.sampled_from("abc"), _scalars | st.lists(_scalars, max_size=2), max_size=3),
    lambda inner: st.dictionaries(st.sampled_from("abc"), inner | _scalars, max_size=3),
    max_leaves=6,
)


@pytest.mark.parametrize(
    ("target", "patch", "want"),
    [
        pytest.param({"a": "b"}, {"a": "c"}, {"a": "c"}, id="a value is replaced"),
        pytest.param({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}, id="null deletes"),
        pytest.param({"a": {"b": 1, "c": 2}}, {"a": {"b": 3}}, {"a": {"b": 3, "c": 2}}, id="objects merge"),
        pytest.param({"a": ["b"]}, {"a": ["c"]}, {"a": ["c"]}, id="lists do not merge"),
        pytest.param("foo", {"a": {"b": None}}, {"a": {}}, id="an object takes the place of what is none"),
        pytest.param({"a": "b"}, ["c"], ["c"], id="what is no object replaces everything"),
    ],
)
def test_a_merge_patch(target: Any, patch: Any, want: Any) -> None:
    assert merged(target, patch) == want


@given(_objects, _objects)
def test_the_patch_between_two_values_makes_one_out_of_the_other(old: Any, new: Any) -> None:
    before = str(old)
    assert merged(old, patch_between(old, new)) == new
    assert str(old) == before, "a patch changes no value in place"


def test_equal_values_need_no_patch() -> None:
    assert patch_between({"a": {"b": [1]}}, {"a": {"b": [1]}}) == {}


@given(_objects, _objects, _objects)
def test_two_patches_that_agree_do_together_what_they_do_one_after_the_other(target: Any, one: Any, other: Any) -> None:
    both = united(one, other)
    assert (both is None) == (united(other, one) is None)
    if both is not None:
        assert merged(target, both) == merged(merged(target, one), other) == merged(merged(target, other), one)


@pytest.mark.parametrize(
    ("one", "other", "both"),
    [
        pytest.param({"a": {"b": 1}}, {"a": {"c": None}}, {"a": {"b": 1, "c": None}}, id="of two fields"),
        pytest.param({"a": {"b": 1}}, {"a": {"b": 1}}, {"a": {"b": 1}}, id="the same"),
        pytest.param({"a": 1}, {"a": None}, None, id="a value and its end"),
        pytest.param({"x": {"a": None}}, {"x": {"a": {"b": 1}}}, None, id="an end and a part"),
    ],
)
def test_two_patches_are_united_when_they_agree(one: Any, other: Any, both: Any) -> None:
    assert united(one, other) == both
