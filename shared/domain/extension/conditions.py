"""A condition of an object of OLM v1 as a value: which type, how it stands and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

Status: TypeAlias = Literal["True", "False", "Unknown"]


@dataclass(frozen=True, slots=True)
class Condition:
    """One condition, without its times and generation, which whoever writes it knows."""

    type: str
    status: Status
    reason: str = ""
    message: str = ""
