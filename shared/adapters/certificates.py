"""Whether the certificates of registries are verified: options of some verbs turn that off."""

from __future__ import annotations

from contextvars import ContextVar
from typing import Final

ARE_IGNORED: Final[ContextVar[bool]] = ContextVar("are_ignored", default=False)
"""If true, a registry may also use plain HTTP."""
