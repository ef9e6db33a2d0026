"""What the parts of a bundle say about each other."""

from __future__ import annotations

import random
from typing import Any

import pytest

from shared.domain.authoring.validation import Subject
from shared.domain.authoring.validation.whole import size, whole
from tests.domain.authoring.validation.world import a_crd, a_csv, a_deployment, an_object, errors, installing, owned


@pytest.mark.parametrize(
    ("others", "words"),
    [
        pytest.param(
            {"other": a_crd()}, 'duplicate CRD "tea.io/v1, Kind=Pot" in bundle "tea.v1.0.0"', id="the same twice"
        ),
        pytest.param(
            {"csv": a_csv(customresourcedefinitions={"owned": [owned(), owned(version="v2")]})},
            'owned CRD "tea.io/v2, Kind=Pot" not found in bundle "tea.v1.0.0"',
            id="not here",
        ),
        pytest.param(
            {"csv": a_csv(customresourcedefinitions={"owned": [owned(), owned(name="pots")]})},
            'owned CRD "pots/v1, Kind=Pot" not found in bundle "tea.v1.0.0"',
            id="a name without a group",
        ),
        pytest.param(
            {"other": a_crd(names={"kind": "Cup", "plural": "cups"}) | {"metadata": {"name": "cups.tea.io"}}},
            'CRD "tea.io/v1, Kind=Cup" is present in bundle "tea.v1.0.0" but not defined in CSV',
            id="not owned",
        ),
        pytest.param(
            {"sa": an_object("ServiceAccount"), "other": an_object("ServiceAccount", metadata={"name": "another"}),
             "csv": a_csv(install=installing(a_deployment(serviceAccountName="serviceaccount")))},
            "invalid service account found in bundle. This service account serviceaccount in your bundle is not valid",
            id="fbc.md R282: an account of a Deployment",
        ),
        pytest.param(
            {"csv": a_csv(release="1")},
            'bundle name with release versioning "tea.v1.0.0" does not match expected name "tea-v1.0.0-1"',
            id="a name without the release",
        ),
        pytest.param({".x": a_crd()}, "bundle manifests dir has hidden file: .x.yaml", id="fbc.md 11.4: a hidden file"),
        pytest.param({"x": a_crd(group=3)}, "spec.group: wanted text, got a number", id="a broken definition"),
    ],
)  # fmt: skip
def test_the_bundle_as_a_whole(others: dict[str, Any], words: str) -> None:
    assert any(words in found_errors for found_errors in errors("bundle", **others))


def test_fbc_md_r282_an_object_of_another_group_is_no_account() -> None:
    csv = a_csv(install=installing(a_deployment(serviceAccountName="serviceaccount")))
    assert errors("bundle", csv=csv, sa=an_object("ServiceAccount", apiVersion="tea.io/v1")) == errors("bundle")


def test_fbc_md_11_6_another_version_of_an_owned_kind_may_be_there() -> None:
    versions = [{"name": "v1", "storage": True}, {"name": "v2"}]
    assert errors("bundle", crd=a_crd(versions=versions)) == []


def test_a_name_with_its_release_is_right() -> None:
    csv = a_csv(release="1")
    csv["metadata"]["name"] = "tea-v1.0.0-1"
    assert errors("bundle", csv=csv) == []


IMAGE = "quay.io/acme/tea"


DIGEST = f"@sha256:{'0' * 64}"


@pytest.mark.parametrize("image", [f"{IMAGE}:1", IMAGE + DIGEST, f"{IMAGE}:1{DIGEST}", IMAGE])
def test_fbc_md_r280_images_that_can_be_pulled(image: str) -> None:
    assert errors("bundle", csv=a_csv(relatedImages=[{"name": "a", "image": image}])) == []


@pytest.mark.parametrize("image", [" ", "quay.io/Acme/tea", "quay.io/acme/te!a", f"{IMAGE}@md5:{'0' * 64}"])
def test_fbc_md_r281_images_that_cannot_be_pulled(image: str) -> None:
    [found_errors] = errors("bundle", csv=a_csv(relatedImages=[{"name": "a", "image": image}]))
    desired = f'Error: Value spec.relatedImages[0].image: relatedImages[0] has an invalid image pullspec "{image}": '
    assert found_errors.startswith(desired)


def test_fbc_md_r281_an_image_that_is_not_named() -> None:
    [found_errors] = errors("bundle", csv=a_csv(relatedImages=[{"name": "a"}]))
    assert found_errors == "Error: Value spec.relatedImages[0].image: relatedImages[0] has an empty image field"


@pytest.mark.parametrize(
    ("count", "level", "words"),
    [
        pytest.param(1000, "", "", id="small"),
        pytest.param(730_000, "Warning", "nearing maximum bundle compressed size with gzip: size=~973", id="near"),
        pytest.param(
            1_000_000, "Error", "maximum bundle compressed size with gzip size exceeded: size=~1.3 MB", id="big"
        ),
        pytest.param(0, "Warning", "unable to check the bundle size", id="nothing"),
    ],
)
def test_fbc_md_r279_the_size_of_a_bundle(count: int, level: str, words: str) -> None:
    subject = Subject({"manifests/a": random.Random(1).randbytes(count)}, "here")
    found_errors = list(size(subject))
    assert [one.level for one in found_errors] == ([level] if level else [])
    assert all(words in one.detail for one in found_errors)


def test_whole_says_nothing_without_a_version() -> None:
    assert not list(whole(Subject({}, "here")))
