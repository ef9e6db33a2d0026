"""Package and channels out of a package manifest."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.authoring.bundles.interpret import NotInterpretableError, interpret
from shared.domain.authoring.bundles.labels import LabelOptions

ETCD: dict[str, Any] = {
    "packageName": "etcd",
    "defaultChannel": "alpha",
    "channels": [
        {"name": "alpha", "currentCSV": "etcdoperator.v0.9.2"},
        {"name": "beta", "currentCSV": "etcdoperator.v0.6.1"},
        {"name": "stable", "currentCSV": "etcdoperator.v0.9.2"},
    ],
}
REPLACED = {"etcdoperator.v0.9.2": "etcdoperator.v0.9.0", "a": "b", "b": "a"}


@pytest.mark.parametrize(
    ("csv", "desired"),
    [
        pytest.param("etcdoperator.v0.9.2", LabelOptions("etcd", "alpha,stable", "alpha"), id="fbc.md R277: 0.9.2"),
        pytest.param("etcdoperator.v0.9.0", LabelOptions("etcd", "alpha,stable", "alpha"), id="an older version"),
        pytest.param("etcdoperator.v0.6.1", LabelOptions("etcd", "beta", "alpha"), id="fbc.md R276: etcd 0.6.1"),
    ],
)
def test_the_channels_whose_chain_holds_the_version(csv: str, desired: LabelOptions) -> None:
    assert interpret(ETCD, REPLACED, csv) == desired


def test_fbc_md_r277_the_only_channel_is_the_default() -> None:
    manifest = {"packageName": "prometheus", "channels": [{"name": "preview", "currentCSV": "p"}]}
    assert interpret(manifest, {}, "p") == LabelOptions("prometheus", "preview", "preview")


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        pytest.param({}, "name of package (packageName) is missing", id="fbc.md R225: no name"),
        pytest.param({"packageName": 3}, "name of package (packageName) is missing", id="a number for a name"),
        pytest.param(ETCD, "error interpreting channels, please manually input channels instead", id="in no channel"),
        pytest.param({"packageName": "x", "channels": [{"name": "c", "currentCSV": "a"}]}, "channels", id="a circle"),
    ],
)
def test_fbc_md_r277_a_package_that_says_nothing_about_the_version(manifest: dict[str, Any], words: str) -> None:
    with pytest.raises(NotInterpretableError) as refused:
        interpret(manifest, REPLACED, "other")
    assert words in str(refused.value)
