"""The scenarios of operator-controller that are not run, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

_NO_CATALOGD = "nothing asks a catalog over HTTP to resolve: the index of its image is read, whose pull the proxy sees"
LEFT_OUT: Mapping[str, str] = {
    "Catalogd resumes serving catalogs after leader pod failure": (
        "no leader: every replica serves every catalog, and any worker goes on where one was killed"
    ),
    "operator-controller respects HTTPS_PROXY when fetching catalog data": _NO_CATALOGD,
    "operator-controller sends catalog requests through a configured HTTPS proxy": _NO_CATALOGD,
    "catalogd metrics endpoint accepts connections using post-quantum hybrid curves": (
        "Python's TLS can be given one curve, and none of the hybrid ones"
    ),
}
"""There is nothing of the kind here, or it cannot be had."""
