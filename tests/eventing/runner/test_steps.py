"""Steps are found by name, and what is none is said."""

from __future__ import annotations

from typing import Any

import pytest

from eventing.runner import Steps, UnknownStep
from eventing.runner.steps import step_of
from shared.kinds import Ref
from shared.ports import Attempt, Cluster
from shared.step import NOTHING, Outcome

STEPS = Steps("tests.eventing.runner.tiny")


@pytest.mark.parametrize(
    ("name", "message"),
    [
        pytest.param("demo/nowhere", "there is no module tests.eventing.runner.tiny.demo.nowhere", id="no such file"),
        pytest.param("nobody/do_nothing", "there is no module tests.eventing.runner.tiny.nobody", id="no such group"),
        pytest.param("demo/no_function", "has no function no_function", id="a file without its function"),
    ],
)
def test_a_step_that_is_not_there_is_named(name: str, message: str) -> None:
    with pytest.raises(UnknownStep, match=message):
        STEPS[name]


def test_a_step_that_imports_what_is_not_there_is_a_bug_and_no_missing_step() -> None:
    with pytest.raises(ModuleNotFoundError, match="no_such_library"):
        STEPS["demo/import_nothing"]


def test_a_step_is_loaded_once_with_the_digest_of_its_file() -> None:
    step = STEPS["demo/do_nothing"]
    assert STEPS["demo/do_nothing"] is step
    assert step.code.partition("+")[2]


def test_a_step_reports_which_ports_it_names() -> None:
    def look(ref: Ref, cluster: Cluster) -> Outcome:
        return NOTHING

    step = step_of("demo/look", look, "1")
    assert (step.names(Cluster), step.names(Attempt)) == (True, False)


def test_the_first_parameter_of_a_step_is_a_ref() -> None:
    def wrong(cluster: Cluster) -> Outcome:
        return NOTHING

    call: Any = wrong
    with pytest.raises(UnknownStep, match="its first parameter is a Ref"):
        step_of("demo/wrong", call, "1")
