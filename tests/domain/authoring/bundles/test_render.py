"""A bundle as a blob of a catalog, and the images that it needs."""

from __future__ import annotations

import base64
from typing import Any

import orjson
import pytest

from shared.domain.authoring.bundles.images import operator_images, related_images
from shared.domain.authoring.bundles.render import ImageTemplateError, blob, csv_metadata, image_from
from shared.domain.authoring.migrate import migrate
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.parse import parse
from shared.domain.catalog.config import Config
from shared.domain.go_types.engine import MisfitError
from tests.domain.bundle.test_properties import a_bundle, a_csv


def a_deployment(*images: str, init: tuple[str, ...] = ()) -> dict[str, Any]:
    pod = {"containers": [{"image": one} for one in images], "initContainers": [{"image": one} for one in init]}
    return {"name": "d", "spec": {"template": {"spec": pod}}}


def installing(*deployments: object, strategy: str = "deployment") -> dict[str, Any]:
    return {"strategy": strategy, "spec": {"deployments": list(deployments)}}


def parsed(csv: dict[str, Any], **more: object) -> ParsedBundle:
    found = parse(a_bundle(csv, **more), "here")
    assert isinstance(found, ParsedBundle)
    return found


def test_fbc_md_r230_a_folder_has_no_image_and_embeds_its_manifests() -> None:
    bundle = parsed(a_csv(install=installing(a_deployment("b", "a", init=("c", "a")))))
    found = blob(bundle)
    assert list(found) == ["schema", "name", "package", "image", "properties", "relatedImages"]
    assert (found["schema"], found["name"], found["package"], found["image"]) == ("olm.bundle", "tea.v1.0.0", "tea", "")
    assert [one["type"] for one in found["properties"]] == ["olm.package", "olm.bundle.object"]
    assert orjson.loads(base64.b64decode(found["properties"][1]["value"]["data"])) == bundle.csv
    assert [one["image"] for one in found["relatedImages"]] == ["a", "b", "c"]


def test_fbc_md_10_3_objects_and_descriptions_come_last() -> None:
    declared = [{"type": kind, "value": {"x": 1}} for kind in ("olm.bundle.object", "olm.csv.metadata", "z", "a")]
    found = blob(parsed(a_csv(), metadata__properties={"properties": declared}))
    types = [one["type"] for one in found["properties"]]
    assert types == ["a", "olm.package", "z", "olm.bundle.object", "olm.bundle.object", "olm.csv.metadata"]


def test_fbc_md_r231_a_template_gives_the_image_which_is_related_too() -> None:
    bundle = parsed(a_csv())
    image = image_from("quay.io/acme/{{ .Package }}:v{{.Version}}-{{.Name}}", bundle)
    assert image == "quay.io/acme/tea:v1.0.0-tea.v1.0.0"
    assert blob(bundle, image)["relatedImages"] == [{"name": "", "image": image}]


def test_fbc_md_10_4_the_version_of_a_template_is_the_first_that_the_bundle_states() -> None:
    declared = {"properties": [{"type": "olm.package", "value": {"packageName": "tea", "version": "3.0.0"}}]}
    bundle = parsed(a_csv(), metadata__properties=declared)
    assert image_from("q.io/tea:{{.Version}}", bundle) == "q.io/tea:3.0.0"
    assert blob(bundle)["properties"][0]["value"]["version"] == "1.0.0"


@pytest.mark.parametrize("template", ["{{.Foo}}", "{{.Package", "a{{"])
def test_fbc_md_r238_a_template_of_something_else_is_refused(template: str) -> None:
    with pytest.raises(ImageTemplateError):
        image_from(template, parsed(a_csv()))


@pytest.mark.parametrize(
    ("image", "declared", "types"),
    [
        pytest.param("q", [], ["olm.package", "olm.csv.metadata"], id="fbc.md R233: objects become a description"),
        pytest.param("", [], ["olm.package", "olm.bundle.object"], id="fbc.md R236: nothing without an image"),
        pytest.param(
            "q", [{"type": "olm.csv.metadata", "value": {}}],
            ["olm.package", "olm.bundle.object", "olm.csv.metadata"], id="fbc.md R235: a description is there",
        ),
    ],
)  # fmt: skip
def test_a_bundle_is_migrated(image: str, declared: list[object], types: list[str]) -> None:
    config = Config(bundles=[blob(parsed(a_csv(), metadata__properties={"properties": declared}), image)])
    migrate(config, "all")
    [found] = config.bundles
    assert [one["type"] for one in found["properties"]] == types


def test_fbc_md_4_5_the_description_has_the_known_fields_in_their_order() -> None:
    csv = a_csv(
        displayName="Tea",
        description="hot",
        icon=[{"base64data": "x"}],
        customresourcedefinitions={
            "owned": [{"name": "pots.tea.io", "kind": "Pot", "version": "v1", "group": "tea.io"}]
        },
        maintainers=[{"name": "m", "email": "e", "phone": "p"}],
    )
    csv["metadata"] |= {"annotations": {"b": "c"}, "labels": {"l": "m"}}
    found = csv_metadata(csv)
    assert found == {
        "annotations": {"b": "c"}, "apiServiceDefinitions": {},
        "crdDescriptions": {"owned": [{"name": "pots.tea.io", "version": "v1", "kind": "Pot"}]}, "description": "hot",
        "displayName": "Tea", "labels": {"l": "m"}, "maintainers": [{"name": "m", "email": "e"}], "provider": {},
    }  # fmt: skip
    assert list(found) == sorted(found, key=str)


def test_fbc_md_10_5_a_version_that_cannot_be_described_aborts() -> None:
    with pytest.raises(MisfitError, match=r"spec\.keywords: wanted a list, got text"):
        csv_metadata(parsed(a_csv(keywords="x")).csv)


def test_fbc_md_r229_related_images_keep_their_names_and_each_image_comes_once() -> None:
    related = [{"name": "cup", "image": "b"}, {"name": "pot", "image": "b"}, {}, None]
    csv = a_csv(relatedImages=related, install=installing(a_deployment("b", "a")))
    assert related_images(csv, "q") == (
        {"name": "", "image": ""}, {"name": "", "image": ""}, {"name": "", "image": "a"}, {"name": "cup", "image": "b"},
        {"name": "pot", "image": "b"}, {"name": "", "image": "q"},
    )  # fmt: skip


def test_fbc_md_r228_an_image_relates_itself_and_all_its_containers() -> None:
    found = blob(parsed(a_csv(install=installing(a_deployment("b", init=("a",))))), "quay.io/acme/tea:1")
    assert found["relatedImages"] == [{"name": "", "image": one} for one in ("a", "b", "quay.io/acme/tea:1")]


@pytest.mark.parametrize(
    ("install", "images"),
    [
        pytest.param(None, (), id="no strategy"),
        pytest.param(installing(a_deployment("a"), strategy="helm"), (), id="fbc.md R221: another strategy"),
        pytest.param(
            installing(a_deployment("a", "b", init=("c", "d"))), ("a", "b", "c", "d"), id="fbc.md R222: all four"
        ),
        pytest.param(installing({}, None, {"spec": {"template": None}}), (), id="no pods"),
        pytest.param(installing(a_deployment("a", "")), ("a", ""), id="fbc.md 10.4: a container without an image"),
    ],
)
def test_the_images_of_an_operator(install: object, images: tuple[str, ...]) -> None:
    assert operator_images(a_csv(install=install)) == images
