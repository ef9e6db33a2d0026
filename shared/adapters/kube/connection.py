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
    except (OSError, yaml.YAMLError, binascii.Error, ConnectionSettingError) as error:
        raise ConnectionSettingError(f"kubeconfig {path}: {error}") from error
    return Context(str(cluster.get("server")).rstrip("/"), authority, context.get("namespace") or "")


def connect(kubeconfig: str = "", environ: Mapping[str, str] = os.environ) -> Connection:
    """The connection that a kubeconfig file describes; empty: the service account of this pod."""
    if not kubeconfig:
        return _pod(environ)
    if os.pathsep in kubeconfig:
        return _by_library(kubeconfig)
    path = Path(kubeconfig).expanduser()
    try:
        config = _read(path)
        _, cluster, user = _chosen(config)
    except (OSError, yaml.YAMLError, ConnectionSettingError) as error:
        raise ConnectionSettingError(f"kubeconfig {path}: {error}") from error
    if set(user) - _PLAIN:
        return _by_library(kubeconfig)
    try:
        return _plain(cluster, user, path.parent)
    except (OSError, ssl.SSLError, binascii.Error, KeyError) as error:
        raise ConnectionSettingError(f"kubeconfig {path}: {type(error).__name__} {error}") from error


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
    for entry in config.get(section) or ():
        if entry.get("name") == name:
            return entry.get(key) or {}
    raise ConnectionSettingError(f"{section} has no entry {name!r}")


def _plain(cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path) -> Connection:
    server = str(cluster["server"]).rstrip("/")
    tls = None
    if server.startswith("https:"):
        tls = _tls(_content(cluster, "certificate-authority", folder), insecure=cluster.get("insecure-skip-tls-verify"))
        certificate = _content(user, "client-certificate", folder)
        if certificate:
            _load_pair(tls, certificate, _content(user, "client-key", folder))
    return Connection(
        server, tls, _authorization(user, folder), cluster.get("proxy-url") or "", cluster.get("tls-server-name") or ""
    )


def _content(entry: Mapping[str, Any], key: str, folder: Path) -> bytes:
    if data := entry.get(f"{key}-data"):
        return base64.b64decode("".join(data.split()), validate=True)
    return (folder / entry[key]).read_bytes() if entry.get(key) else b""


def _tls(authority: bytes, *, insecure: object = False) -> ssl.SSLContext:
    if insecure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
        return context
    context = ssl.create_default_context(cadata=authority.decode() or None)
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
    if user.get("tokenFile"):
        return _token_file(folder / user["tokenFile"])
    value = ""
    if user.get("token"):
        value = f"Bearer {user['token']}"
    elif user.get("username"):
        pair = f"{user['username']}:{user.get('password') or ''}"
        value = "Basic " + base64.b64encode(pair.encode()).decode()
    return lambda: value


def _token_file(path: Path) -> Callable[[], str]:
    token, read_at = "", float("-inf")

    def current() -> str:
        nonlocal token, read_at
        if time.monotonic() - read_at > TOKEN_SECONDS:
            token, read_at = path.read_text().strip(), time.monotonic()
        return f"Bearer {token}"

    return current


def _pod(environ: Mapping[str, str]) -> Connection:
    host, port = environ.get("KUBERNETES_SERVICE_HOST"), environ.get("KUBERNETES_SERVICE_PORT")
    if not host or not port or not (POD / "token").exists():
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
