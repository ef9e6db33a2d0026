"""Why an extension gets its bundle, as sentences."""

from __future__ import annotations

import pytest

from shared.domain.extension.model import Bundle, Installed, Request, Resolution, Step
from shared.domain.extension.trace import sentences

MANY = tuple(f"p.v{number}" for number in range(9, 1, -1))


@pytest.mark.parametrize(
    ("step", "want"),
    [
        (Step("c", "package", 2), "Catalog c has 2 bundles of package p."),
        (Step("c", "package", 0), "Catalog c has no bundles of package p."),
        (Step("c", "channel", 1, ("p.v3",)), "1 bundle is in the channels a, b; not p.v3."),
        (
            Step("c", "version", 0, MANY),
            "No bundles are of a version in '<1'; not p.v9, p.v8, p.v7, p.v6, p.v5 and 3 more.",
        ),
        (
            Step("c", "channel", 0, there=("b", "d")),
            "No bundles are in the channels a, b (catalog c has no a, but b, d).",
        ),
        (Step("c", "availability", 0), "Catalog c is not asked: its availabilityMode is Unavailable."),
        (
            Step("c", "selector", 0, there=("x=1", "y=2")),
            "Catalog c is not asked: the selector wants other labels than x=1, y=2.",
        ),
        (Step("c", "selector", 0), "Catalog c is not asked: the selector wants other labels than none."),
        (Step("c", "successor", 2), "2 bundles are reached from p.v1, or it itself."),
        (
            Step("c", "best", 1, ("p.v1",)),
            "The highest version is taken, and a deprecated one only if there is no other; not p.v1.",
        ),
        (
            Step("c", "priority", 1, ("d",)),
            "Of all catalogs that are left, c has the highest priority; not d.",
        ),
    ],
    ids=lambda value: value.rule if isinstance(value, Step) else None,
)
def test_each_rule_has_a_sentence(step: Step, want: str) -> None:
    request = Request("p", "<1", ("a", "b"))
    assert sentences(Resolution((step,), error="oh"), request, Installed("p.v1", "1.0.0"))[0] == want


def test_the_last_sentence_is_the_verdict() -> None:
    bundle = Bundle("p.v1", "", (), None)
    assert sentences(Resolution((), bundle, "c"), Request("p"), None) == ("So p.v1 of catalog c is the one.",)
    assert sentences(Resolution((), error="none"), Request("p"), None) == ("Nothing can be installed: none.",)


@pytest.mark.parametrize(
    ("trace", "want"),
    [
        pytest.param((Step("c", "package", 4), Step("c", "channel", 0), Step("c", "successor", 0)),
                     "; the rule 'channel' leaves nothing of c", id="the first rule"),
        pytest.param((Step("a", "selector", 0), Step("b", "package", 0), Step("c", "selector", 0)),
                     "; the rule 'selector' leaves nothing of a, c; the rule 'package' leaves nothing of b",
                     id="several"),
        pytest.param((), "", id="no catalogs"),
        pytest.param((Step("c", "package", 4), Step("c", "best", 1)), "", id="catalogs with the same priority"),
    ],
)  # fmt: skip
def test_the_verdict_names_the_rule_that_left_nothing(trace: tuple[Step, ...], want: str) -> None:
    error = 'no bundles found for package "p"'
    resolution = Resolution(trace, error=error, is_exhausted=not any(step.rule == "best" for step in trace))
    assert sentences(resolution, Request("p"), None)[-1] == f"Nothing can be installed: {error}{want}."


def test_one_channel_is_no_plural() -> None:
    resolution = Resolution((Step("c", "channel", 1), Step("c", "successor", 1)), error="oh")
    in_channel, reached, _ = sentences(resolution, Request("p", channels=("a",)), None)
    assert in_channel == "1 bundle is in the channel a."
    assert reached == "1 bundle is reached from nothing, or it itself."
