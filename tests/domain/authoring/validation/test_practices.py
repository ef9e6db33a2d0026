"""What makes a bundle easier to live with."""

from __future__ import annotations

from typing import Any

import pytest

from tests.domain.authoring.validation.world import (
    LABELS,
    PREFIX,
    a_csv,
    a_deployment,
    a_rule,
    errors,
    found,
    installing,
    owned,
    warnings,
    with_permissions,
)


def test_a_bundle_that_is_good_practice() -> None:
    assert found("good-practices") == []
    rule = a_rule("apiextensions.k8s.io", "customresourcedefinitions", "get")
    assert found("good-practices", csv=a_csv(install=with_permissions(rule))) == []


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            {"install": installing(a_deployment(containers=[{"name": "x"}]))},
            "unable to find the resource requests for the container: (x)",
            id="no requests",
        ),
        pytest.param(
            {"customresourcedefinitions": {"owned": [owned(description="")]}},
            'owned CRD "pots.tea.io" has an empty description',
            id="no description",
        ),
        pytest.param(
            {"install": with_permissions(a_rule("", "pods", "get"), a_rule("apiextensions.k8s.io", "*", "create"))},
            "CSV contains permissions to create CRD (sa)",
            id="making definitions",
        ),
    ],
)
def test_fbc_md_11_6_what_could_be_better(spec: dict[str, Any], words: str) -> None:
    [found_errors] = warnings("good-practices", csv=a_csv(**spec))
    assert words in found_errors


def test_fbc_md_11_6_channels_have_a_convention() -> None:
    labels = LABELS | {f"{PREFIX}channels.v1": "beta, fast,alpha,beta,", f"{PREFIX}channel.default.v1": "gamma"}
    [found_errors] = warnings("good-practices", labels=labels)
    guide = "https://olm.operatorframework.io/docs/best-practices/channel-naming"
    what = f"are not following the recommended naming convention: {guide}"
    assert found_errors == f'Warning: Value tea.v1.0.0: channel(s) ["alpha" "beta" "gamma"] {what}'


VERSIONING = "is not following the versioning convention (MAJOR.MINOR.PATCH e.g 0.0.1): https://semver.org/"


NAMING = "is not following the recommended naming convention: <operator-name>.v<semver> e.g. memcached-operator.v0.0.1"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        pytest.param("tea.v1.0.0-rc.1", [], id="fbc.md 11.6: a name with its version"),
        pytest.param("tea", [VERSIONING, NAMING], id="fbc.md 11.6: a name without a version"),
        pytest.param("tea.v1.0", [VERSIONING], id="fbc.md 11.6: half a version"),
        pytest.param("tea.v01.0.0", [VERSIONING], id="fbc.md 11.6: a version with a leading zero"),
        pytest.param("tea-1.0.0", [NAMING], id="fbc.md 11.6: a version without its sign"),
        pytest.param("tea.very.v1.0.0", [NAMING], id="fbc.md 11.6: the sign twice"),
    ],
)
def test_names_have_a_convention(name: str, wrong: list[str]) -> None:
    csv = a_csv()
    csv["metadata"]["name"] = name
    found_errors = warnings("good-practices", csv=csv)
    assert found_errors == [f"Warning: Value {name}: csv.metadata.Name {name} {what}" for what in wrong]


def test_fbc_md_11_6_an_operator_without_deployments() -> None:
    found_errors = errors("good-practices", csv=a_csv(install={"strategy": "deployment"}))
    assert "Error: Value tea.v1.0.0: unable to find a deployment to install in the CSV" in found_errors
    assert not [one for one in errors("good-practices", csv=a_csv(install=installing())) if "to install" in one]
