"""The syntax of names, labels and label values in Kubernetes, with its error messages."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Syntax:
    """One kind of text, with the error messages of `k8s.io/apimachinery/pkg/util/validation`."""

    pattern: re.Pattern[str]
    longest: int
    """The maximum length, in bytes."""
    rule: str
    """The message of the API server for a text that does not match."""

    def fits(self, text: str) -> bool:
        """Whether a text matches the pattern, regardless of its length."""
        return self.pattern.fullmatch(text) is not None

    def problems(self, text: str) -> list[str]:
        """The error messages for a text: about its length, about its pattern."""
        size = len(text.encode(errors="surrogatepass"))
        found = [f"must be no more than {self.longest} bytes"] if size > self.longest else []
        return found if self.fits(text) else [*found, self.rule]


def _syntax(pattern: str, longest: int, demand: str, *examples: str) -> Syntax:
    listed = ",  or ".join(f"'{example}'" for example in examples)
    return Syntax(re.compile(pattern), longest, f"{demand} (e.g. {listed}, regex used for validation is '{pattern}')")


_ENDS: Final = "and must start and end with an alphanumeric character"
_LABEL: Final = "[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_NAME: Final = "([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]"

LABEL: Final = _syntax(
    _LABEL, 63,
    f"a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', {_ENDS}",
    "my-name", "123-abc",
)  # fmt: skip
"""The name of a Namespace, for example (RFC 1123 label)."""
SUBDOMAIN: Final = _syntax(
    rf"{_LABEL}(\.{_LABEL})*", 253,
    f"a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', {_ENDS}",
    "example.com",
)  # fmt: skip
"""The name of most objects (RFC 1123 subdomain)."""
LABEL_1035: Final = _syntax(
    "[a-z]([-a-z0-9]*[a-z0-9])?", 63,
    "a DNS-1035 label must consist of lower case alphanumeric characters or '-', start with an alphabetic character, "
    "and end with an alphanumeric character",
    "my-name", "abc-123",
)  # fmt: skip
"""The name of a Service, for example (RFC 1035 label)."""
LABEL_VALUE: Final = _syntax(
    f"({_NAME})?", 63,
    f"a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', {_ENDS}",
    "MyValue", "my_value", "12345",
)  # fmt: skip
QUALIFIED_NAME: Final = _syntax(
    _NAME, 63, f"must consist of alphanumeric characters, '-', '_' or '.', {_ENDS}", "MyName", "my.name", "123-abc"
)
"""The part after the slash in the key of a label or an annotation."""
