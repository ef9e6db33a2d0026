"""Catalog images that follow the version of the API server."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from shared.api.manifest import Manifest
from shared.domain.image_template import Filled, filled, with_conditions

NOW = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.mark.parametrize(
    ("template", "version", "want"),
    [
        pytest.param("", "v1.35.4", Filled(""), id="catalog.md 8.4.45: nothing to fill"),
        pytest.param(
            "foo/v{kube_major_version}", "v1.20.0+bd9e442", Filled("foo/v1"), id="catalog.md 8.4.45: one variable"
        ),
        pytest.param(
            "foo/v{kube_major_version}.{kube_minor_version}",
            "v1.20.0+bd9e442",
            Filled("foo/v1.20"),
            id="catalog.md 8.4.45: two variables",
        ),
        pytest.param(
            "foo/v{kube_major_version}.{kube_minor_version}.{kube_patch_version}",
            "v1.20.1+bd9e442",
            Filled("foo/v1.20.1"),
            id="catalog.md 8.4.45: three, by gitVersion",
        ),
        pytest.param(
            "foo/v{kube_major_version}",
            "",
            Filled("foo/vmissing", ("{kube_major_version}",)),
            id="catalog.md 8.4.45: no server version",
        ),
        pytest.param("foo/v{foobar}", "v1.20.0", Filled("foo/v{foobar}"), id="catalog.md 8.4.45: not a variable"),
        pytest.param("foo/{KUBE_MAJOR_VERSION}", "v1.20.0", Filled("foo/{KUBE_MAJOR_VERSION}"), id="case counts"),
    ],
)
def test_a_template_is_filled(template: str, version: str, want: Filled) -> None:
    assert filled(template, version) == want


@pytest.mark.parametrize(
    ("image", "want"),
    [
        ("foo/v1.20", True),
        ("localhost:5000/a/b_c:v1.20-rc.1", True),
        (f"quay.io/a/b@sha256:{'0' * 64}", True),
        ("foo/v{foobar}", False),
        ("foo:", False),
        ("Foo", False),
        ("foo/v1.20\n", False),
        ("quay.io/" + "a" * 260, False),
    ],
)
def test_an_image_is_a_reference_or_not(image: str, want: bool) -> None:
    assert Filled(image).is_reference is want


_WHY = "cannot construct catalog image reference, because "


@pytest.mark.parametrize(
    ("image", "result", "message"),
    [
        pytest.param(
            Filled("foo/v1"),
            "True",
            "catalog image reference was successfully resolved",
            id="catalog.md 8.4.46: usable",
        ),
        pytest.param(
            Filled("foo/vmissing", ("{kube_major_version}", "{kube_minor_version}")),
            "False",
            f'{_WHY}variable(s) "{{kube_major_version}}", "{{kube_minor_version}}" could not be resolved',
            id="catalog.md 8.4.46: variables without value",
        ),
        pytest.param(
            Filled("foo/{foobar}"),
            "False",
            f"{_WHY}one or more template(s) has improper syntax",
            id="catalog.md 8.4.47: improper syntax",
        ),
        pytest.param(
            Filled("{foobar}/vmissing", ("{kube_major_version}",)),
            "False",
            f'{_WHY}variable(s) "{{kube_major_version}}" could not be resolved and one or more template(s) has '
            "improper syntax",
            id="catalog.md 8.4.47: both",
        ),
    ],
)
def test_two_conditions_say_what_became_of_it(image: Filled, result: str, message: str) -> None:
    reason = "AllTemplatesResolved" if result == "True" else "UnableToResolve"
    assert [tuple(one.values())[:4] for one in with_conditions({}, image, NOW)["conditions"]] == [
        ("TemplatesHaveResolved", result, reason, message),
        ("ResolvedImage", result, reason, image.image),
    ]


def test_times_move_only_when_a_verdict_flips() -> None:
    """catalog.md 2.10: lastTransitionTime only moves when the condition status flips."""
    other: Manifest = {"type": "Other"}
    first = with_conditions({"conditions": [other], "reason": "x"}, Filled("foo/v1"), NOW)
    later = NOW + timedelta(days=1)
    assert with_conditions(first, Filled("foo/v1"), later) == first
    assert [one.get("lastTransitionTime") for one in with_conditions(first, Filled("foo/v2"), later)["conditions"]] == [
        None, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z",
    ]  # fmt: skip
    flipped = with_conditions(first, Filled("{x}"), later)["conditions"]
    assert [one.get("lastTransitionTime") for one in flipped[1:]] == ["2026-01-02T00:00:00Z"] * 2
    assert with_conditions(first, None, later) == {"conditions": [other], "reason": "x"}
    assert with_conditions({}, None, later) == {}
