"""Rules in CEL that several definitions of OLM v1 share; each is a pair of what refuses a value, and the rule."""

from __future__ import annotations

from typing import Final

V1: Final = "olm.operatorframework.io"
"""The API group of OLM v1."""

_WORD: Final = "([a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])"
_NAME: Final = r"(\/[a-z0-9]+((([._]|__|[-]*)[a-z0-9]+)+)?((\/[a-z0-9]+((([._]|__|[-]*)[a-z0-9]+)+)?)+)?)"
_DNS: Final = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_DIGEST: Final = "self.find('@.*:')"
"""From the `@` to the last colon; empty without a digest."""
_TAIL: Final = "self.find(':.*$')"
"""From the first colon on, which is that of a port where there is one (v1.md §2.1, quirk)."""

DOMAIN: Final = (
    (
        "must start with a valid domain. valid domains must be alphanumeric characters (lowercase and uppercase) "
        'separated by the "." character.'
    ),
    rf"self.matches(r'^{_WORD}((\.{_WORD})+)?(:[0-9]+)?\b')",
)
NAME: Final = (
    (
        "a valid name is required. valid names must contain lowercase alphanumeric characters separated only by the "
        '".", "_", "__", "-" characters.'
    ),
    f"self.find(r'{_NAME}') != ''",
)
DIGEST_OR_TAG: Final = ("must end with a digest or a tag", f"{_DIGEST} != '' || {_TAIL} != ''")
DIGEST: Final = ("must end with a digest", f"{_DIGEST} != ''")
TAG_LENGTH: Final = (
    "tag is invalid. the tag must not be more than 127 characters",
    f"{_DIGEST} != '' || {_TAIL}.size() <= 128",
)
TAG: Final = (
    (
        'tag is invalid. valid tags must begin with a word character (alphanumeric + "_") followed by word characters '
        'or ".", and "-" characters'
    ),
    rf"{_DIGEST} != '' || {_TAIL} == '' || {_TAIL}.matches(r':[\w][\w.-]*$')",
)
ALGORITHM: Final = (
    (
        "digest algorithm is not valid. valid algorithms must start with an uppercase or lowercase alpha character "
        'followed by alphanumeric characters and may contain the "-", "_", "+", and "." characters.'
    ),
    f"{_DIGEST} == '' || {_DIGEST}.matches('@[A-Za-z][A-Za-z0-9]*([-_+.][A-Za-z][A-Za-z0-9]*)*[:]')",
)
DIGEST_LENGTH: Final = (
    "digest is not valid. the encoded string must be at least 32 characters",
    f"{_DIGEST} == '' || {_TAIL}.size() > 32",
)
HEX: Final = (
    "digest is not valid. the encoded string must only contain hex characters (A-F, a-f, 0-9)",
    f"{_DIGEST} == '' || {_TAIL}.matches(':[0-9A-Fa-f]*$')",
)
DIGEST_RULES: Final = (ALGORITHM, DIGEST_LENGTH, HEX)
URL: Final = ("must be a valid URL", "isURL(self)")
HTTP: Final = (
    "scheme must be either http or https",
    "!isURL(self) || url(self).getScheme() in ['http', 'https']",
)


def immutable(field: str) -> tuple[str, str]:
    """The field never changes."""
    return f"{field} is immutable", "self == oldSelf"


def set_once(field: str) -> tuple[str, str]:
    """The list never changes, once it has items."""
    return f"{field} is immutable", "self == oldSelf || oldSelf.size() == 0"


def label(message: str) -> tuple[str, str]:
    """The text is a DNS label."""
    return message, f"self.matches('^{_DNS}$')"


def subdomain(message: str) -> tuple[str, str]:
    """The text is a DNS subdomain."""
    return message, rf"self.matches(r'^{_DNS}(\.{_DNS})*$')"


def subdomain_of(field: str) -> tuple[str, str]:
    """The text is a DNS subdomain, said at length."""
    return subdomain(
        f"{field} must be a valid DNS1123 subdomain. It must contain only lowercase alphanumeric characters, hyphens "
        "(-) or periods (.), start and end with an alphanumeric character, and be no longer than 253 characters"
    )


def union(field: str, name: str, key: str = "type", *, of: str = "") -> tuple[str, str]:
    """The member of a union is there when its type names it, and only then; `of` says whose type that is."""
    return f"{field} is required when {of}{key} is {name}, and forbidden otherwise", (
        f"has(self.{key}) && self.{key} == '{name}' ? has(self.{field}) : !has(self.{field})"
    )


def some_of(field: str, parent: str) -> tuple[str, str]:
    """An object has its only field."""
    return f"at least one of [{field}] are required when {parent} is specified", f"has(self.{field})"
