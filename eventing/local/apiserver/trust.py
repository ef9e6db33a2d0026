"""Whom the sandbox trusts when it calls a webhook or an aggregated API, and with what it proves itself."""

from __future__ import annotations

import base64
import ssl
from functools import lru_cache
from pathlib import Path

from shared.adapters.tls import as_ascii


class Unreadable(Exception):
    """An authority is no certificate in PEM; the message says so as Go does."""


@lru_cache(maxsize=256)
def trusting(authority: str, own: Path | None = None) -> ssl.SSLContext:
    """The TLS settings that accept what these certificates (base64) signed, and show our own one. Unreadable.

    Without any, those of this machine count.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.hostname_checks_common_name = False
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN  # a certificate may be its own authority
    if own:
        context.load_cert_chain(own)
    if not authority:
        context.load_default_certs()
        return context
    try:
        context.load_verify_locations(cadata=as_ascii(base64.b64decode(authority).decode(errors="replace")))
    except (ssl.SSLError, ValueError) as error:
        why = "unable to load root certificates: unable to parse bytes as PEM block"
        raise Unreadable(why) from error
    return context


@lru_cache(maxsize=8)
def credulous(own: Path | None) -> ssl.SSLContext:
    """The TLS settings that accept any certificate, and show our own one."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if own:
        context.load_cert_chain(own)
    return context
