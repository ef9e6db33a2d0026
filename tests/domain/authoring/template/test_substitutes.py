from __future__ import annotations

from typing import Any

import pytest
import yaml

from shared.domain.authoring.judging.judge import why_invalid
from shared.domain.authoring.template import SCHEMAS, Rendered, TemplateError, render
from shared.domain.catalog.config import Config
from tests.domain.authoring.catalogs import a_bundle, a_catalog, a_channel, a_package

ENTRIES = (
    a_package(),
    a_channel(
        {"name": "tea.v1.0.0"},
        {"name": "tea.v1.1.0", "replaces": "tea.v1.0.0", "skips": ["tea.v1.0.5"], "skipRange": "<1.1.0"},
        {"name": "tea.v1.2.0", "replaces": "tea.v1.1.0"},
    ),
    a_channel({"name": "tea.v1.1.0"}, {"name": "tea.v1.3.0", "skips": ["tea.v1.1.0", "x"]}, name="skips"),
    a_channel({"name": "tea.v1.1.0"}, name="other"),
    *(a_bundle(f"tea.v1.{minor}.0", f"1.{minor}.0") for minor in range(4)),
    a_package("cup", "c"), a_channel({"name": "cup.v1", "replaces": "tea.v1.1.0"}, name="c", package="cup"),
    a_bundle("cup.v1", "1.0.0", "cup"),
)  # fmt: skip


def a_template(*substitutions: dict[str, str], entries: tuple[Any, ...] = ENTRIES, **fields: Any) -> bytes:
    template = {"schema": "olm.template.substitutes", "entries": list(entries), "substitutions": list(substitutions)}
    return yaml.safe_dump(template | fields).encode()


def rendered(image: str) -> list[Rendered]:
    """The bundle of an image whose name ends with version and release."""
    version, _, release = image.partition("_")
    value = {"packageName": "tea", "version": version, "release": release}
    name = f"tea-v{version}-{release}"
    properties = [{"type": "olm.package", "value": value}]
    return [Rendered(a_catalog(a_bundle(name, version, properties=properties) | {"properties": properties}).bundles[0])]


def made(*substitutions: dict[str, str]) -> Config:
    return render(a_template(*substitutions), SCHEMAS["substitutes"], rendered)


def entries(config: Config, channel: str) -> list[dict[str, Any]]:
    return list(next(one["entries"] for one in config.channels if one["name"] == channel))


def test_r321_r325_r326_r327_a_substitute_takes_over_the_edges() -> None:
    config = made({"name": "1.1.0_alpha", "base": "tea.v1.1.0"})
    successor = {"name": "tea-v1.1.0-alpha", "replaces": "tea.v1.0.0", "skips": ["tea.v1.0.5", "tea.v1.1.0"],
            "skipRange": "<1.1.0"}  # fmt: skip
    assert entries(config, "stable") == [
        {"name": "tea.v1.0.0"},
        {"name": "tea.v1.1.0"},
        {"name": "tea.v1.2.0", "replaces": "tea-v1.1.0-alpha", "skips": ["tea.v1.1.0"]},
        successor,
    ]
    assert entries(config, "skips")[1] == {"name": "tea.v1.3.0", "skips": ["x", "tea-v1.1.0-alpha"]}
    assert entries(config, "other") == [{"name": "tea.v1.1.0"}, {"name": "tea-v1.1.0-alpha", "skips": ["tea.v1.1.0"]}]
    assert config.bundles[-1]["name"] == "tea-v1.1.0-alpha"


def test_fbc_12_4_channels_of_other_packages_stay_as_they_are() -> None:
    config = made({"name": "1.1.0_alpha", "base": "tea.v1.1.0"})
    assert entries(config, "c") == [{"name": "cup.v1", "replaces": "tea.v1.1.0"}]


def test_r322_a_substitute_may_be_substituted() -> None:
    config = made({"name": "1.1.0_a", "base": "tea.v1.1.0"}, {"name": "1.1.0_b", "base": "tea-v1.1.0-a"})
    names = {entry["name"]: entry for entry in entries(config, "stable")}
    assert names["tea-v1.1.0-a"] == {"name": "tea-v1.1.0-a"}
    assert names["tea-v1.1.0-b"]["replaces"] == "tea.v1.0.0"
    assert names["tea.v1.2.0"]["replaces"] == "tea-v1.1.0-b"


def test_r320_r323_without_substitutions_nothing_changes() -> None:
    assert made().channels == a_catalog(*ENTRIES).channels
    assert render(a_template(entries=()), SCHEMAS["substitutes"], rendered).packages == []


@pytest.mark.parametrize(
    ("substitutions", "message"),
    [
        pytest.param([{"name": "1.1.0_a", "base": "nobody"}], 'render: error processing substitution "nobody" -> '
                     '"1.1.0_a": base bundle "nobody" does not exist in catalog', id="R324: unknown base"),
        pytest.param([{"base": "tea.v1"}], "substitution name cannot be empty", id="R324: no name"),
        pytest.param([{"name": "image"}], "substitution base cannot be empty", id="R324: no base"),
        pytest.param([{"name": "same", "base": "same"}], "substitution name and base cannot be the same",
                     id="R324: the same"),
        pytest.param([{"name": "1.1.0_a", "base": "tea.v1.1.0"}, {"name": "1.1.0_b", "base": "tea.v1.1.0"}],
                     'render: cannot reuse the same substitution base "tea.v1.1.0"', id="R324: base reused"),
        pytest.param([{"name": "1.1.0_a", "base": "tea.v1.1.0"}, {"name": "1.1.0_a", "base": "tea.v1.0.0"}],
                     'render: cannot reuse the same substitution "1.1.0_a" for different bases ("tea.v1.1.0" and '
                     '"tea.v1.0.0")', id="R324: image reused"),
        pytest.param([{"name": "1.0.0_a", "base": "tea.v1.1.0"}], 'base bundle "tea.v1.1.0" is not less than '
                     'substitute bundle "1.0.0_a"', id="R329"),
        pytest.param([{"name": "none", "base": "tea.v1.1.0"}], 'rendered bundle image reference "none" contains no '
                     "bundles", id="fbc.md 12.4: no bundle"),
        pytest.param([{"name": "bad", "base": "tea.v1.1.0"}], 'failed to get VersionRelease for substitute bundle '
                     '"bad": no "olm.package" property found for bundle "b"', id="fbc.md 12.4: no version"),
        pytest.param([{"name": "2.0.0_a", "base": "cup.v1"}], 'resulting config is not valid FBC: package "tea", '
                     'bundle "tea-v2.0.0-a" not found in any channel entries', id="fbc.md 12.4: another package"),
    ],
)  # fmt: skip
def test_a_substitution_that_cannot_be_made_states_why(substitutions: list[dict[str, str]], message: str) -> None:
    def some(image: str) -> list[Rendered]:
        return [] if image == "none" else [Rendered({"name": "b"})] if image == "bad" else rendered(image)

    with pytest.raises(TemplateError) as caught:
        render(a_template(*substitutions), SCHEMAS["substitutes"], some)
    assert message in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        pytest.param(a_template(schema="x"), 'render: unable to parse template: template has unknown schema ("x")',
                     id="R320: another schema"),
        pytest.param(b"a: [", "render: unable to parse template: decoding template schema: ", id="R320: broken"),
        pytest.param(a_template(entries=({"schema": "olm.package", "name": "p", "icon": 1},)),
                     "render: unable to create declarative config from entries: parse package: ",
                     id="R328: wrong type"),
        pytest.param(a_template(entries=(a_channel({"name": "b"}),)), 'render: entries are not valid FBC: unknown '
                     'package "tea" for channel "stable"', id="R328: no package"),
    ],
)  # fmt: skip
def test_what_is_no_substitutes_template_states_why(content: bytes, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        render(content, SCHEMAS["substitutes"], rendered)
    assert str(caught.value).startswith(message)


def test_fbc_12_4_a_base_without_a_version_cannot_be_substituted() -> None:
    # The rules about whole catalogs want a version, so only a build that is no release gets here.
    annotations = {"annotations": {"olm.substitutesFor": "tea.v0"}}
    described = {"type": "olm.csv.metadata", "value": annotations}
    entries = (
        a_package(), a_channel({"name": "tea.v1"}), a_bundle("tea.v1", "1.0.0+001", properties=[described]),
    )  # fmt: skip
    with pytest.raises(TemplateError, match=r'failed to get VersionRelease for base bundle "tea\.v1"'):
        render(a_template({"name": "1.1.0_a", "base": "tea.v1"}, entries=entries), SCHEMAS["substitutes"], rendered)


def test_why_a_catalog_is_not_valid() -> None:
    assert why_invalid(a_catalog(*ENTRIES)) == ""
    broken = a_catalog(a_bundle("b", "1.0.0", properties=[{"type": "olm.bundle.object", "value": {"data": "%"}}]))
    assert why_invalid(broken).startswith('read bundle objects: package "tea", bundle "b": ')
