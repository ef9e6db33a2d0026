"""Asks webhooks over HTTPS, and says what failed in the words of a real API server (those of Go's `net/http`)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit, urlunsplit

import aiohttp
import orjson

from eventing.local.apiserver import endpoints, trust
from eventing.local.apiserver.outbound import Address, Replies, Reply, ReviewRequest
from eventing.local.apiserver.world import World

HEADERS = {
    "Content-Type": "application/json",
    "Accept": "application/json, */*",
    "User-Agent": "kube-apiserver-admission",
}
UNTRUSTED = "certificate signed by unknown authority"
_CERTIFICATE_WORDS = {
    9: "certificate has expired or is not yet valid",
    10: "certificate has expired or is not yet valid",
}
"""What Go says for a code of OpenSSL (`X509_V_ERR_…`)."""
_HOSTNAME = (62, 64)
KEEPS_CLOSED = (3, 11, 7) <= sys.version_info < (3, 12, 7)
"""Whether asyncio waits for the peer when a TLS connection is given up; in older ones (3.11.2) cleaning up fails."""
MAX_BYTES = 3 * 1024 * 1024
"""Maximum size of a reply."""


class Unreachable(Exception):
    """There is no reply; the message says why."""


def connector() -> aiohttp.TCPConnector:
    """Connections that are used once."""
    return aiohttp.TCPConnector(force_close=True, enable_cleanup_closed=KEEPS_CLOSED)


async def ask_all(world: World, requests: Sequence[ReviewRequest]) -> Replies:
    """The replies to several questions, asked at the same time."""
    async with aiohttp.ClientSession(connector=connector()) as session:
        replies = await asyncio.gather(*(_ask(session, world, one) for one in requests))
    return dict(zip(requests, replies, strict=True))


async def _ask(session: aiohttp.ClientSession, world: World, request: ReviewRequest) -> Reply:
    query = f"?timeout={request.seconds}s"
    try:
        async with asyncio.timeout(request.seconds):
            return await _reply(session, world, request, query)
    except TimeoutError:
        return Reply(error=f'Post "{request.address.url}{query}": context deadline exceeded')
    except Unreachable as error:
        return Reply(error=f'Post "{request.address.url}{query}": {error}')


async def _reply(session: aiohttp.ClientSession, world: World, request: ReviewRequest, query: str) -> Reply:
    url, options = way_to(request.address, world)
    try:
        async with session.post(url + query, data=request.body, allow_redirects=False, **options) as response:
            body = await response.content.read(MAX_BYTES)
    except aiohttp.ClientError as error:
        raise Unreachable(describe_error(error, request.address)) from error
    if response.status >= 400:
        is_text = response.headers.get("Content-Type", "text/plain").startswith("text/")
        return Reply(error=_refused(response.status, body if is_text else b""))
    try:
        return Reply(orjson.loads(body))
    except orjson.JSONDecodeError as error:
        return Reply(error=f"couldn't get version/kind; json parse error: {error}")


def _refused(status: int, body: bytes) -> str:
    if status == 404:
        return "the server could not find the requested resource"
    why = body.decode(errors="replace").strip() or "unknown"
    if status >= 500:
        return f'an error on the server ("{why}") has prevented the request from succeeding'
    return f"the server rejected our request for an unknown reason ({status}: {why})"


def way_to(
    address: Address, world: World, *, own: Path | None = None, is_checked: bool = True
) -> tuple[str, dict[str, Any]]:
    """The URL to connect to, and the options that decide whom the connection trusts. Unreachable.

    `own` is the file of the certificate that we show; one that is not checked may be of anybody.
    """
    parts = urlsplit(address.url)
    try:
        context = trust.trusting(address.authority, own) if is_checked else trust.credulous(own)
    except trust.Unreadable as error:
        raise Unreachable(str(error)) from error
    options: dict[str, Any] = {"headers": HEADERS, "ssl": context, "server_hostname": parts.hostname}
    if address.service is None:
        return address.url, options
    try:
        host, port = endpoints.place_of(*address.service, world)
    except endpoints.Unroutable as error:
        raise Unreachable(str(error)) from error
    options["headers"] = {**HEADERS, "Host": parts.netloc}
    if world.pod_network:
        options["proxy"] = f"http://{world.pod_network}"
    return urlunsplit(parts._replace(netloc=f"{host}:{port}")), options


def describe_error(error: Exception, address: Address) -> str:
    """The words of Go for a connection that failed."""
    match error:
        case aiohttp.ClientConnectorCertificateError():
            return f"tls: failed to verify certificate: x509: {_mistrust(error.certificate_error, address)}"
        case aiohttp.ClientConnectorSSLError() | aiohttp.ServerDisconnectedError():
            return "EOF"
        case aiohttp.ClientConnectorDNSError():
            return f"dial tcp: lookup {error.host}: no such host"
        case aiohttp.ClientConnectorError():
            what = "connection refused" if isinstance(error.os_error, ConnectionRefusedError) else str(error.os_error)
            return f"dial tcp {error.host}:{error.port}: connect: {what}"
    return str(error)


def _mistrust(error: Exception, address: Address) -> str:
    code = getattr(error, "verify_code", 0)
    if code in _HOSTNAME:
        return f"certificate is not valid for {urlsplit(address.url).hostname}"
    return _CERTIFICATE_WORDS.get(code, UNTRUSTED)
