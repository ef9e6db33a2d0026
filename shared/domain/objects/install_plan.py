"""The words of InstallPlans that several rules know."""

from __future__ import annotations

FINISHED = ("Present", "Created")
