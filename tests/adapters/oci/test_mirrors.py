from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.certificates import ARE_IGNORED
from shared.adapters.oci import logins, mirror_sets
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import in_memory, pull
from shared.adapters.oci.mirrors import Mirror, Mirrors, Rule
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport
from tests.kit.image_registry import Answer, ScriptedRegistry, a_file, a_layer, scripted_registry

_DIGEST = "sha256:" + "a" * 64
_BY_TAG, _BY_DIGEST = "quay.io/acme/tea:1", f"quay.io/acme/tea@{_DIGEST}"


def locations(mirrors: Mirrors, image: str) -> list[str]:
    return [str(location.reference) for location in mirrors.locations(Reference.parse(image))]


def conf(folder: Path, text: str) -> Mirrors:
    (folder / "registries.conf").write_text(text)
    return Mirrors.of_files([folder / "registries.conf"])


def idms(field: str = "imageDigestMirrors", **more: Any) -> dict[str, Any]:
    return {"spec": {field: [{"source": "quay.io/acme", "mirrors": ["inner.io/mirror", "other.io/m"], **more}]}}


def test_without_rules_an_image_is_where_its_name_says() -> None:
    assert locations(Mirrors(), _BY_TAG) == [_BY_TAG]


@pytest.mark.parametrize(
    ("text", "image", "want"),
    [
        pytest.param(
            '[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "inner.io/q"',
            _BY_TAG,
            ["inner.io/q/acme/tea:1", _BY_TAG],
            id="a mirror of a registry, then the registry",
        ),
        pytest.param(
            '[[registry]]\nprefix = "quay.io/acme"\nlocation = "inner.io/a"',
            _BY_TAG,
            ["inner.io/a/tea:1"],
            id="another location",
        ),
        pytest.param(
            '[[registry]]\nprefix = "*.io"\nlocation = "inner.com"',
            _BY_TAG,
            ["inner.com/acme/tea:1"],
            id="any host below",
        ),
        pytest.param(
            '[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "a.io"\n'
            '[[registry]]\nlocation = "quay.io/acme/tea"\n[[registry.mirror]]\nlocation = "b.io/tea"',
            _BY_TAG,
            ["b.io/tea:1", _BY_TAG],
            id="the longest prefix decides",
        ),
        pytest.param('[[registry]]\nlocation = "quay.io/acm"', _BY_TAG, [_BY_TAG], id="half a word is no prefix"),
        pytest.param(
            '[[registry]]\nlocation = "quay.io"\nmirror-by-digest-only = true\n[[registry.mirror]]\nlocation = "a.io"',
            _BY_TAG,
            [_BY_TAG],
            id="a mirror that has digests only is not asked for a tag",
        ),
        pytest.param(
            '[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "a.io"\npull-from-mirror = "tag-only"',
            _BY_DIGEST,
            [_BY_DIGEST],
            id="a mirror that has tags only is not asked for a digest",
        ),
    ],
)
def test_registries_conf(tmp_path: Path, text: str, image: str, want: list[str]) -> None:
    assert locations(conf(tmp_path, text), image) == want


def test_what_is_blocked_is_not_asked_for(tmp_path: Path) -> None:
    with pytest.raises(OciError) as caught:
        locations(conf(tmp_path, '[[registry]]\nlocation = "quay.io"\nblocked = true'), _BY_TAG)
    assert caught.value.reason == "Blocked"


def test_insecure_is_said_of_each_place(tmp_path: Path) -> None:
    text = '[[registry]]\nlocation = "quay.io"\ninsecure = true\n[[registry.mirror]]\nlocation = "a.io"'
    found = conf(tmp_path, text).locations(Reference.parse(_BY_TAG))
    assert [location.is_insecure for location in found] == [False, True]


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    with pytest.raises(OciError, match=r"registries\.conf cannot be read"):
        conf(tmp_path, "[[registry")


@pytest.mark.parametrize(
    ("objects", "image", "want"),
    [
        pytest.param(
            [idms()],
            _BY_DIGEST,
            [f"inner.io/mirror/tea@{_DIGEST}", f"other.io/m/tea@{_DIGEST}", _BY_DIGEST],
            id="digests",
        ),
        pytest.param([idms()], _BY_TAG, [_BY_TAG], id="an ImageDigestMirrorSet is not about tags"),
        pytest.param(
            [idms("imageTagMirrors")], _BY_TAG, ["inner.io/mirror/tea:1", "other.io/m/tea:1", _BY_TAG], id="tags"
        ),
        pytest.param(
            [idms(mirrorSourcePolicy="NeverContactSource")],
            _BY_DIGEST,
            [f"inner.io/mirror/tea@{_DIGEST}", f"other.io/m/tea@{_DIGEST}"],
            id="the source is never contacted",
        ),
        pytest.param([{"spec": {"imageDigestMirrors": None}}, {}], _BY_DIGEST, [_BY_DIGEST], id="nothing"),
    ],
)
def test_mirror_sets_of_a_cluster(objects: list[dict[str, Any]], image: str, want: list[str]) -> None:
    assert locations(mirror_sets.of_objects(objects), image) == want


_SET = """apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata: {name: acme}
spec:
  imageDigestMirrors:
  - {source: quay.io/acme, mirrors: [inner.io/mirror], mirrorSourcePolicy: NeverContactSource}
"""


def machine(home: Path, **environ: str) -> Mirrors:
    return logins.mirrors_of_machine(environ, home)


def test_mirror_sets_in_files_are_rules_of_a_machine_below_its_registries_conf(tmp_path: Path) -> None:
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "a.yaml").write_text(f"---\n{_SET}")
    (tmp_path / "sets" / "notes.txt").write_text("not one of them")
    for named in (tmp_path / "sets", tmp_path / "sets" / "a.yaml"):
        found = machine(tmp_path, OLMF_MIRRORS=str(named))
        assert locations(found, _BY_DIGEST) == [f"inner.io/mirror/tea@{_DIGEST}"]
    conf(tmp_path, '[[registry]]\nlocation = "quay.io/acme"\n[[registry.mirror]]\nlocation = "mine.io"')
    both = machine(
        tmp_path,
        OLMF_MIRRORS=str(tmp_path / "sets"),
        CONTAINERS_REGISTRIES_CONF=str(tmp_path / "registries.conf"),
    )
    assert locations(both, _BY_TAG) == ["mine.io/tea:1", _BY_TAG]


def test_a_list_of_mirror_sets_is_read(tmp_path: Path) -> None:
    (tmp_path / "list.json").write_text(json.dumps({"kind": "List", "items": [idms()]}))
    found = machine(tmp_path, OLMF_MIRRORS=str(tmp_path / "list.json"))
    assert locations(found, _BY_DIGEST)[0] == f"inner.io/mirror/tea@{_DIGEST}"


@pytest.mark.parametrize(
    "text",
    ["spec: [", "- a", "spec: 1", "spec: {imageTagMirrors: [1]}", "spec: {imageTagMirrors: [{mirrors: [{}]}]}"],
)
def test_mirror_sets_that_are_none_are_named(tmp_path: Path, text: str) -> None:
    (tmp_path / "a.yaml").write_text(text)
    with pytest.raises(OciError, match="correct OLMF_MIRRORS") as caught:
        machine(tmp_path, OLMF_MIRRORS=str(tmp_path / "a.yaml"))
    assert caught.value.reason == "Malformed"
    with pytest.raises(OciError, match="No such file"):
        machine(tmp_path, OLMF_MIRRORS=str(tmp_path / "none.yaml"))


def test_where_no_certificate_counts_it_does_not_at_mirrors_either() -> None:
    lax = Mirrors((Rule("quay.io", (Mirror("a.io"),)),), is_insecure=True)
    found = [one for image in (_BY_TAG, "b.io/c:1") for one in lax.locations(Reference.parse(image))]
    assert [one.is_insecure for one in found] == [True, True, True]


def test_who_says_that_certificates_do_not_count_means_every_place(tmp_path: Path) -> None:
    token = ARE_IGNORED.set(True)
    try:
        lax = logins.registry_of_machine({}, tmp_path)
    finally:
        ARE_IGNORED.reset(token)
    for client, is_lax in ((lax, True), (logins.registry_of_machine({}, tmp_path), False)):
        assert [location.is_insecure for location in client._mirrors.locations(Reference.parse(_BY_TAG))] == [is_lax]


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def mirrored(registry: ScriptedRegistry, *, is_source_asked: bool = True) -> Registry:
    mirror = Mirror(f"{registry.address}/mirror")
    rule = Rule(f"{registry.address}/source", (mirror,), is_source_asked=is_source_asked)
    return Registry(Transport(attempts=1), mirrors=Mirrors((rule,)))


def pulled(registry: ScriptedRegistry, client: Registry) -> dict[str, bytes]:
    return dict(pull(client, Reference.parse(f"{registry.address}/source/tea:1"), lambda _: ("",), in_memory).files)


def test_a_mirror_is_asked_first(registry: ScriptedRegistry) -> None:
    registry.put("mirror/tea", "1", [a_layer(a_file("a", b"mirror"))])
    registry.put("source/tea", "1", [a_layer(a_file("a", b"source"))])
    assert pulled(registry, mirrored(registry)) == {"a": b"mirror"}
    assert mirrored(registry).digest(Reference.parse(f"{registry.address}/source/tea:1")).startswith("sha256:")


def test_a_mirror_for_tags_has_the_layers_of_what_it_has(registry: ScriptedRegistry) -> None:
    registry.put("mirror/tea", "1", [a_layer(a_file("a", b"mirror"))])
    rule = Rule(
        f"{registry.address}/source", (Mirror(f"{registry.address}/mirror", "tag-only"),), is_source_asked=False
    )
    assert pulled(registry, Registry(Transport(attempts=1), mirrors=Mirrors((rule,)))) == {"a": b"mirror"}


def test_what_a_mirror_lacks_comes_from_the_source(registry: ScriptedRegistry) -> None:
    registry.put("source/tea", "1", [a_layer(a_file("a", b"source"))])
    assert pulled(registry, mirrored(registry)) == {"a": b"source"}


def test_a_mirror_that_lies_is_passed_over(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_file("a", b"A"))
    registry.put("source/tea", "1", [layer])
    registry.put("mirror/tea", "1", [layer])
    for path in [path for path in registry.answers if path.startswith("/v2/mirror/tea/blobs/")]:
        registry.answers[path] = Answer(b"lies")
    assert pulled(registry, mirrored(registry)) == {"a": b"A"}


def test_when_nobody_has_an_image_all_answers_are_reported(registry: ScriptedRegistry) -> None:
    with pytest.raises(OciError) as caught:
        pulled(registry, mirrored(registry, is_source_asked=False))
    assert caught.value.reason == "MirrorMiss"
    assert f"{registry.address}/mirror/tea: NotFound" in caught.value.message
    assert "skopeo copy" in caught.value.message
