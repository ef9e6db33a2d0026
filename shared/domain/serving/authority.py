"""Which Service a client dials: the `:authority` of a call, as DNS in a cluster knows the names of Services."""

from __future__ import annotations

import re
from typing import Final

_LABEL: Final = "[a-z0-9](?:[-a-z0-9]{0,61}[a-z0-9])?"
_AUTHORITY: Final = re.compile(rf"({_LABEL})\.({_LABEL})(?:\.svc(?:\.{_LABEL})*)?\.?(?::[0-9]{{1,5}})?")
_LONGEST: Final = 253 + 6


def dialled_service(authority: str) -> tuple[str, str] | None:
    """Namespace and name of the Service in `<name>.<namespace>[.svc[.<domain>]][:<port>]`; None of any other text.

    Its name alone would do for a client of the same namespace, but a call does not say of which one it is.
    """
    is_readable = authority.isascii() and len(authority) <= _LONGEST
    found = _AUTHORITY.fullmatch(authority.lower()) if is_readable else None
    return (found[2], found[1]) if found else None
