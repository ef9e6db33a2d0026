"""Steps of which there is one, that a test gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from eventing.runner.steps import Step, Steps, step_of


@dataclass
class OneStep(Steps):
    """Whatever step is asked for, it is this one."""

    call: Any  # why: any function that can be a step
    asked: list[str] = field(default_factory=list)

    def __getitem__(self, name: str) -> Step:
        self.asked.append(name)
        return step_of(name, self.call, "0")
