"""Runs one step for one claim: provides its ports, performs its Outcome, and records everything."""

from __future__ import annotations

from eventing.runner.run import Runner
from eventing.runner.steps import Steps, UnknownStep

__all__ = ["Runner", "Steps", "UnknownStep"]
