"""HTTP to registries: pools, proxies, timeouts, retries, and failures as typed sentences."""

from __future__ import annotations

import re
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import BinaryIO, Final, Literal, TypeAlias
from urllib.parse import unquote, urlencode, urljoin, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from urllib3.exceptions import HTTPError, MaxRetryError, NameResolutionError, SSLError

from shared.adapters.oci import pace, verify
from shared.adapters.oci.addresses import OPEN, SETTING, AddressRules
from shared.adapters.oci.dialing import Dial, RefusedAddress, pool_classes
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import is_loopback
from shared.adapters.oci.trust import Trust

Content: TypeAlias = bytes | BinaryIO | None
"""The body of a request; a file is sent from its present position, also when it is sent again."""

Follow: TypeAlias = Literal["same", "any"]
"""Where a redirect may lead: to the same host, or to others, too, as that of a blob does."""

_RETRIED: Final = (429, 500, 502, 503, 504)
_SPEAKER: Final = re.compile(r"^HTTPS?(?:Connection)?(?:Pool)?\([^)]*\): ", re.IGNORECASE)
_AGENT: Final = "olm-functions"


@dataclass(slots=True)
class Transport:
    """Connections to registries, kept open between pulls; safe to share between threads."""

    attempts: int = 3
    """Number of attempts before the registry counts as unreachable."""
    backoff_seconds: float = 0.2
    """Pause before the second attempt; it doubles."""
    connect_seconds: float = 5
    read_seconds: float = 30
    is_insecure: bool = False
    """Whether any certificate is accepted."""
    trust: Trust = field(default_factory=Trust)
    """The authorities whose certificates are accepted."""
    rules: AddressRules = OPEN
    """Where connections may go."""
    _pools: dict[tuple[str, str, bool, bool], urllib3.PoolManager] = field(default_factory=dict)
    _private: dict[str, bool] = field(default_factory=dict)

    def request(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str],
        image: str,
        *,
        content: Content = None,
        follow: Follow = "same",
        sent_by: str = "",
    ) -> urllib3.BaseHTTPResponse:
        """The response after redirects; its body is not read yet. OciError about `image` without one.

        Its `url` is the address that answered, which a redirect may have chosen. `sent_by` is the address that named
        this one, as a registry names its token service.
        """
        for _ in range(_REDIRECTS):
            try:
                response = self._attempt(method, url, headers, image, content=content, sent_by=sent_by)
                location = response.get_redirect_location()
                if not location:
                    response.url = url
                    return response
                response.close()
                target = urljoin(url, location)
                if urlsplit(target)[:2] != urlsplit(url)[:2]:  # a login, also one in a form, is meant for one host
                    if content is not None:
                        raise _diverted(url, target, image)
                    self._check_redirect(url, target, image, follow=follow)
                    headers = {name: value for name, value in headers.items() if name != "Authorization"}
            except (HTTPError, ValueError) as error:  # ValueError: not a valid address
                raise unreachable(error, url, image) from error
            url, sent_by = target, sent_by or url
        last = urlsplit(url).netloc.rpartition("@")[2]  # the rest may be signed
        raise OciError("Unreachable", f"{image}: the registry redirects more than {_REDIRECTS} times, last to {last}")

    def _check_redirect(self, url: str, target: str, image: str, *, follow: Follow) -> None:
        """OciError when another host is not where this answer may come from."""
        redirect = urlsplit(target)
        host, port = redirect.hostname or "", redirect.port or (80 if redirect.scheme == "http" else 443)
        if self.rules.is_open or self.rules.is_named(host, port):
            return
        is_same_host = host == urlsplit(url).hostname
        if redirect.scheme == "https" and (follow == "any" or is_same_host):
            return
        asked, why = urlsplit(url).netloc, "in plain text" if redirect.scheme != "https" else "for what only it may say"
        what = f"{image}: {asked} redirects us to {redirect.netloc} {why}, which is not followed"
        raise OciError("Blocked", f"{what}; name the image by that host, or ask who runs this cluster to add the host "
                       f"to {SETTING}")  # fmt: skip

    def _attempt(  # why: the parts of one request
        self, method: str, url: str, headers: Mapping[str, str], image: str, *, content: Content, sent_by: str
    ) -> urllib3.BaseHTTPResponse:
        """One request, within what the present pull has left; a host that costs much time is remembered."""
        running = pace.present()
        if running is not None:
            running.ask(urlsplit(url).netloc.rpartition("@")[2], image)
        begun = time.monotonic()
        try:
            return self._send(method, url, headers, content, sent_by=sent_by)
        except RefusedAddress as refusal:
            todo = f"who runs this cluster can allow it with {SETTING}"
            raise OciError("Blocked", f"{image}: {refusal}: pulls do not go there; {todo}") from refusal
        except (HTTPError, ValueError) as error:
            if running is not None and time.monotonic() - begun >= self.connect_seconds:
                running.remember(f"{urlsplit(url).netloc} does not answer")
            raise unreachable(error, url, image) from error

    def pause(self, attempt: int) -> None:
        """Wait before another attempt, longer each time."""
        time.sleep(min(self.backoff_seconds * 2**attempt, _PAUSE_SECONDS))

    def without_verification(self) -> Transport:
        """The same transport for a registry whose certificate is not verified."""
        return replace(self, is_insecure=True, _pools={})

    def _send(
        self, method: str, url: str, headers: Mapping[str, str], content: Content, *, sent_by: str
    ) -> urllib3.BaseHTTPResponse:
        retries = urllib3.Retry(
            total=self.attempts - 1,
            redirect=False,
            status_forcelist=_RETRIED,
            backoff_factor=self.backoff_seconds,
            backoff_max=_PAUSE_SECONDS,
            respect_retry_after_header=False,  # it may ask for hours; the caller tries again later anyway
            raise_on_status=False,
        )
        return self._pool(url, must_be_public=self._is_public(sent_by, url)).request(
            method,
            url,
            body=content,
            headers={"User-Agent": _AGENT, **headers},
            redirect=False,
            retries=retries,
            timeout=urllib3.Timeout(connect=self.connect_seconds, read=self.read_seconds),
            preload_content=False,
            decode_content=False,
        )

    def _is_public(self, sent_by: str, url: str) -> bool:
        """Whether somebody in a public network sends us to another host: then it has to be public, too."""
        origin, destination = urlsplit(sent_by), urlsplit(url)
        if self.rules.is_open or not sent_by or origin.hostname == destination.hostname:
            return False
        return self._private.get(origin.hostname or "") is False

    def _pool(self, url: str, *, must_be_public: bool) -> urllib3.PoolManager:
        parts = urlsplit(url)
        is_direct = is_loopback(parts.netloc) or proxy_bypass(parts.netloc)
        proxy = "" if is_direct else getproxies().get(parts.scheme, "")
        if proxy and (why := self.rules.why_not_by_name(parts.hostname or "", parts.port or 0)):
            raise RefusedAddress(f"{parts.netloc} {why}")
        key = (proxy, parts.netloc, self.is_insecure, must_be_public)
        if key not in self._pools:
            if len(self._pools) >= _POOLS:
                self._pools.clear()
                self._private.clear()
            context = self.trust.context(parts.netloc, is_insecure=self.is_insecure)
            dial = Dial(self.rules, self._private, must_be_public=must_be_public)
            self._pools[key] = _through(proxy, context, dial)
        return self._pools[key]


def _through(proxy: str, context: ssl.SSLContext, dial: Dial) -> urllib3.PoolManager:
    context.sslsocket_class = pace.PacedTls
    if not proxy:
        manager = urllib3.PoolManager(ssl_context=context)
    else:
        parts = urlsplit(proxy)
        login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
        headers = urllib3.make_headers(proxy_basic_auth=login) if login else None
        manager = urllib3.ProxyManager(proxy, proxy_headers=headers, ssl_context=context)
    manager.pool_classes_by_scheme = pool_classes(dial)
    return manager


def whole_body(response: urllib3.BaseHTTPResponse, limit: int, image: object) -> bytes:
    """The body; more than `limit` bytes are refused without reading them. HTTPError when the connection breaks."""
    content = bytearray()
    for chunk in response.stream(verify.CHUNK_BYTES, decode_content=False):
        content += chunk
        if len(content) > limit:
            raise verify.too_large(image, len(content), limit)
    return bytes(content)


def with_query(url: str, fields: Mapping[str, str]) -> str:
    """An address with more parameters."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(fields)}"


def _diverted(url: str, target: str, image: str) -> OciError:
    hosts = f"{urlsplit(url).netloc} sends what we wrote to it on to {urlsplit(target).netloc}"
    return OciError("Unreachable", f"{image}: {hosts}, which is not done; ask who runs the registry")


_REDIRECTS: Final = 5
_PAUSE_SECONDS: Final = 5
_POOLS: Final = 256
"""Hosts to which connections are kept open; tenants may name any number of them."""


def unreachable(error: Exception, url: str, image: str) -> OciError:
    """A failed request as a sentence."""
    cause = error.reason if isinstance(error, MaxRetryError) and error.reason else error
    host = url.partition("://")[2].partition("/")[0].rpartition("@")[2]
    match cause:
        case NameResolutionError():
            return OciError("DNS", f"{image}: the name of the registry, {host}, cannot be resolved: "
                            "check the spelling and the DNS of this process")  # fmt: skip
        case SSLError():
            what = f"{image}: no trusted connection to {host}: {_first_line(cause)}"
            todo = f"put its certificate authority into /etc/containers/certs.d/{host}/ca.crt, or into SSL_CERT_FILE"
            return OciError("TLS", f"{what}; {todo}")
    return OciError("Unreachable", f"{image}: {host} does not answer: {_first_line(cause)}; "
                    "it is tried again")  # fmt: skip


def _first_line(error: BaseException) -> str:
    """What an error says, without the name of the object that says it."""
    return _SPEAKER.sub("", (str(error) or type(error).__name__).splitlines()[0])
