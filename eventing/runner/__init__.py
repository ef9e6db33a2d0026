"""Runs one step for one claim: ports in, Outcome performed, everything recorded."""

from __future__ import annotations

from eventing.runner.run import Runner
from eventing.runner.steps import Steps, UnknownStep

__all__ = ["Runner", "Steps", "UnknownStep"]
