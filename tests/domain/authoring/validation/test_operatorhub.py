"""What operatorhub.io demands."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.authoring.validation import Options
from tests.domain.authoring.validation.world import a_csv, errors, found, warnings


def an_icon(**fields: str) -> dict[str, str]:
    return {"base64data": "eA==", "mediatype": "image/png", **fields}


HUB: dict[str, Any] = {
    "provider": {"name": "Acme"},
    "maintainers": [{"name": "m", "email": "m@acme.io"}],
    "links": [{"name": "l", "url": "https://acme.io"}],
    "icon": [an_icon()],
}


def test_a_bundle_that_operatorhub_takes() -> None:
    assert found("operatorhubv2", csv=a_csv(**HUB)) == []


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"provider": {}}, "csv.Spec.Provider.Name not specified"),
        ({"provider": {"name": " "}}, "csv.Spec.Provider.Name not specified"),
        ({"maintainers": [{"name": "m"}]}, "csv.Spec.Maintainers elements should contain both name and email"),
        (
            {"maintainers": [{"name": "m", "email": "m"}]},
            "csv.Spec.Maintainers email m is invalid: mail: missing '@' or angle-addr",
        ),
        ({"links": [{"url": "https://a"}]}, "csv.Spec.Links elements should contain both name and url"),
        ({"links": [{"name": "l", "url": "acme"}]}, 'csv.Spec.Links url acme is invalid: parse "acme": '),
        ({"version": None}, "csv.Spec.Version must be set"),
        ({"version": "0.0.0+b"}, "csv.Spec.Version must be set"),
        ({"icon": []}, "csv.Spec.Icon should only have one element"),
        ({"icon": [an_icon(), an_icon()]}, "csv.Spec.Icon should only have one element"),
        ({"icon": [an_icon(base64data="")]}, "csv.Spec.Icon elements should contain both data and mediatype"),
        ({"icon": [an_icon(mediatype="")]}, "csv.Spec.Icon elements should contain both data and mediatype"),
        ({"icon": [an_icon(mediatype="text/html")]}, "csv.Spec.Icon text/html does not have a valid mediatype"),
    ],
)
def test_fbc_md_11_6_and_r291_what_operatorhub_refuses(spec: dict[str, Any], words: str) -> None:
    [found_errors] = errors("operatorhubv2", csv=a_csv(**HUB | spec))
    assert found_errors.startswith(f"Error: Value : (tea.v1.0.0) {words}")


def test_fbc_md_11_5_an_oldest_kubernetes_is_not_trimmed() -> None:
    found_errors = errors("operatorhubv2", csv=a_csv(**HUB | {"minKubeVersion": " 1.22.0"}))
    assert "Error: Value : (tea.v1.0.0) csv.Spec.MinKubeVersion has an invalid value:  1.22.0" in found_errors


def test_fbc_md_11_6_an_icon_may_be_absent() -> None:
    assert warnings("operatorhubv2", csv=a_csv(**HUB | {"icon": None})) == [
        "Warning: Value : (tea.v1.0.0) csv.Spec.Icon not specified"
    ]


def test_fbc_md_11_6_the_first_edition_checks_more_and_is_deprecated() -> None:
    csv = a_csv({"capabilities": "Magic", "categories": "Database, Tea"}, **HUB)
    assert warnings("operatorhub", csv=csv)[0].startswith('Warning: Value : The "operatorhub" validator is deprecated')
    found_errors = errors("operatorhub", csv=csv)
    assert [sentence.partition(") ")[2] for sentence in found_errors] == [
        'csv.Metadata.Annotations.Capabilities "Magic" is not a valid capabilities level',
        'csv.Metadata.Annotations["categories"] value " Tea" is not in the set of standard categories',
    ]


def test_fbc_md_11_6_categories_may_be_replaced() -> None:
    csv = a_csv({"categories": "Tea,Database", "capabilities": "Auto Pilot"})
    [found_errors] = errors("standardcategories", "standardcapabilities", csv=csv, options=Options(categories=("Tea",)))
    assert found_errors.endswith('value "Database" is not in the set of custom categories')
    assert errors("standardcategories", "standardcapabilities") == []
