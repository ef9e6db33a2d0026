"""Images between us, Debian's registry and skopeo: each reads what the others wrote."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.image_writer import write_image
from shared.adapters.images import OciError, folder_of
from shared.adapters.oci.credentials import ANONYMOUS, Credentials, Login
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport
from shared.adapters.oci.trust import Trust
from shared.domain.bundle.annotations import CONFIGS
from tests.conformance.images.registry import PASSWORD, USER, Running, required, running, skopeo

pytestmark = pytest.mark.conformance
FILES = {"configs/tea/catalog.json": b'{"schema": "olm.package", "name": "tea"}', "configs/large": b"x" * 3_000_000}
LABELS = {CONFIGS: "/configs", "maintainer": "acme"}


@pytest.fixture(scope="module", params=["plain", "TLS", "TLS and a login"])
def served(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    required("skopeo")
    kind: str = request.param
    with running(tmp_path_factory.mktemp("registry"), has_tls="TLS" in kind, has_login="login" in kind) as found:
        yield found


def client(served: Running, *, password: str = PASSWORD, trust: Trust | None = None) -> Registry:
    login = Credentials({served.host: Login(USER, password)}) if served.has_login else ANONYMOUS
    return Registry(Transport(attempts=2, backoff_seconds=0.01, trust=trust or Trust((served.certs,))), login)


def theirs(served: Running, side: str) -> list[str]:
    """The words that let skopeo in."""
    words = [f"--{side}cert-dir={served.certs / served.host}"] if any((served.certs / served.host).iterdir()) else []
    words = words or [f"--{side}tls-verify=false"]
    return [*words, f"--{side}creds={USER}:{PASSWORD}"] if served.has_login else words


def test_what_we_push_skopeo_inspects(served: Running) -> None:
    written = write_image(FILES, LABELS, served.reference("tea:1"), client(served))
    found = json.loads(skopeo("inspect", *theirs(served, ""), f"docker://{served.reference('tea:1')}"))
    assert written == f"{served.host}/tea@{found['Digest']}"
    assert found["Labels"] == LABELS


def test_what_we_push_skopeo_copies_and_we_read(served: Running, tmp_path: Path) -> None:
    write_image(FILES, LABELS, served.reference("tea:2"), client(served))
    skopeo("copy", *theirs(served, "src-"), f"docker://{served.reference('tea:2')}", f"oci:{tmp_path}/layout:2")
    with folder_of(f"oci:{tmp_path}/layout:2") as folder:
        assert (folder / "large").read_bytes() == FILES["configs/large"]


def test_what_is_pushed_twice_is_the_same(served: Running) -> None:
    first, second = (write_image(FILES, LABELS, served.reference("tea:3"), client(served)) for _ in range(2))
    assert first == second


@pytest.mark.parametrize("form", ["oci", "v2s2"])
def test_what_skopeo_pushes_we_pull_by_tag_and_by_digest(served: Running, tmp_path: Path, form: str) -> None:
    write_image(FILES, LABELS, f"oci:{tmp_path}/layout:x")
    target = f"docker://{served.reference(f'cup:{form}')}"
    skopeo("copy", f"--format={form}", *theirs(served, "dest-"), f"oci:{tmp_path}/layout:x", target)
    registry = client(served)
    with folder_of(served.reference(f"cup:{form}"), registry) as folder:
        assert (folder / "tea" / "catalog.json").read_bytes() == FILES["configs/tea/catalog.json"]
    digest = json.loads(skopeo("inspect", *theirs(served, ""), target))["Digest"]
    with folder_of(f"{served.reference('cup')}@{digest}", registry) as folder:
        assert (folder / "large").is_file()


@pytest.mark.parametrize("compression", ["zstd", "zstd:chunked"])
def test_what_skopeo_compresses_with_zstd_we_pull(served: Running, tmp_path: Path, compression: str) -> None:
    files = FILES | {"configs/new": compression.encode()}  # what the registry has already is not compressed again
    write_image(files, LABELS, f"oci:{tmp_path}/layout:x")
    tag = compression.replace(":", "-")
    target = f"docker://{served.reference(f'pot:{tag}')}"
    words = ["--format=oci", f"--dest-compress-format={compression}", *theirs(served, "dest-")]
    skopeo("copy", *words, f"oci:{tmp_path}/layout:x", target)
    layers = json.loads(skopeo("inspect", "--raw", *theirs(served, ""), target))["layers"]
    assert [layer["mediaType"] for layer in layers] == ["application/vnd.oci.image.layer.v1.tar+zstd"]
    with folder_of(served.reference(f"pot:{tag}"), client(served)) as folder:
        assert (folder / "large").read_bytes() == FILES["configs/large"]
        assert (folder / "tea" / "catalog.json").read_bytes() == FILES["configs/tea/catalog.json"]


def test_what_is_not_there_is_not_found(served: Running) -> None:
    with pytest.raises(OciError) as caught:
        folder_of(served.reference("none:1"), client(served)).__enter__()
    assert caught.value.reason == "NotFound"


def test_a_wrong_password_is_reported(served: Running) -> None:
    if not served.has_login:
        return
    for registry in (client(served, password="wrong"), Registry(Transport(trust=Trust((served.certs,))))):
        with pytest.raises(OciError) as caught:
            folder_of(served.reference("tea:1"), registry).__enter__()
        assert caught.value.reason == "Unauthorized"
        with pytest.raises(OciError, match="it was not pushed"):
            write_image(FILES, LABELS, served.reference("tea:9"), registry)


def test_a_certificate_that_nobody_knows_is_reported(served: Running) -> None:
    if not any((served.certs / served.host).iterdir()):
        return
    with pytest.raises(OciError) as caught:
        folder_of(served.reference("tea:1"), client(served, trust=Trust(()))).__enter__()
    assert caught.value.reason == "TLS"
    assert "ca.crt" in caught.value.message


def test_the_settings_of_container_tools_are_used(
    served: Running, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not served.has_login:
        return
    auth = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    (tmp_path / "auth.json").write_text(json.dumps({"auths": {served.host: {"auth": auth}}}))
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(tmp_path / "auth.json"))
    monkeypatch.setenv("SSL_CERT_FILE", str(served.certs / served.host / "ca.crt"))
    write_image(FILES, LABELS, served.reference("tea:5"))
    with folder_of(served.reference("tea:5")) as folder:
        assert (folder / "large").is_file()


def test_archives_between_us_and_skopeo(tmp_path: Path) -> None:
    required("skopeo")
    write_image(FILES, LABELS, f"docker-archive:{tmp_path}/ours.tar:quay.io/acme/tea:1")
    skopeo("copy", f"docker-archive:{tmp_path}/ours.tar", f"oci:{tmp_path}/layout:1")
    skopeo("copy", f"oci:{tmp_path}/layout:1", f"docker-archive:{tmp_path}/theirs.tar:quay.io/acme/tea:1")
    for reference in (f"oci:{tmp_path}/layout:1", f"docker-archive:{tmp_path}/theirs.tar"):
        with folder_of(reference) as folder:
            assert (folder / "large").read_bytes() == FILES["configs/large"]
