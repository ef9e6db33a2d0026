"""The words of InstallPlans that several rules know."""

from __future__ import annotations

from typing import Final

CRD_SAFE: Final = "CRDUpgradeSafe"
"""The condition that says what its definitions do to what is stored; OLM has none."""
FINISHED = ("Present", "Created")
