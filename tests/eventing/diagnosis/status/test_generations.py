"""A package that both generations run: each is told of the other one, and what ends it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from eventing.cli.status_text import message_of
from eventing.diagnosis.status.generations import move, with_conflicts
from eventing.diagnosis.status.package_status import Code, PackageStatus


def a_status(**fields: Any) -> PackageStatus:
    given = {"namespace": "ns", "package": "tide", "installed": "", "version": "tide.v1", "phase": "Succeeded"}
    return PackageStatus(**{"subscription": "", **given, **fields})


SUBSCRIPTION = a_status(subscription="s")
VERSION = a_status()
EXTENSION = a_status(extension="tide", namespace="other", phase="Retrying", message="collisions")


@pytest.mark.parametrize(
    ("one", "other", "want"),
    [
        pytest.param(
            SUBSCRIPTION, EXTENSION,
            "ClusterExtension tide runs tide, too, so that two owners want the same objects; "
            "fix: take ClusterExtension tide away: `olmf extension uninstall tide`; "
            "fix: take Subscription ns/s away: `olmf uninstall tide -n ns`",
            id="of a Subscription that works",
        ),
        pytest.param(
            EXTENSION, VERSION,
            "ClusterServiceVersion ns/tide.v1 runs tide, too, so that two owners want the same objects; collisions; "
            "fix: take ClusterServiceVersion ns/tide.v1 away: `olmf uninstall tide -n ns`; "
            "fix: take ClusterExtension tide away: `olmf extension uninstall tide`",
            id="of an extension, beside a version without Subscription",
        ),
    ],
)  # fmt: skip
def test_each_is_told_of_the_other(one: PackageStatus, other: PackageStatus, want: str) -> None:
    [found] = with_conflicts([one], [other])
    assert (found.code, message_of(found)) == (Code.DOUBLED, want)


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(a_status(extension="x", package="wave"), id="another package"),
        pytest.param(VERSION, id="the same generation"),
    ],
)
def test_nothing_is_told_of_others(other: PackageStatus) -> None:
    assert with_conflicts([SUBSCRIPTION], [other]) == [SUBSCRIPTION]
    assert with_conflicts([a_status(package="")], [a_status(package="", extension="x")])[0].code is Code.INSTALLED


NOTHING_YET = a_status(extension="wish", version="", phase="Retrying", message="no bundles found for tide 9.x")
NO_GROUP = a_status(subscription="s", namespace="nogrp", version="", phase="ResolutionFailed", message="no group")


def test_what_has_no_objects_is_in_nobodys_way() -> None:
    assert with_conflicts([SUBSCRIPTION], [NOTHING_YET]) == [SUBSCRIPTION]
    assert with_conflicts([NOTHING_YET], [SUBSCRIPTION]) == [NOTHING_YET]
    [found] = with_conflicts([EXTENSION], [NO_GROUP, SUBSCRIPTION])
    assert found.message.startswith("Subscription ns/s runs tide, too, so that two owners")


def test_several_others_are_all_named() -> None:
    [found] = with_conflicts([EXTENSION], [SUBSCRIPTION, replace(SUBSCRIPTION, namespace="cfg")])
    assert found.message.startswith(
        "Subscription ns/s and Subscription cfg/s run tide, too, so that several owners want the same objects"
    )


def test_a_move_that_is_under_way_is_no_rivalry() -> None:
    assert with_conflicts([SUBSCRIPTION], [replace(EXTENSION, moves="ns/s")]) == [SUBSCRIPTION]
    assert with_conflicts([EXTENSION], [replace(SUBSCRIPTION, moves="tide")]) == [EXTENSION]
    assert with_conflicts([EXTENSION], [replace(SUBSCRIPTION, moves="another")])[0].code is Code.DOUBLED


def test_a_version_without_subscription_cannot_be_moved() -> None:
    assert move(VERSION) is None
