from __future__ import annotations

import ssl
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.adapters.kube import Connection, ConnectionSettingError, Context, connect, context_of


def a_kubeconfig(folder: Path, *, cluster: Any = None, user: Any = None, **changed: Any) -> str:
    config = {
        "clusters": [{"name": "c", "cluster": {"server": "https://api.example:6443/", **(cluster or {})}}],
        "users": [{"name": "u", "user": user or {}}],
        "contexts": [{"name": "x", "context": {"cluster": "c", "user": "u"}}],
        "current-context": "x",
        **changed,
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(config))
    return str(path)


@pytest.mark.parametrize(
    ("user", "want"),
    [
        pytest.param({}, "", id="nobody in particular"),
        pytest.param({"token": "t0ken"}, "Bearer t0ken", id="a token"),
        pytest.param({"username": "u", "password": "p"}, "Basic dTpw", id="a name and a password"),
        pytest.param({"tokenFile": "token"}, "Bearer from-file", id="a token in a file beside the kubeconfig"),
    ],
)
def test_who_we_are(tmp_path: Path, user: Any, want: str) -> None:
    (tmp_path / "token").write_text("from-file\n")
    assert connect(a_kubeconfig(tmp_path, user=user)).authorization() == want


def test_where_the_server_is(tmp_path: Path) -> None:
    found = connect(a_kubeconfig(tmp_path, cluster={"tls-server-name": "kubernetes", "proxy-url": "http://proxy:1"}))
    assert (found.server, found.server_name, found.proxy) == (
        "https://api.example:6443",
        "kubernetes",
        "http://proxy:1",
    )
    assert found.tls is not None
    assert found.tls.verify_mode == ssl.CERT_REQUIRED


def test_what_people_see_of_the_server_holds_no_secret() -> None:
    assert Connection("http://user:word@127.0.0.1:6443/token/s3cret").origin == "http://127.0.0.1:6443"


def test_verification_is_left_out_only_where_the_file_reports_it(tmp_path: Path) -> None:
    found = connect(a_kubeconfig(tmp_path, cluster={"insecure-skip-tls-verify": True}))
    assert found.tls is not None
    assert found.tls.verify_mode == ssl.CERT_NONE


def test_a_client_certificate_must_fit_its_key(tmp_path: Path) -> None:
    for name in ("one", "other"):
        make = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=admin"]
        make += ["-keyout", f"{name}.key", "-out", f"{name}.crt"]
        subprocess.run(make, cwd=tmp_path, check=True, capture_output=True)
    connect(a_kubeconfig(tmp_path, user={"client-certificate": "one.crt", "client-key": "one.key"}))
    with pytest.raises(ConnectionSettingError, match="KEY_VALUES_MISMATCH"):
        connect(a_kubeconfig(tmp_path, user={"client-certificate": "one.crt", "client-key": "other.key"}))


@pytest.mark.parametrize(
    ("changed", "want"),
    [
        pytest.param({"current-context": "other"}, "contexts has no entry 'other'", id="a context that is not there"),
        pytest.param({"current-context": ""}, "no current-context; choose one with `kubectl ", id="no context in use"),
        pytest.param({"clusters": []}, "clusters has no entry 'c'", id="a cluster that is not there"),
        pytest.param({"user": {"client-certificate": "none"}}, "No such file", id="a certificate that is not there"),
        pytest.param(
            {"cluster": {"certificate-authority-data": "*"}}, "-data is not base64", id="an authority that is no base64"
        ),
        pytest.param(
            {"cluster": {"certificate-authority-data": "//79"}}, "is not PEM", id="an authority that is not text"
        ),
        pytest.param({"cluster": {"certificate-authority-data": 5}}, "-data is not a text", id="data that is a number"),
        pytest.param({"users": [1]}, "users has no entry 'u'", id="a user that is a number"),
        pytest.param({"contexts": {"x": 1}}, "contexts has no entry 'x'", id="contexts that are no list"),
        pytest.param(
            {"contexts": [{"name": "x", "context": "c"}]}, "the context of 'x' is not a mapping", id="a context as text"
        ),
        pytest.param({"cluster": {"server": ""}}, "current context has no server", id="a cluster without a server"),
        pytest.param(
            {"cluster": {"server": "api:6443"}}, "wanted http://HOST or https://", id="a server without scheme"
        ),
        pytest.param(
            {"cluster": {"proxy-url": "proxy:1"}}, "wanted http://HOST or https://", id="a proxy without scheme"
        ),
        pytest.param({"user": {"token": ["t"]}}, "token is not a text", id="a token that is a list"),
    ],
)
def test_a_bad_file_is_named_with_its_defect(tmp_path: Path, changed: Any, want: str) -> None:
    path = a_kubeconfig(tmp_path, **changed)
    with pytest.raises(ConnectionSettingError) as caught:
        connect(path)
    assert str(caught.value).startswith(f"kubeconfig {path}: ")
    assert want in str(caught.value)


def test_a_context_names_its_cluster_and_namespace(tmp_path: Path) -> None:
    context = {"name": "x", "context": {"cluster": "c", "user": "u", "namespace": "team-a"}}
    (tmp_path / "ca.crt").write_text("PEM")
    path = a_kubeconfig(tmp_path, cluster={"certificate-authority": "ca.crt"}, contexts=[context])
    assert context_of(path) == Context("https://api.example:6443", b"PEM", "team-a")
    (tmp_path / "second").write_text("{}")
    path = a_kubeconfig(tmp_path, contexts=[context])
    assert context_of(f"{path}:{tmp_path / 'second'}").namespace == "team-a", "of several files, too"
    (tmp_path / "binary").write_bytes(b"\xff\x00\xd0")
    with pytest.raises(ConnectionSettingError, match=f"kubeconfig {tmp_path / 'binary'}: "):
        connect(str(tmp_path / "binary"))
    with pytest.raises(ConnectionSettingError, match=f"kubeconfig {tmp_path / 'none'}: no such file"):
        context_of(str(tmp_path / "none"))


@pytest.mark.parametrize(
    ("other", "is_same"),
    [
        pytest.param(Context("https://a", b"one", "elsewhere"), True, id="another namespace"),
        pytest.param(Context("https://a"), True, id="an authority that is not known"),
        pytest.param(Context("https://a", b"two"), False, id="another authority at the same address"),
        pytest.param(Context("https://b", b"one"), False, id="another address"),
    ],
)
def test_contexts_of_one_cluster(other: Context, is_same: bool) -> None:
    assert Context("https://a", b"one").is_same_cluster(other) is is_same


def test_no_cluster_at_all_says_what_to_do() -> None:
    with pytest.raises(ConnectionSettingError, match="no kubeconfig was given"):
        connect("", {})


def test_credentials_of_a_program_come_through_the_library(tmp_path: Path) -> None:
    token = '{"apiVersion":"client.authentication.k8s.io/v1","kind":"ExecCredential","status":{"token":"made"}}'
    program = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": ["-c", f"print({token!r})"],
        "interactiveMode": "Never",
    }
    assert connect(a_kubeconfig(tmp_path, user={"exec": program})).authorization() == "Bearer made"


def test_plain_credentials_do_without_the_library(tmp_path: Path) -> None:
    code = (
        "import sys; from shared.adapters.kube import connect; connect(sys.argv[1]); print('kubernetes' in sys.modules)"
    )
    path = a_kubeconfig(tmp_path, user={"token": "t"})
    reported = subprocess.run([sys.executable, "-c", code, path], capture_output=True, text=True, check=True)
    assert reported.stdout == "False\n"


@pytest.mark.parametrize("token", ["s3cret\ns3cret", "s3cret\N{EURO SIGN}"])
def test_a_token_that_no_header_can_hold_is_refused_and_not_shown(tmp_path: Path, token: str) -> None:
    with pytest.raises(ConnectionSettingError, match="token has characters that no token has") as caught:
        connect(a_kubeconfig(tmp_path, user={"token": token}))
    assert "s3cret" not in str(caught.value)
    (tmp_path / "token").write_text(token)
    with pytest.raises(ConnectionSettingError, match=f"{tmp_path / 'token'} has characters that") as caught:
        connect(a_kubeconfig(tmp_path, user={"tokenFile": "token"})).authorization()
    assert "s3cret" not in str(caught.value)
