"""The labels that say to which package and channels a bundle belongs."""

from __future__ import annotations

import pytest

from shared.domain.bundle.annotations import Annotations, parse

PREFIX = "operators.operatorframework.io.bundle"


def labelled(**labels: object) -> dict[str, object]:
    return {"annotations": {f"{PREFIX}.{key.replace('_', '.')}.v1": value for key, value in labels.items()}}


def facts(found: Annotations | None) -> tuple[str, tuple[str, ...], str] | None:
    return (found.package, found.channels, found.default_channel) if found else None


@pytest.mark.parametrize(
    ("document", "want"),
    [
        pytest.param(
            labelled(package="etcd", channels="alpha, beta", channel_default="beta"),
            ("etcd", ("alpha", "beta"), "beta"), id="package, channels and default",
        ),
        pytest.param(labelled(package=123), ("123", (), ""), id="a number is the name it spells"),
        pytest.param(labelled(package=True), ("true", (), ""), id="a boolean is the name it spells"),
        pytest.param(labelled(mediatype="registry+v1"), None, id="annotations that name no package"),
        pytest.param({"annotations": ["a"]}, None, id="annotations that are a list"),
        pytest.param({"dependencies": []}, None, id="another document"),
        pytest.param("text", None, id="no document at all"),
    ],
)  # fmt: skip
def test_parse(document: object, want: tuple[str, tuple[str, ...], str] | None) -> None:
    assert facts(parse(document)) == want
