"""What an indexed package offers, against what its documents offer (v1.md §13)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.domain.catalog.documents import PackageDocuments, light, read
from shared.domain.catalog.model import Package
from shared.domain.catalog.parse import parse_package
from shared.domain.extension.model import CatalogView, Request
from shared.domain.extension.offer import offer_of, offer_of_package
from shared.domain.extension.resolve import resolve


def a_package(**of_bundle: Any) -> list[dict[str, Any]]:
    version = {"type": "olm.package", "value": {"packageName": "tea", "version": "1.0.0+2"}}
    text = {"type": "olm.csv.metadata", "value": {"displayName": "Tea"}}
    bundle = {"schema": "olm.bundle", "package": "tea", "name": "tea.v1", "image": "quay.io/tea:1"}
    return [
        {"schema": "olm.package", "name": "tea", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "tea", "name": "stable", "entries": [{"name": "tea.v1", "skips": ["x"]}]},
        {**bundle, "properties": [version, text], **of_bundle},
    ]


WARNING = {
    "schema": "olm.deprecations",
    "package": "tea",
    "entries": [{"reference": {"schema": "olm.bundle", "name": "tea.v1"}, "message": "too weak"}],
}
NEEDY = [
    {"type": "olm.package", "value": {"packageName": "tea", "version": "1.0.0"}},
    {"type": "olm.gvk.required", "value": {"group": "g", "version": "v1", "kind": "K"}},
]


@pytest.mark.parametrize(
    "blobs",
    [
        pytest.param(a_package(), id="a package"),
        pytest.param([*a_package(), WARNING], id="a package that warns"),
        pytest.param(a_package(image=""), id="a bundle without image"),
        pytest.param(a_package(properties=NEEDY), id="a bundle that needs an API"),
        pytest.param(
            a_package(properties=[{"type": "olm.package", "value": {"packageName": "tea", "version": "1.0.0+01"}}]),
            id="build metadata that is no release",
        ),
    ],
)
def test_the_index_answers_as_the_documents_do(blobs: list[dict[str, Any]]) -> None:
    documents = [light(one) for one in read("tea.json", "\n".join(map(json.dumps, blobs)).encode())]
    package = parse_package("tea", PackageDocuments.of(documents))
    assert isinstance(package, Package), package
    warning = WARNING if WARNING in blobs else None
    of_index = offer_of_package(package, warning, has_releases=False)
    answers = [
        resolve(Request("tea"), None, [CatalogView("c", offer=offer)])
        for offer in (of_index, offer_of(blobs, "tea", has_releases=False))
    ]
    assert of_index.bundles
    assert (answers[0].error, answers[0].trace, answers[0].deprecations) == (
        answers[1].error, answers[1].trace, answers[1].deprecations,
    )  # fmt: skip
    chosen = [
        resolution.bundle and (resolution.bundle.name, resolution.bundle.image, resolution.bundle.identity)
        for resolution in answers
    ]
    assert chosen[0] == chosen[1]


def test_v1_md_9_a_package_that_cannot_be_read_ends_the_resolution() -> None:
    offer = offer_of(a_package(image=5), "tea", has_releases=False)
    where = 'error walking catalogs: error getting package "tea" from catalog "c": error loading package "tea": '
    what = "parse bundle: json: cannot unmarshal number into Go struct field Bundle.image of type string"
    assert resolve(Request("tea"), None, [CatalogView("c", offer=offer)]).error == where + what
    assert offer_of(a_package(image=5), "pot", has_releases=False).is_empty


def test_v1_md_9_of_several_documents_with_one_name_the_last_counts() -> None:
    blobs = [*a_package(), a_package(IMAGE="quay.io/tea:2")[-1]]
    del blobs[-1]["image"]
    [found] = offer_of(blobs, "tea", has_releases=False).bundles
    assert found.image == "quay.io/tea:2"
