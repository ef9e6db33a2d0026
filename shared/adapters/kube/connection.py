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
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import yaml

from shared.adapters.kube.credentials import (
    ConnectionSettingError,
    Credentials,
    FileCredentials,
    Verification,
    bearer,
    bearer_of,
)

POD = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_FILES = ("tokenFile", "client-certificate", "client-key")
_PLAIN = {"token", "client-certificate-data", "client-key-data", "username", "password", *_FILES}


@dataclass(frozen=True, slots=True)
class Connection:
    """The address of one API server, and the credentials for it."""

    server: str
    """`https://host:port`, perhaps with a path; never a trailing slash."""
    credentials: Callable[[], Credentials] = Credentials
    """Returns the present ones: they may change while a program works."""
    proxy: str = ""
    server_name: str = ""
    """Name in the server's certificate, where it differs from the host."""
    agent: str = "olmf"
    """The user agent, for the audit log of the cluster. Its part before `/` is also the default field manager."""

    @property
    def tls(self) -> ssl.SSLContext | None:
        """What verifies the server now; another object after its certificates were replaced."""
        return self.credentials().tls

    def authorization(self) -> str:
        """The present value of the header `Authorization`; empty: the header is not sent."""
        return self.credentials().authorization()

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
        config = _read(path)
        _, cluster, user = _chosen(config)
        if set(user) - _PLAIN:
            return _by_library(kubeconfig)
        files = [path, *_files(cluster, user, path.parent)]
        read = partial(_read_again, path, config["current-context"], _server(cluster), Verification())
        credentials = FileCredentials(read, files)
        server_name = _text(cluster, "tls-server-name")
        return Connection(_server(cluster), credentials, _url(cluster, "proxy-url"), server_name)
    except (OSError, yaml.YAMLError, ValueError) as error:
        raise ConnectionSettingError(f"kubeconfig {path}: {error}") from error


def _read(path: Path) -> Any:
    """The document of a kubeconfig. ConnectionSettingError or YAMLError when it cannot be read."""
    try:
        return yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise ConnectionSettingError((error.strerror or str(error)).lower()) from error


def _chosen(config: Any, name: str = "") -> tuple[Mapping[str, Any], Mapping[str, Any], Mapping[str, Any]]:
    """The context of that name, or the current one, its cluster and its user."""
    if not isinstance(config, dict):
        raise ConnectionSettingError("not a mapping")
    if not (name or config.get("current-context")):
        raise ConnectionSettingError("no current-context; choose one with `kubectl config use-context NAME`")
    context = _named(config, "contexts", "context", name or config["current-context"])
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


def _read_again(path: Path, context: str, server: str, verification: Verification) -> Credentials:
    """What the kubeconfig says now of the context that was chosen. ConnectionSettingError.

    Whoever makes another context the current one does not move the programs that work; nor does a new address, which
    may be that of another cluster.
    """
    try:
        _, cluster, user = _chosen(_read(path), context)
    except yaml.YAMLError as error:
        raise ConnectionSettingError(f"kubeconfig {path}: {error}") from error
    if _server(cluster) != server:
        raise ConnectionSettingError(f"context {context!r} leads to {_server(cluster)} now: start again to go there")
    return _credentials(cluster, user, path.parent, verification)


def _credentials(
    cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path, verification: Verification
) -> Credentials:
    tls = None
    if _server(cluster).startswith("https:"):
        tls = verification(
            _content(cluster, "certificate-authority", folder),
            insecure=cluster.get("insecure-skip-tls-verify"),
            certificate=(certificate := _content(user, "client-certificate", folder)),
            key=_content(user, "client-key", folder) if certificate else b"",
        )
    header = _authorization(user, folder)
    return Credentials(tls, lambda: header)


def _files(cluster: Mapping[str, Any], user: Mapping[str, Any], folder: Path) -> list[Path]:
    """The files that are named beside the kubeconfig itself."""
    names = [_text(cluster, "certificate-authority"), *(_text(user, key) for key in _FILES)]
    return [folder / name for name in names if name]


def _content(entry: Mapping[str, Any], key: str, folder: Path) -> bytes:
    try:
        if data := _text(entry, f"{key}-data"):
            return base64.b64decode("".join(data.split()), validate=True)
    except binascii.Error as error:
        raise ConnectionSettingError(f"{key}-data is not base64: {error}") from error
    name = _text(entry, key)
    return (folder / name).read_bytes() if name else b""


def _authorization(user: Mapping[str, Any], folder: Path) -> str:
    if name := _text(user, "tokenFile"):
        return bearer_of(folder / name)
    if token := _text(user, "token"):
        return bearer(token, "token")
    if name := _text(user, "username"):
        pair = f"{name}:{_text(user, 'password')}"
        return "Basic " + base64.b64encode(pair.encode()).decode()
    return ""


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
    authority, token = POD / "ca.crt", POD / "token"
    read = partial(of_pod, authority, token, Verification())
    return Connection(f"https://{host}:{port}", FileCredentials(read, (authority, token)))


def of_pod(authority: Path, token: Path, verification: Verification) -> Credentials:
    """The credentials of a pod, from what its kubelet mounts. ConnectionSettingError or OSError."""
    header = bearer_of(token)
    return Credentials(verification(authority.read_bytes()), lambda: header)


def _by_library(kubeconfig: str) -> Connection:
    settings = _library_settings(kubeconfig)
    files = [Path(name).expanduser() for name in kubeconfig.split(os.pathsep) if name]
    read = partial(_of_library, kubeconfig, settings.host, Verification())
    return Connection(
        settings.host.rstrip("/"), FileCredentials(read, files), settings.proxy or "", settings.tls_server_name or ""
    )


def _library_settings(kubeconfig: str) -> Any:
    from kubernetes.client import Configuration
    from kubernetes.config import ConfigException, load_kube_config

    settings = Configuration()
    try:
        load_kube_config(config_file=kubeconfig, client_configuration=settings)
    except ConfigException as error:
        raise ConnectionSettingError(f"kubeconfig {kubeconfig}: {error}") from error
    return settings


def _of_library(kubeconfig: str, server: str, verification: Verification) -> Credentials:
    settings = _library_settings(kubeconfig)
    if settings.host != server:
        raise ConnectionSettingError(f"kubeconfig {kubeconfig} leads to {settings.host} now: start again to go there")
    tls = None
    if server.startswith("https:"):
        authority, certificate, key = (
            Path(file).read_bytes() if file else b""
            for file in (settings.ssl_ca_cert, settings.cert_file, settings.key_file)
        )
        insecure = not settings.verify_ssl
        tls = verification(authority, insecure=insecure, certificate=certificate, key=key)
    return Credentials(tls, lambda: settings.get_api_key_with_prefix("BearerToken") or "")
