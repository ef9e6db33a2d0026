from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest

from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.oci.mirrors import Mirror, Mirrors, Rule
from shared.adapters.oci.transport import Transport
from shared.api.manifest import Manifest
from shared.domain.bundle.annotations import CONFIGS, PACKAGE
from shared.domain.catalog.model import Entry, Package
from shared.domain.image_source import ImageSource
from shared.ports import Pulled, Unavailable
from tests.kit.image_registry import Answer, Request, ScriptedRegistry, a_file, a_layer, scripted_registry
from tests.kit.waiting import costing_at_most


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def a_package(name: str, version: str = "1.0.0") -> bytes:
    documents: list[Manifest] = [
        {"schema": "olm.package", "name": name, "defaultChannel": "stable", "icon": {"base64data": "x" * 1000}},
        {"schema": "olm.channel", "package": name, "name": "stable", "entries": [{"name": f"{name}.v{version}"}]},
        {
            "schema": "olm.bundle",
            "package": name,
            "name": f"{name}.v{version}",
            "image": f"quay.io/{name}:{version}",
            "properties": [
                {"type": "olm.package", "value": {"packageName": name, "version": version}},
                {"type": "olm.csv.metadata", "value": {}},
            ],
        },
    ]
    return b"\n".join(map(orjson.dumps, documents))


def publish(registry: ScriptedRegistry, *files: tuple[str, bytes], tag: str = "latest") -> ImageSource:
    layer = a_layer(*(a_file(path, content) for path, content in files))
    registry.put("cat", tag, [layer], {CONFIGS: "/configs"})
    return ImageSource(f"{registry.address}/cat:{tag}", "olm")


def catalogs(folder: Path, secrets: dict[tuple[str, str], Manifest] | None = None) -> ImageCatalogs:
    return ImageCatalogs(
        Store(folder),
        Puller(lambda *key: (secrets or {}).get(key), Transport(attempts=1)),
    )


def test_a_catalog_is_pulled_by_tag_and_asked_by_digest(registry: ScriptedRegistry, tmp_path: Path) -> None:
    source = publish(registry, ("configs/tea/c.json", a_package("tea")), ("configs/pot.yaml", a_package("pot")))
    port = catalogs(tmp_path)
    pulled = port.pull(source)
    assert isinstance(pulled, Pulled)
    assert pulled.packages == 2
    assert pulled.reference.startswith(f"{registry.address}/cat@sha256:")
    assert port.packages(pulled.reference, source) == ("pot", "tea")
    tea = port.package(pulled.reference, "tea", source)
    assert isinstance(tea, Package)
    assert tea.channels[0].entries == (Entry("tea.v1.0.0"),)
    assert tea.bundles["tea.v1.0.0"].properties[0].value == {"packageName": "tea", "version": "1.0.0"}
    assert port.package(pulled.reference, "cup", source) is None
    document = port.bundle(pulled.reference, "tea", "tea.v1.0.0", source)
    assert isinstance(document, dict)
    assert [one["type"] for one in document["properties"]] == ["olm.package", "olm.csv.metadata"]
    assert port.bundle(pulled.reference, "tea", "tea.v2.0.0", source) is None


def test_a_digest_already_indexed_costs_one_head(registry: ScriptedRegistry, tmp_path: Path) -> None:
    source = publish(registry, ("configs/c.json", a_package("tea")))
    first = catalogs(tmp_path).pull(source)
    registry.requests.clear()
    another_process = catalogs(tmp_path)
    assert another_process.pull(source) == first
    assert [request.method for request in registry.requests] == ["HEAD"]
    assert isinstance(first, Pulled)
    assert isinstance(another_process.package(first.reference, "tea", source), Package)
    assert len(registry.requests) == 1


def test_a_moved_tag_is_another_catalog_and_the_old_one_still_answers(
    registry: ScriptedRegistry, tmp_path: Path
) -> None:
    port = catalogs(tmp_path)
    old = port.pull(publish(registry, ("configs/c.json", a_package("tea", "1.0.0"))))
    source = publish(registry, ("configs/c.json", a_package("tea", "2.0.0")))
    new = port.pull(source)
    assert isinstance(old, Pulled)
    assert isinstance(new, Pulled)
    versions = []
    for pulled in (old, new):
        package = port.package(pulled.reference, "tea", source)
        assert isinstance(package, Package)
        versions += [bundle.version for bundle in package.bundles.values()]
    assert versions == ["1.0.0", "2.0.0"]


def test_forgotten_content_is_indexed_again(registry: ScriptedRegistry, tmp_path: Path) -> None:
    source = publish(registry, ("configs/c.json", a_package("tea")))
    port = catalogs(tmp_path)
    pulled = port.pull(source)
    assert isinstance(pulled, Pulled)
    for path in tmp_path.iterdir():
        path.unlink()
    assert isinstance(port.package(pulled.reference, "tea", source), Package)


def test_a_whole_catalog_that_lost_a_file_is_indexed_again(registry: ScriptedRegistry, tmp_path: Path) -> None:
    source = publish(registry, ("configs/c.json", a_package("tea")))
    port = catalogs(tmp_path)
    pulled = port.pull(source)
    assert isinstance(pulled, Pulled)
    assert isinstance(port.snapshot(pulled.reference, source), Snapshot)
    for path in tmp_path.glob("file-*"):
        path.unlink()
    found = port.snapshot(pulled.reference, source)
    assert isinstance(found, Snapshot)
    pages = found.documents("tea")
    assert [pages.value(row)["name"] for row in pages.rows("olm.package")] == ["tea"]


@pytest.mark.parametrize("content", [b"", b"x" * 7, b"x" * 100, b"\0" * 100], ids=["empty", "short", "text", "zeros"])
def test_a_file_that_a_disk_lost_is_indexed_again(registry: ScriptedRegistry, tmp_path: Path, content: bytes) -> None:
    source = publish(registry, ("configs/c.json", a_package("tea")))
    first = catalogs(tmp_path).pull(source)
    (path,) = tmp_path.glob("catalog*")
    path.write_bytes(content)
    assert catalogs(tmp_path).pull(source) == first


def test_a_folder_that_cannot_be_written_is_reported(registry: ScriptedRegistry, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    answer = catalogs(tmp_path / "file").pull(publish(registry, ("configs/c.json", a_package("tea"))))
    assert isinstance(answer, Unavailable)
    assert "check the folder that OLMF_CONTENT names" in answer.message


def test_a_sick_package_is_unavailable_and_its_siblings_are_not(registry: ScriptedRegistry, tmp_path: Path) -> None:
    sick = orjson.dumps({"schema": "olm.package", "name": "pot", "defaultChannel": "gone"})
    source = publish(registry, ("configs/a.json", a_package("tea")), ("configs/pot.json", sick))
    port = catalogs(tmp_path)
    pulled = port.pull(source)
    assert isinstance(pulled, Pulled)
    answer = port.package(pulled.reference, "pot", source)
    assert isinstance(answer, Unavailable)
    assert "package 'pot' has no channel 'gone'" in answer.message
    assert isinstance(port.package(pulled.reference, "tea", source), Package)
    assert port.documents(pulled.reference, "pot", source) == (orjson.loads(sick),)
    assert port.documents(pulled.reference, "none", source) == ()


@pytest.mark.parametrize(
    ("labels", "content", "words"),
    [
        pytest.param(
            {CONFIGS: "/configs"}, b"kind: Pod", "configs/c, document 1, line 1: missing root schema", id="a manifest"
        ),
        pytest.param({CONFIGS: "/configs"}, b"\x89PNG", "invalid leading UTF-8 octet", id="a picture"),
        pytest.param({CONFIGS: "/configs"}, b"a: [", "configs/c, document 1", id="broken YAML"),
        pytest.param({}, b"", "the label operators.operatorframework.io.index.configs.v1", id="any image"),
        pytest.param({PACKAGE: "tea"}, b"", "it is a bundle, not a catalog", id="a bundle"),
        pytest.param(
            {"operators.operatorframework.io.index.database.v1": "/configs/c"},
            b"no database",
            "file is not a database",
            id="a database that is none",
        ),
    ],
)
def test_issue_3_3_a_catalog_that_is_not_a_catalog(
    registry: ScriptedRegistry, tmp_path: Path, labels: dict[str, str], content: bytes, words: str
) -> None:
    registry.put("cat", "latest", [a_layer(a_file("configs/c", content))], labels)
    answer = catalogs(tmp_path).pull(ImageSource(f"{registry.address}/cat", "olm"))
    assert isinstance(answer, Unavailable)
    assert answer.reason == ("BadCatalog" if content else "NoCatalog")
    assert words in answer.message
    assert f"{registry.address}/cat" in answer.message
    assert list(tmp_path.glob("catalog*")) == []


def test_what_the_catalog_ignores_is_not_read(registry: ScriptedRegistry, tmp_path: Path) -> None:
    files = ("configs/.indexignore", b"*.md\n"), ("configs/a/README.md", b"no catalog")
    source = publish(registry, ("configs/c.json", a_package("tea")), *files)
    assert isinstance(catalogs(tmp_path).pull(source), Pulled)


def test_hostile_patterns_stop_no_worker(registry: ScriptedRegistry, tmp_path: Path) -> None:
    named = ("configs/.indexignore", b"*a" * 100 + b"b"), ("configs/" + "a" * 200, b"no catalog")
    with costing_at_most(5, "while an expression is matched no other thread goes on, and the lease is lost"):
        answer = catalogs(tmp_path).pull(publish(registry, *named))
    assert isinstance(answer, Unavailable)
    assert answer.reason == "BadCatalog"
    long = publish(registry, ("configs/.indexignore", b"*a" * 200_000))
    answer = catalogs(tmp_path).pull(long)
    assert isinstance(answer, Unavailable)
    assert "more than 262144 bytes of patterns" in answer.message


def test_an_image_name_that_is_none_is_reported(tmp_path: Path) -> None:
    answer = catalogs(tmp_path).pull(ImageSource("quay.io/UPPER", "olm"))
    assert isinstance(answer, Unavailable)
    assert "repository name must be lowercase" in answer.message


def test_pull_secrets_are_read_from_the_namespace_of_the_source(registry: ScriptedRegistry, tmp_path: Path) -> None:
    publish(registry, ("configs/c.json", a_package("tea")))
    login = base64.b64encode(b"me:x").decode()

    def gate(request: Request) -> Answer | None:
        is_known = request.authorization == f"Basic {login}"
        return None if is_known else Answer(status=401, headers={"WWW-Authenticate": "Basic"})

    registry.gate = gate
    content = json.dumps({"auths": {registry.address: {"auth": login}}}).encode()
    secret = {"data": {".dockerconfigjson": base64.b64encode(content).decode()}}
    source = ImageSource(f"{registry.address}/cat", "olm", ("pull",))
    assert isinstance(catalogs(tmp_path / "a", {("olm", "pull"): secret}).pull(source), Pulled)
    answer = catalogs(tmp_path / "b").pull(source)
    assert isinstance(answer, Unavailable)
    assert answer.reason == "Unauthorized"
    assert "the Secret olm/pull does not exist" in answer.message
    broken = {"data": {".dockerconfigjson": "no base64"}}
    answer = catalogs(tmp_path / "c", {("olm", "pull"): broken}).pull(source)
    assert isinstance(answer, Unavailable)
    assert answer.message.endswith("; the Secret olm/pull holds no login that can be read")


def test_v1_md_4_pull_secrets_of_both_types_are_those_that_an_account_names(
    registry: ScriptedRegistry, tmp_path: Path
) -> None:
    publish(registry, ("configs/c.json", a_package("tea")))
    login = base64.b64encode(b"me:x").decode()
    registry.gate = lambda request: (
        None if request.authorization == f"Basic {login}" else Answer(status=401, headers={"WWW-Authenticate": "Basic"})
    )
    old = base64.b64encode(json.dumps({registry.address: {"auth": login}}).encode()).decode()
    known: dict[tuple[str, str], Manifest] = {
        ("olm", "serviceaccount/puller"): {"imagePullSecrets": [{"name": "gone"}, {}, {"name": "old"}]},
        ("olm", "old"): {"data": {".dockercfg": old}},
    }
    source = ImageSource(f"{registry.address}/cat", "olm", ("serviceaccount/puller",))
    assert isinstance(catalogs(tmp_path / "a", known).pull(source), Pulled)
    answer = catalogs(tmp_path / "b", {**known, ("olm", "old"): {}}).pull(source)
    assert isinstance(answer, Unavailable)
    assert "the Secret olm/gone does not exist; the Secret olm/old holds no login" in answer.message
    assert isinstance(catalogs(tmp_path / "c").pull(source), Unavailable), "an account that does not exist has none"


def test_a_catalog_comes_from_a_mirror_where_one_is_set(registry: ScriptedRegistry, tmp_path: Path) -> None:
    source = publish(registry, ("configs/c.json", a_package("tea")))
    elsewhere = ImageSource(source.image.replace(registry.address, "quay.io"), "olm")
    mirrors = Mirrors((Rule("quay.io", (Mirror(registry.address),), is_source_asked=False),))
    puller = Puller(lambda *_: None, Transport(attempts=1), mirrors)
    pulled = ImageCatalogs(Store(tmp_path), puller).pull(elsewhere)
    assert isinstance(pulled, Pulled)
    assert pulled.reference.startswith("quay.io/cat@sha256:")


def test_a_refused_image_leaves_no_files(registry: ScriptedRegistry, tmp_path: Path) -> None:
    source = publish(registry, ("configs/a.json", a_package("tea")), ("configs/b.json", b"no catalog" * 10_000))
    answer = catalogs(tmp_path).pull(source)
    assert isinstance(answer, Unavailable)
    assert [path.name for path in tmp_path.iterdir() if not path.name.startswith("grant-")] == []


def test_a_catalog_that_does_not_fit_is_reported(registry: ScriptedRegistry, tmp_path: Path) -> None:
    source = publish(registry, ("configs/a.json", a_package("tea")), ("configs/b.json", b" " * 100_000))
    port = ImageCatalogs(Store(tmp_path, limit_bytes=50_000), Puller(lambda *_: None, Transport(attempts=1)))
    answer = port.pull(source)
    assert isinstance(answer, Unavailable)
    assert answer.reason == "TooLarge"
    assert "it does not fit into the 50000 bytes that catalogs may take here" in answer.message
    assert Store(tmp_path).size() == 0


def test_a_file_name_that_is_no_text_is_reported(registry: ScriptedRegistry, tmp_path: Path) -> None:
    answer = catalogs(tmp_path).pull(publish(registry, ("configs/caf\udce9.json", a_package("tea"))))
    assert isinstance(answer, Unavailable)
    assert answer.reason == "Malformed"
    assert r"'configs/caf\udce9.json', which is not UTF-8; rename the file" in answer.message
    assert answer.message.encode()


def test_of_many_open_catalogs_the_one_that_was_not_used_for_longest_is_closed(
    registry: ScriptedRegistry, tmp_path: Path
) -> None:
    port = catalogs(tmp_path)
    found = []
    for number in range(65):
        source = publish(registry, ("configs/c.json", a_package(f"tea-{number}")), tag=f"v{number}")
        pulled = port.pull(source)
        assert isinstance(pulled, Pulled)
        found.append((pulled.reference, source))
    opened = [port.snapshot(*one) for one in found[:64]]
    assert port.snapshot(*found[0]) is opened[0]
    port.snapshot(*found[64])
    assert port.snapshot(*found[0]) is opened[0], "it was used after the others"
    assert [number for number in range(2, 64) if port.snapshot(*found[number]) is not opened[number]] == []
    assert port.snapshot(*found[1]) is not opened[1]
