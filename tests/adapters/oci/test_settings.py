from __future__ import annotations

import base64
import json
import ssl
import stat
import subprocess
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from shared.adapters.oci.credentials import Credentials, Login
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.logins import files, mirrors_of_machine, of_machine, registry_of_machine
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.trust import Trust
from shared.names import REGISTRIES_CONF, REGISTRY_CA

_IMAGE = Reference.parse("quay.io/acme/tea")


def a_config(path: Path, user: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    auth = base64.b64encode(f"{user}:secret".encode()).decode()
    path.write_text(json.dumps({"auths": {"quay.io": {"auth": auth}}}))
    return path


def test_logins_are_where_container_tools_keep_them(tmp_path: Path) -> None:
    home, environ = tmp_path / "home", dict[str, str]()
    assert of_machine(environ, home).of(_IMAGE) is None
    a_config(home / ".config/containers/auth.json", "kept")
    assert of_machine(environ, home).of(_IMAGE) == Login("kept", "secret")
    environ["XDG_RUNTIME_DIR"] = str(tmp_path / "run")
    a_config(tmp_path / "run/containers/auth.json", "podman")
    assert of_machine(environ, home).of(_IMAGE) == Login("podman", "secret")
    a_config(home / ".docker/config.json", "docker")
    assert of_machine(environ, home).of(_IMAGE) == Login("docker", "secret")
    environ["DOCKER_CONFIG"] = str(a_config(tmp_path / "other/config.json", "other").parent)
    assert of_machine(environ, home).of(_IMAGE) == Login("other", "secret")
    environ["REGISTRY_AUTH_FILE"] = str(a_config(tmp_path / "named.json", "named"))
    assert of_machine(environ, home).of(_IMAGE) == Login("named", "secret")
    assert len(list(files(environ, home))) == 4


@pytest.fixture
def helper(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program that keeps logins; what it is told, it notes."""
    program = tmp_path / "docker-credential-tests"
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return program


def answering(program: Path, script: str) -> None:
    program.write_text(f"#!/bin/sh\ncat > {program}.asked\n{script}\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


def configured(**fields: Any) -> Credentials:
    return Credentials.of_config(json.dumps(fields).encode())


@pytest.mark.parametrize(
    ("fields", "image", "asked"),
    [
        pytest.param({"credHelpers": {"quay.io": "tests"}}, "quay.io/a", "quay.io", id="of a registry"),
        pytest.param({"credsStore": "tests"}, "quay.io/a", "quay.io", id="of all registries"),
        pytest.param({"credsStore": "tests"}, "tea", "https://index.docker.io/v1/", id="as Docker spells its own"),
    ],
)
def test_a_helper_keeps_the_login(helper: Path, fields: dict[str, Any], image: str, asked: str) -> None:
    answering(helper, """echo '{"ServerURL": "x", "Username": "me", "Secret": "s"}'""")
    assert configured(**fields).of(Reference.parse(image)) == Login("me", "s")
    assert Path(f"{helper}.asked").read_text() == asked


def test_a_helper_may_keep_a_token(helper: Path) -> None:
    answering(helper, """echo '{"Username": "<token>", "Secret": "t"}'""")
    assert configured(credsStore="tests").of(_IMAGE) == Login("<token>", "", "t")


def test_a_helper_that_knows_nothing_leaves_us_anonymous(helper: Path) -> None:
    answering(helper, "echo 'credentials not found in native keychain'; exit 1")
    assert configured(credsStore="tests").of(_IMAGE) is None


@pytest.mark.parametrize(
    ("script", "words"),
    [
        pytest.param("echo locked >&2; exit 3", "has no login for quay.io: locked; log in again", id="it refuses"),
        pytest.param("echo hello", "answered with something that is no login", id="it says hello"),
        pytest.param("echo '{}'", "answered with something that is no login", id="it says nothing"),
    ],
)
def test_a_helper_that_fails_is_named(helper: Path, script: str, words: str) -> None:
    answering(helper, script)
    with pytest.raises(OciError, match=words):
        configured(credsStore="tests").of(_IMAGE)


def test_a_helper_that_is_not_installed_is_named() -> None:
    with pytest.raises(OciError, match=r"docker-credential-none.*take it out of config\.json"):
        configured(credsStore="none").of(_IMAGE)


def test_a_written_login_comes_before_a_helper() -> None:
    auth = base64.b64encode(b"me:s").decode()
    assert configured(auths={"quay.io": {"auth": auth}}, credsStore="none").of(_IMAGE) == Login("me", "s")


def test_a_token_of_a_config_is_one() -> None:
    found = configured(auths={"quay.io": {"identitytoken": "t", "auth": "bWU6"}}).of(_IMAGE)
    assert found is not None
    assert found.identity_token == "t"


def test_registries_conf_of_the_user_comes_before_that_of_the_machine(tmp_path: Path) -> None:
    folder = tmp_path / ".config/containers"
    (folder / "registries.conf.d").mkdir(parents=True)
    (folder / "registries.conf").write_text('[[registry]]\nlocation = "a.io"\n[[registry]]\nlocation = "b.io"')
    (folder / "registries.conf.d/1.conf").write_text('[[registry]]\nlocation = "b.io"\nblocked = true')
    rules = {rule.prefix: rule.is_blocked for rule in mirrors_of_machine({}, tmp_path).rules}
    assert rules == {"a.io": False, "b.io": True}


def test_registries_conf_may_be_named(tmp_path: Path) -> None:
    (tmp_path / "x.conf").write_text('[[registry]]\nlocation = "x.io"')
    environ = {"CONTAINERS_REGISTRIES_CONF": str(tmp_path / "x.conf")}
    assert [rule.prefix for rule in mirrors_of_machine(environ, tmp_path).rules] == ["x.io"]
    assert registry_of_machine(environ, tmp_path).limits.files > 0


def test_a_private_authority_is_trusted_besides_those_of_the_machine(tmp_path: Path) -> None:
    """Programs and unpack Jobs get it from the same ConfigMap."""
    key, certificate = tmp_path / "key.pem", tmp_path / "cert.pem"
    words = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=private", "-days", "1"]
    words += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run(words, check=True, capture_output=True)
    serving = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    serving.load_cert_chain(certificate, key)
    trusting = Trust.of({REGISTRY_CA: certificate.read_text()})
    assert shaken(serving, trusting.context("127.0.0.1"))
    assert trusting.context("127.0.0.1").cert_store_stats()["x509_ca"] > 0
    with pytest.raises(ssl.SSLCertVerificationError):
        shaken(serving, Trust.of({}).context("127.0.0.1"))
    with pytest.raises(OciError, match="OLMF_REGISTRY_CA cannot be used"):
        Trust.of({REGISTRY_CA: "no certificate"}).context("127.0.0.1")


def shaken(serving: ssl.SSLContext, asking: ssl.SSLContext) -> bool:
    """Whether both ends agree, without a socket."""
    to_server, to_client = ssl.MemoryBIO(), ssl.MemoryBIO()
    server = serving.wrap_bio(to_server, to_client, server_side=True)
    client = asking.wrap_bio(to_client, to_server, server_hostname="127.0.0.1")
    for _ in range(4):
        for end in (client, server):
            with suppress(ssl.SSLWantReadError):
                end.do_handshake()
    return client.version() is not None


def test_mirrors_come_as_text_where_no_file_can_be_mounted(tmp_path: Path) -> None:
    text = '[[registry]]\nlocation = "quay.io"\n[[registry.mirror]]\nlocation = "mirror.example/quay"\n'
    file = tmp_path / "registries.conf"
    file.write_text('[[registry]]\nlocation = "quay.io"\nblocked = true\n')
    environ = {REGISTRIES_CONF: text, "CONTAINERS_REGISTRIES_CONF": str(file)}
    locations = mirrors_of_machine(environ, tmp_path).locations(Reference.parse("quay.io/tea:1"))
    assert [str(one.reference) for one in locations] == ["mirror.example/quay/tea:1", "quay.io/tea:1"]
    with pytest.raises(OciError, match="OLMF_REGISTRIES_CONF cannot be read"):
        mirrors_of_machine({REGISTRIES_CONF: "[["}, tmp_path)


def test_a_certificate_that_is_none_is_named(tmp_path: Path) -> None:
    (tmp_path / "quay.io").mkdir()
    assert Trust((tmp_path,)).context("other.io").verify_mode == ssl.CERT_REQUIRED
    (tmp_path / "quay.io" / "ca.crt").write_text("no certificate")
    with pytest.raises(OciError, match=r"ca\.crt cannot be used"):
        Trust((tmp_path,)).context("quay.io")
    (tmp_path / "quay.io" / "ca.crt").unlink()
    (tmp_path / "quay.io" / "client.cert").write_text("none either")
    with pytest.raises(OciError, match=r"client\.cert cannot be used"):
        Trust.of({}, (tmp_path,)).context("quay.io")
