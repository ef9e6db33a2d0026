"""A lock tells whether the inputs and the answer are what they were."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.lock import InvalidLock, Lock, checked, differences, is_whole, lock_of
from shared.domain.resolver.model import Inputs
from shared.domain.resolver.resolve import resolve
from tests.domain.resolver.scenery import (
    catalog,
    csv,
    needs_package,
    releases,
    seen,
    sub,
)

CAT = catalog(releases("a", 2, v2=[needs_package("b", "1.0.0")]), releases("b", 1))
SUBS = [sub("a", installed="a.v1"), sub("b", version="1.0.0")]
BEFORE = seen(CAT, subs=SUBS, csvs=[csv("a.v1")], whole=False)


def locked(inputs: Inputs) -> Lock:
    """The lock as it comes back from a file."""
    return checked(json.loads(json.dumps(lock_of(inputs, resolve(inputs)))))


def against(inputs: Inputs) -> list[str]:
    """What a lock of `BEFORE` says of other inputs."""
    return list(differences(locked(BEFORE), lock_of(inputs, resolve(inputs))))


def test_the_same_request_has_the_same_lock_in_whatever_order_it_comes() -> None:
    turned = replace(
        BEFORE, subscribers=BEFORE.subscribers[::-1], installed=BEFORE.installed[::-1],
        catalogs=dict(reversed(list(BEFORE.catalogs.items()))),
    )  # fmt: skip
    assert json.dumps(lock_of(turned, resolve(turned))) == json.dumps(lock_of(BEFORE, resolve(BEFORE)))
    assert against(turned) == []


def test_a_lock_names_inputs_and_choices() -> None:
    lock: Any = locked(BEFORE)
    assert (lock["namespace"], lock["isolation"], is_whole(lock)) == ("ns", "component", False)
    assert list(lock["subscriptions"]) == ["a", "b"]
    assert list(lock["installed"]) == ["a.v1"]
    assert lock["catalogs"] == {"ns/cat": {"content": "as asked", "priority": 0}}
    chosen = lock["chosen"]["a.v2"]
    assert chosen.pop("digest").startswith("sha256:")
    assert chosen == {
        "package": "a", "channel": "stable", "catalog": "ns/cat", "replaces": "a.v1", "image": "a.v2",
        "subscriptions": ["a"],
    }  # fmt: skip


KEY = CatalogKey("ns", "cat")


@pytest.mark.parametrize(
    ("after", "want"),
    [
        pytest.param(
            seen(CAT, subs=[sub("a", installed="a.v1"), sub("b")], csvs=[csv("a.v1")], whole=False),
            ["Subscription b is not as it was"], id="an annotation is gone",
        ),
        pytest.param(
            seen(CAT, subs=[*SUBS, sub("c", hold="never")], csvs=[csv("a.v1")], whole=False),
            ["Subscription c is new"], id="a Subscription that changes no choice",
        ),
        pytest.param(
            seen(CAT, subs=SUBS[:1], csvs=[csv("a.v1")], whole=False),
            ["Subscription b is gone", "the choice b.v1 is not as it was: subscriptions none (locked: b)"],
            id="it is needed, but not asked for",
        ),
        pytest.param(
            seen(CAT, subs=SUBS, csvs=[csv("a.v1", version="1.0.1")], whole=False),
            ["ClusterServiceVersion a.v1 is not as it was"], id="what is installed has another version",
        ),
        pytest.param(
            replace(BEFORE, catalogs={KEY: replace(BEFORE.catalogs[KEY], reference="other")}),
            ["catalog ns/cat is not as it was: content other (locked: as asked)"], id="a catalog has other content",
        ),
        pytest.param(
            replace(BEFORE, catalogs={KEY: replace(BEFORE.catalogs[KEY], problem="it is sick")}),
            ["catalog ns/cat is not as it was: problem it is sick (locked: none)"], id="a catalog is stale",
        ),
        pytest.param(
            replace(BEFORE, copies={"z.v1": "far"}),
            ["OperatorGroups or copied ClusterServiceVersions are not as they were"], id="a copy came",
        ),
        pytest.param(
            replace(BEFORE, is_whole=True), ["the isolation is namespace, and component was locked"],
            id="another isolation",
        ),
    ],
)  # fmt: skip
def test_what_differs_is_reported_in_sentences(after: Inputs, want: list[str]) -> None:
    assert against(after) == want


def test_another_choice_is_reported_by_what_is_other_about_it() -> None:
    lock: Any = locked(BEFORE)
    lock["chosen"]["a.v2"] |= {"channel": "beta", "digest": "sha256:" + 64 * "0"}
    [sentence] = differences(lock, lock_of(BEFORE, resolve(BEFORE)))
    assert sentence.startswith("the choice a.v2 is not as it was: channel stable (locked: beta), digest sha256:")
    assert sentence.endswith(" (locked: sha256:000000000000)")


@pytest.mark.parametrize(
    ("value", "why"),
    [
        pytest.param([], "no lock of version 1", id="a list"),
        pytest.param({"version": 2}, "no lock of version 1", id="of a later program"),
        pytest.param(
            {"version": 1, "namespace": "ns", "isolation": "component", "chosen": {}, "catalogs": {}},
            "a lock without surroundings, subscriptions, installed", id="cut",
        ),
    ],
)  # fmt: skip
def test_what_is_no_lock_is_refused(value: object, why: str) -> None:
    with pytest.raises(InvalidLock, match=why):
        checked(value)
