"""Whether certificates of registries count: whoever runs a verb may say that they do not."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

ARE_IGNORED: Final[ContextVar[bool]] = ContextVar("are_ignored", default=False)
"""Then a registry may also speak plain HTTP."""
