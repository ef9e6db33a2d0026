"""One line of the table that `make bench` prints."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Row:
    """A measurement beside its budget (rule of thumb: `≤` unless the unit says "at least")."""

    name: str
    measured: float
    budget: float
    unit: str = ""
    is_at_least: bool = False
    """The budget is a floor, not a ceiling."""

    @property
    def is_kept(self) -> bool:
        """Whether the measurement is within its budget."""
        return self.measured >= self.budget if self.is_at_least else self.measured <= self.budget

    def __str__(self) -> str:
        sign = "≥" if self.is_at_least else "≤"
        result = "ok" if self.is_kept else "OVER BUDGET"
        return f"{self.name:<60} {self.measured:>10,.2f} {sign} {self.budget:>9,.2f} {self.unit:<8} {result}"
