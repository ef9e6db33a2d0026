from __future__ import annotations

from typing import Any

import pytest
import yaml

from shared.domain.authoring.template import SCHEMAS, Rendered, TemplateError, render
from shared.domain.catalog.config import Config
from tests.domain.authoring.catalogs import a_bundle, a_catalog, a_csv

STABLE = (
    "0.1.0", "0.1.1", "1.1.0", "1.2.1", "1.3.1-alpha", "1.3.1-beta", "1.3.1", "1.4.1-beta1", "1.4.1", "2.1.0", "2.1.1",
    "2.3.1", "2.3.2", "3.1.0", "3.1.1",
)  # fmt: skip
EXAMPLE = ("1.1.0", "1.2.1", "1.3.1-alpha", "1.3.1-beta", "1.3.1", "2.1.0", "2.1.1")
BOTH = {"generateMajorChannels": True, "generateMinorChannels": True}


def a_template(**fields: Any) -> bytes:
    archetypes = {
        key: {"bundles": [{"image": version} for version in value]} if isinstance(value, list | tuple) else value
        for key, value in fields.items()
    }
    return yaml.safe_dump({"schema": "olm.semver", **archetypes}).encode()


def rendered(image: str) -> list[Rendered]:
    """The bundle of an image whose name is its version, or `package@version`."""
    package, _, version = image.rpartition("@")
    package = package or "tea"
    bundle = a_catalog(a_bundle(f"{package}.v{version.partition('#')[0]}", version.partition("#")[0], package)).bundles[
        0
    ]
    return [Rendered(bundle, a_csv(description=f"About {version}", icon=[{"base64data": "aGk=", "mediatype": "a/b"}]))]


def made(content: bytes) -> Config:
    return render(content, SCHEMAS["semver"], rendered)


def edges(config: Config, channel: str) -> list[str]:
    entries = next(one["entries"] for one in config.channels if one["name"] == channel)
    return [
        one["name"].removeprefix("tea.v")
        + (f" replaces {one['replaces'].removeprefix('tea.v')}" if "replaces" in one else "")
        + (f" skips {','.join(skip.removeprefix('tea.v') for skip in one['skips'])}" if "skips" in one else "")
        for one in entries
    ]


def test_fbc_12_3_the_worked_example() -> None:
    config = made(a_template(**BOTH, stable=EXAMPLE))
    top = ["1.3.1-alpha", "1.3.1-beta", "1.3.1 replaces 1.2.1 skips 1.1.0,1.3.1-alpha,1.3.1-beta"]
    assert edges(config, "stable-v1") == ["1.1.0", "1.2.1 replaces 1.1.0", *top]
    assert edges(config, "stable-v1.1") == ["1.1.0"]
    assert edges(config, "stable-v1.2") == ["1.2.1 replaces 1.1.0"]
    assert edges(config, "stable-v1.3") == top
    assert edges(config, "stable-v2") == edges(config, "stable-v2.1") == ["2.1.0", "2.1.1 skips 2.1.0"]


@pytest.mark.parametrize(
    ("options", "count", "default"),
    [
        pytest.param({}, 8, "stable-v3.1", id="R302: minor only"),
        pytest.param({"generateMajorChannels": True}, 4, "stable-v3", id="R303: major only"),
        pytest.param(BOTH, 12, "stable-v3.1", id="R304: both"),
        pytest.param(BOTH | {"defaultChannelTypePreference": "major"}, 12, "stable-v3", id="R304: major preferred"),
    ],
)
def test_channels_are_made_from_versions(options: dict[str, Any], count: int, default: str) -> None:
    config = made(a_template(**options, stable=STABLE))
    assert len(config.channels) == count
    assert [channel["name"] for channel in config.channels] == sorted(channel["name"] for channel in config.channels)
    assert config.packages[0]["defaultChannel"] == default


@pytest.mark.parametrize(
    ("fields", "default", "channels"),
    [
        pytest.param(BOTH | {"stable": ["1.0.0", "1.1.0"], "defaultChannelTypePreference": "major"}, "stable-v1", 3,
                     id="R306: mended"),
        pytest.param({"candidate": ["1.0.0"], "stable": ["1.0.0"]}, "stable-v1.0", 2, id="R310"),
        pytest.param({"candidate": ["0.0.0-alpha.1"]}, "candidate-v0.0", 1, id="R311: mended"),
        pytest.param({"candidate": ["9.0.0"], "fast": ["1.0.0", "2.0.0"]}, "fast-v2.0", 3, id="stability comes first"),
        pytest.param({"candidate": ["1.0.0+b1"], "stable": ["1.0.0+b2"]}, "stable-v1.0", 2, id="R314"),
        pytest.param({"stable": ["1.0.0"]}, "stable-v1.0", 1, id="R309"),
    ],
)  # fmt: skip
def test_the_default_channel_is_the_newest_of_the_most_stable(
    fields: dict[str, Any], default: str, channels: int
) -> None:
    config = made(a_template(**fields))
    assert (config.packages[0]["defaultChannel"], len(config.channels)) == (default, channels)


def test_r307_r308_nothing_leads_from_one_major_or_archetype_to_the_next() -> None:
    config = made(a_template(generateMajorChannels=True, candidate=["1.0.0", "1.1.0"], stable=["1.2.0", "2.0.0"]))
    assert edges(config, "candidate-v1") == ["1.0.0", "1.1.0 replaces 1.0.0"]
    assert edges(config, "stable-v1") == ["1.2.0"]
    assert edges(config, "stable-v2") == ["2.0.0"]


def test_r312_a_release_skips_its_prereleases() -> None:
    config = made(a_template(stable=["1.0.0", "1.0.0-rc.1"]))
    assert edges(config, "stable-v1.0") == ["1.0.0-rc.1", "1.0.0 skips 1.0.0-rc.1"]


def test_fbc_12_3_releases_of_one_version_are_ordered() -> None:
    def with_release(image: str) -> list[Rendered]:
        value = {"packageName": "tea", "version": "1.1.0", "release": image}
        return [Rendered({"name": f"tea-v1.1.0-{image}", "properties": [{"type": "olm.package", "value": value}]})]

    config = render(a_template(stable=["10", "9"]), SCHEMAS["semver"], with_release)
    assert config.channels[0]["entries"] == [
        {"name": "tea-v1.1.0-9"},
        {"name": "tea-v1.1.0-10", "skips": ["tea-v1.1.0-9"]},
    ]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(a_template(invalid=["1.0.0"]), 'render: unable to read file: error unmarshaling JSON: while '
                     'decoding JSON: json: unknown field "invalid"', id="R300: an unknown archetype"),
        pytest.param(a_template(stable={"bundles": [{"image": "1.0.0", "name": "x"}]}), 'json: unknown field "name"',
                     id="R300: an unknown field of a bundle"),
        pytest.param(a_template(stable={"bundle": []}), 'json: unknown field "bundle"', id="R300: of an archetype"),
        pytest.param(a_template(stable={"bundles": 1}), "cannot unmarshal number into Go struct field", id="a number"),
        pytest.param(b"schema: olm.other\n", 'render: unable to read file: readFile: input file has unknown schema, '
                     'should be "olm.semver"', id="fbc.md 12.3: another schema"),
        pytest.param(a_template(generateMajorChannels=True, defaultChannelTypePreference="minor"),
                     "DefaultChannelTypePreference set to 'minor' doesn't make sense if not generating minor-version "
                     "channels", id="R301: minor without minor channels"),
        pytest.param(a_template(defaultChannelTypePreference="major"), "'major' doesn't make sense if not generating "
                     "major-version channels", id="R301: major without major channels"),
        pytest.param(a_template(defaultChannelTypePreference="foo"), 'unknown DefaultChannelTypePreference: "foo"\n'
                     "Valid values are 'major' or 'minor'", id="R301: neither"),
        pytest.param(a_template(), "render: no bundles specified or no bundles could be rendered", id="no bundles"),
        pytest.param(a_template(stable=["1.3.1", "1.3.1+2001Jan21", "1.3.1+2003May06"]),
                     "render: unable to post-process bundle info: encountered bundle versions which differ only by "
                     'build metadata, which cannot be ordered: [bundle version "1.3.1+2001Jan21" cannot be compared to '
                     '"1.3.1", bundle version "1.3.1+2003May06" cannot be compared to "1.3.1"]',
                     id="R313: two clashes"),
        pytest.param(a_template(stable=["1.0.0+a", "1.0.0+b"]), 'ordered: bundle version "1.0.0+b" cannot be compared '
                     'to "1.0.0"', id="R313: one clash"),
        pytest.param(a_template(stable=["1.0.0", "other@2.0.0"]), 'bundle "other" does not belong to this package: '
                     '"tea"', id="R315"),
        pytest.param(a_template(stable=["1.0.0", "1.0.0"]), 'duplicate bundle name "tea.v1.0.0"', id="R316"),
        pytest.param(a_template(stable=["1.0"]), 'bundle "tea.v1.0" has invalid version "1.0"', id="no version"),
        pytest.param(b"{", "render: unable to read file: error converting YAML to JSON: yaml: ", id="broken"),
        pytest.param(b"", 'readFile: input file has unknown schema, should be "olm.semver"', id="nothing"),
    ],
)  # fmt: skip
def test_what_cannot_be_rendered_states_why(content: bytes, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        made(content)
    assert message in str(caught.value)


def test_fbc_12_3_an_image_holds_one_bundle() -> None:
    with pytest.raises(TemplateError, match=r'bundle reference "1\.0\.0" resulted in 2 bundles, expected 1'):
        render(a_template(stable=["1.0.0"]), SCHEMAS["semver"], lambda image: rendered(image) * 2)


def test_fbc_12_3_an_image_is_rendered_once() -> None:
    seen: list[str] = []

    def counted(image: str) -> list[Rendered]:
        seen.append(image)
        return rendered(image)

    render(a_template(candidate=["1.0.0"], fast=["1.0.0"], stable=["1.0.0"]), SCHEMAS["semver"], counted)
    assert seen == ["1.0.0"]


def test_r317_r318_the_package_says_what_the_head_of_its_default_channel_says() -> None:
    package = made(a_template(candidate=["9.0.0"], stable=["1.0.0", "1.0.1"])).packages[0]
    assert package == {
        "schema": "olm.package", "name": "tea", "defaultChannel": "stable-v1.0",
        "icon": {"base64data": "aGk=", "mediatype": "a/b"}, "description": "About 1.0.1",
    }  # fmt: skip


@pytest.mark.parametrize(
    "csv",
    [
        pytest.param(None, id="no CSV"),
        pytest.param({"spec": []}, id="no spec"),
        pytest.param(a_csv(description="", icon=[]), id="nothing in it"),
        pytest.param(a_csv(icon=[{"base64data": 1}]), id="an icon of the wrong type"),
        pytest.param(a_csv(icon=[{"base64data": "%"}]), id="an icon that is not base64"),
        pytest.param(a_csv(icon=["x"]), id="an icon that is no object"),
    ],
)
def test_r319_a_head_that_says_nothing_leaves_the_package_empty(csv: dict[str, Any] | None) -> None:
    config = render(
        a_template(stable=["1.0.0"]), SCHEMAS["semver"], lambda _: [Rendered(rendered("1.0.0")[0].bundle, csv)]
    )
    assert config.packages == [{"schema": "olm.package", "name": "tea", "defaultChannel": "stable-v1.0"}]
