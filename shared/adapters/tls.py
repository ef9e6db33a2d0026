"""Verifies certificates as Go does, which the rest of a cluster is written in, whatever the version of Python."""

from __future__ import annotations

import ssl


def tls_context(purpose: ssl.Purpose = ssl.Purpose.SERVER_AUTH, *, authorities: str = "") -> ssl.SSLContext:
    """What the library proposes for a client (`SERVER_AUTH`) or a server; without authorities, those of the machine.

    Python 3.13 demands extensions that authorities of many clusters and registries lack, kube-apiserver's own
    self-signed ones among them.
    """
    made = ssl.create_default_context(purpose, cadata=as_ascii(authorities) or None)
    made.verify_flags &= ~ssl.VERIFY_X509_STRICT
    return made


def as_ascii(authorities: str) -> str:
    """Certificates in PEM as `cadata` takes them: bundles have comments in any language, where it raises TypeError.

    Nothing of a certificate is lost, for those are ASCII; what claims to be one and is not stays unreadable.
    """
    return authorities.encode("ascii", "replace").decode()
