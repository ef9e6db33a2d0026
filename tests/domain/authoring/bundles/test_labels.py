"""The labels of a bundle image."""

from __future__ import annotations

import pytest

from shared.domain.authoring.bundles.labels import LabelOptions, differences, labels

PREFIX = "operators.operatorframework.io.bundle."
GIVEN = {f"{PREFIX}package.v1": "tea", f"{PREFIX}channels.v1": "stable", f"{PREFIX}channel.default.v1": "stable"}
FIXED = {
    f"{PREFIX}mediatype.v1": "registry+v1",
    f"{PREFIX}manifests.v1": "manifests/",
    f"{PREFIX}metadata.v1": "metadata/",
}


def test_labels_are_the_annotations_of_the_bundle() -> None:
    assert labels("registry+v1", GIVEN, LabelOptions()) == FIXED | GIVEN


def test_what_is_wanted_counts_more() -> None:
    made = labels("registry+v1", GIVEN, LabelOptions("milk", "fast,beta", "beta"))
    assert list(made.values())[3:] == ["milk", "fast,beta", "beta"]


def test_a_default_channel_may_be_absent() -> None:
    made = labels("registry+v1", {}, LabelOptions("milk", "fast"))
    assert f"{PREFIX}channel.default.v1" not in made


@pytest.mark.parametrize(
    ("given", "desired"),
    [
        pytest.param({"test1": "a", "test2": "stable"}, [], id="fbc.md R274: equal"),
        pytest.param({"test1": "a", "test2": "stable", "test3": "b"}, [], id="fbc.md R274: more"),
        pytest.param(
            {"test1": "a", "test2": "stable,beta"},
            ['Expect field "test2" to have value "stable" instead of "stable,beta"'],
            id="fbc.md R274: another value",
        ),
        pytest.param({"test1": "a"}, ["Missing field: test2"], id="fbc.md R274: a missing key"),
    ],
)
def test_annotations_that_are_there_are_compared(given: dict[str, str], desired: list[str]) -> None:
    assert list(differences(given, {"test1": "a", "test2": "stable"})) == desired
