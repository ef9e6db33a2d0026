"""The address of the API server and the credentials for it, from a kubeconfig or the service account of the pod.

Decision: kubeconfigs with plain credentials (token, client certificate) and the service account of the pod are read
here, in 1 ms; all others (exec plugins, auth providers, several files) are read by the `kubernetes` package. To import
it takes 140 ms, for each worker, unpack Job and verb of the command line.
"""

from __future__ import annotations

import base64
import binascii
import os
import ssl
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
TOKEN_SECONDS = 60.0
"""How long a token read from a file is used before the file is read again (kubelets rotate it)."""

_PLAIN = {
    "token", "tokenFile", "client-certificate", "client-certificate-data", "client-key", "client-key-data",
    "username", "password",
}  # fmt: skip


class ConnectionSettingError(ValueError):
    """The kubeconfig cannot be used; the message says which one and why."""


@dataclass(frozen=True, slots=True)
class Connection:
    """The address of one API server, and the credentials for it."""

    server: str
    """`https://host:port`, perhaps with a path; never a trailing slash."""
    tls: ssl.SSLContext | None = None
    authorization: Callable[[], str] = str
    """Returns the current value of the header `Authorization`; empty: the header is not sent."""
    proxy: str = ""
    server_name: str = ""
    """Name in the server's certificate, where it differs from the host."""
    agent: str = "olmf"
    """The user agent, for the audit log of the cluster. Its part before `/` is also the default field manager."""

    @property
    def origin(self) -> str:
        """The server without its path, which may contain a secret: for events, logs and messages."""
        parts = urlsplit(self.server)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}"


@dataclass(frozen=True, slots=True)
class Context:
    """The current context of a kubeconfig."""

    server: str
    authority: bytes = b""
    """The certificates of the cluster, in PEM; empty when the kubeconfig names none, or is several files."""
    namespace: str = ""

    def is_same_cluster(self, other: Context) -> bool:
        """Whether the address is the same, and the authority does not differ."""
        authorities = {self.authority, other.authority} - {b""}
        return self.server == other.server and len(authorities) < 2


def context_of(kubeconfig: str) -> Context:
    """The current context of a kubeconfig. ConnectionSettingError as in `connect`."""
    if os.pathsep in kubeconfig:
        from kubernetes.config import list_kube_config_contexts

        server = _by_library(kubeconfig).server
        _, current = list_kube_config_contexts(kubeconfig)
        return Context(server, namespace=current["context"].get("namespace") or "")
    path = Path(kubeconfig).expanduser()
    try:
        context, cluster, _ = _chosen(_read(path))
        authority = _content(cluster, "certificate-authority", path.parent)
        return Context(_server(cluster), authority, _text(context, "namespace"))
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise ConnectionSettingError(f"kubeconfig {path}: {error}") from error


def connect(kubeconfig: str = "", environ: Mapping[str, str] = os.environ) -> Connection:
    """The connection that a kubeconfig file describes; empty: the service account of this pod."""
    if not kubeconfig:
        return _pod(environ)
    if os.pathsep in kubeconfig:
        return _by_library(kubeconfig)
    path = Path(kubeconfig).expanduser()
    try:
        _, cluster, user = _chosen(_read(path))
        return _by_library(kubeconfig) if set(user) - _PLAIN else _plain(cluster, user, path.parent)
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise ConnectionSettingError(f"kubeconfig {path}: {error}") from error


def _read(path: Path) -> Any:
    """The document of a kubeconfig. ConnectionSettingError or YAMLError when it cannot be read."""
    try:
        return yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise ConnectionSettingError((error.strerror or str(error)).lower()) from error


def _chosen(config: Any) -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """The current context, its cluster and its user."""
    if not isinstance(config, dict):
        raise ConnectionSettingError("not a mapping")
    if not config.get("current-context"):
        raise ConnectionSettingError("no current-context; choose one with `kubectl config use-context NAME`")
    context = _named(config, "contexts", "context", config["current-context"])
    user = _named(config, "users", "user", context["user"]) if context.get("user") else {}
    return context, _named(config, "clusters", "cluster", context.get("cluster")), user


def _named(config: Mapping[str, Any], section: str, key: str, name: object) -> Mapping[str, Any]:
    listed = config.get(section) or []
    entries = [one for one in listed if isinstance(one, dict)] if isinstance(listed, list) else []
    found = next((entry.get(key) or {} for entry in entries if entry.get("name") == name), None)
    if found is None:
        raise ConnectionSettingError(f"{section} has no entry {name!r}")
    if not isinstance(found, dict):
        raise ConnectionSettingError(f"{section}: the {key} of {name!r} is not a mapping")
    return found


def _text(entry: Mapping[str, Any], key: str) -> str:
    """A field; empty when absent. ConnectionSettingError when it is not a text; the value may be a secret."""
    value = entry.get(key) or ""
    if not isinstance(value, str):
        raise ConnectionSettingError(f"{key} is not a text")
    return value


def _url(entry: Mapping[str, Any], key: str) -> str:
    """A web address; empty when absent. ConnectionSettingError otherwise; it may hold a login, so it is not shown."""
    url = _text(entry, key)
    if url and not url.startswith(("http://", "https://")):
        raise ConnectionSettingError(f"{key} is not an address: wanted http://HOST or https://HOST")
    return url


def _server(cluster: Mapping[str, Any]) -> str:
    if not (server := _url(cluster, "server")):
        raise ConnectionSettingError("the cluster of the current context has no server")
    return server.rstrip("/")


def _plain(cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path) -> Connection:
    server = _server(cluster)
    tls = None
    if server.startswith("https:"):
        tls = _tls(_content(cluster, "certificate-authority", folder), insecure=cluster.get("insecure-skip-tls-verify"))
        certificate = _content(user, "client-certificate", folder)
        if certificate:
            _load_pair(tls, certificate, _content(user, "client-key", folder))
    return Connection(
        server, tls, _authorization(user, folder), _url(cluster, "proxy-url"), _text(cluster, "tls-server-name")
    )


def _content(entry: Mapping[str, Any], key: str, folder: Path) -> bytes:
    try:
        if data := _text(entry, f"{key}-data"):
            return base64.b64decode("".join(data.split()), validate=True)
    except binascii.Error as error:
        raise ConnectionSettingError(f"{key}-data is not base64: {error}") from error
    name = _text(entry, key)
    return (folder / name).read_bytes() if name else b""


def _tls(authority: bytes, *, insecure: object = False) -> ssl.SSLContext:
    if insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    try:
        context = ssl.create_default_context(cadata=authority.decode() or None)
    except UnicodeDecodeError as error:
        raise ConnectionSettingError("the certificate authority is not PEM") from error
    # why: the API servers of many clusters, kube-apiserver's own self-signed ones among them, lack extensions that
    # Python 3.13 demands by default.
    context.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return context


def _load_pair(context: ssl.SSLContext, certificate: bytes, key: bytes) -> None:
    """Load a key pair through a temporary file, because Python reads key pairs from files only."""
    with tempfile.NamedTemporaryFile(prefix="olmf-") as pair:
        pair.write(certificate + b"\n" + key)
        pair.flush()
        context.load_cert_chain(pair.name)


def _authorization(user: Mapping[str, Any], folder: Path) -> Callable[[], str]:
    if name := _text(user, "tokenFile"):
        return _token_file(folder / name)
    value = ""
    if token := _text(user, "token"):
        value = _bearer(token, "token")
    elif name := _text(user, "username"):
        pair = f"{name}:{_text(user, 'password')}"
        value = "Basic " + base64.b64encode(pair.encode()).decode()
    return lambda: value


def _bearer(token: str, where: str) -> str:
    """The header of a token. ConnectionSettingError when no header can hold it: other errors would print the token."""
    if not (token.isascii() and token.isprintable()):
        raise ConnectionSettingError(f"{where} has characters that no token has, such as a line end")
    return f"Bearer {token}"


def _token_file(path: Path) -> Callable[[], str]:
    header, read_at = "", float("-inf")

    def current() -> str:
        nonlocal header, read_at
        if time.monotonic() - read_at > TOKEN_SECONDS:
            header = _bearer(path.read_text("ascii", "replace").strip(), str(path))
            read_at = time.monotonic()
        return header

    return current


def is_in_pod(environ: Mapping[str, str] = os.environ, account: Path = POD) -> bool:
    """Whether this process is in a pod with a service account."""
    return bool(environ.get("KUBERNETES_SERVICE_HOST")) and (account / "token").exists()


def pod_namespace(account: Path = POD) -> str:
    """The namespace of this pod; empty outside of one."""
    try:
        return (account / "namespace").read_text("utf-8").strip()
    except OSError:
        return ""


def _pod(environ: Mapping[str, str]) -> Connection:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not is_in_pod(environ):
        raise ConnectionSettingError(
            "no cluster: not in a pod with a service account, and no kubeconfig was given (--kubeconfig or KUBECONFIG)"
        )
    host = f"[{host}]" if ":" in host else host
    return Connection(f"https://{host}:{port}", _tls((POD / "ca.crt").read_bytes()), _token_file(POD / "token"))


def _by_library(kubeconfig: str) -> Connection:
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, load_kube_config

    settings = Configuration()
    try:
        load_kube_config(config_file=kubeconfig, client_configuration=settings)
    except ConfigException as error:
        raise ConnectionSettingError(f"kubeconfig {kubeconfig}: {error}") from error
    tls = None
    if settings.host.startswith("https:"):
        tls = _tls(
            Path(settings.ssl_ca_cert).read_bytes() if settings.ssl_ca_cert else b"", insecure=not settings.verify_ssl
        )
        if settings.cert_file:
            tls.load_cert_chain(settings.cert_file, settings.key_file)
    return Connection(
        settings.host.rstrip("/"),
        tls,
        lambda: settings.get_api_key_with_prefix("BearerToken") or "",
        settings.proxy or "",
        settings.tls_server_name or "",
    )
