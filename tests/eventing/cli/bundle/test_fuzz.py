"""Five thousand broken bundles: each gets an answer in bounded time, never an exception that nobody expects."""

from __future__ import annotations

from contextlib import suppress
from typing import Final

import pytest

from shared.domain.authoring.bundles.install import Installation, Target, install_steps
from shared.domain.authoring.bundles.render import blob, csv_metadata
from shared.domain.authoring.validation import OPTIONAL, Subject, validate
from shared.domain.bundle.model import ParsedBundle
from shared.domain.bundle.parse import parse_documents
from shared.domain.go_types.engine import MisfitError
from tests.eventing.cli.bundle.mutations import broken
from tests.kit.waiting import costing_at_most

SEEDS: Final = (327, 817, 984, 1651)
"""Bundles that once brought something down: metadata that is no object."""
ROUND: Final = 500
SECONDS: Final = 120.0
"""Of the processor, for all bundles of a round, which need one."""


def answered(seed: int) -> None:
    """The bundle of a seed is looked at in every way."""
    subject = Subject(broken(seed), "here")
    installation = install_steps(subject.manifests, Target("ns"), "here")
    assert isinstance(installation, Installation) or installation.message.startswith("here: ")
    parsed = parse_documents(subject.manifests, subject.metadata, "here", is_complete=True)
    if isinstance(parsed, ParsedBundle):
        assert blob(parsed)["schema"] == "olm.bundle"
        with suppress(MisfitError):  # which says what is wrong, and where
            csv_metadata(parsed.csv)
    else:
        assert parsed.message.startswith("here: ")
    assert all(str(one) for one in validate(subject, OPTIONAL))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_bundle_that_once_brought_something_down(seed: int) -> None:
    with costing_at_most(SECONDS):
        answered(seed)


@pytest.mark.parametrize("start", range(0, 5_000, ROUND), ids=lambda start: f"seeds from {start}")
def test_a_broken_bundle_is_answered(start: int) -> None:
    with costing_at_most(SECONDS):
        for seed in range(start, start + ROUND):
            answered(seed)
