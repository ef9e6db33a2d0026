"""The formats of texts that the API server checks."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Mapping
from datetime import date, datetime
from typing import Final

_BASE64: Final = re.compile(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")
_TIME: Final = re.compile(r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)", re.ASCII)
_DATE: Final = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_HEX: Final = "[0-9a-f]"


def _is_time(text: str) -> bool:
    return _TIME.fullmatch(text) is not None and _reads(datetime.fromisoformat, text[:19])


def _is_date(text: str) -> bool:
    return _DATE.fullmatch(text) is not None and _reads(date.fromisoformat, text)


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


def _like(pattern: str) -> Callable[[str], bool]:
    compiled = re.compile(pattern, re.IGNORECASE | re.ASCII)
    return lambda text: compiled.fullmatch(text) is not None


def _uuid(version: str, variant: str) -> Callable[[str], bool]:
    return _like(f"{_HEX}{{8}}-?{_HEX}{{4}}-?{version}{_HEX}{{3}}-?{variant}{_HEX}{{3}}-?{_HEX}{{12}}")


_UNCHECKED: Final = (
    "bsonobjectid", "creditcard", "duration", "email", "hostname", "isbn", "isbn10", "isbn13", "mac", "password",
    "rgbcolor", "uri",
)  # fmt: skip
"""The API server reads some of them as Go does; here any text is one."""
FORMATS: Final[Mapping[str, Callable[[str], bool]]] = {
    **dict.fromkeys(_UNCHECKED, lambda _: True),
    "byte": lambda text: _BASE64.fullmatch(text.replace("\n", "").replace("\r", "")) is not None,
    "cidr": lambda text: "/" in text and _reads(ipaddress.ip_interface, text),
    "date": _is_date,
    "date-time": _is_time,
    "datetime": _is_time,
    "hexcolor": _like("#?(?:[0-9a-f]{3}|[0-9a-f]{6})"),
    "ipv4": lambda text: _reads(ipaddress.IPv4Address, text),
    "ipv6": lambda text: _reads(ipaddress.IPv6Address, text),
    "ssn": _like(r"\d{3}[- ]?\d{2}[- ]?\d{4}"),
    "uuid": _uuid(_HEX, _HEX),
    "uuid3": _uuid("3", _HEX),
    "uuid4": _uuid("4", "[89ab]"),
    "uuid5": _uuid("5", "[89ab]"),
}
