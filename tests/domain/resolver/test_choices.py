"""Why this version, and which way from a version: each newer one is told with the rule that removed it."""

from __future__ import annotations

import dataclasses

import pytest

from shared.domain.resolver.explain.choices import choices
from shared.domain.resolver.explain.hops import Hop, upgrade_path
from shared.domain.resolver.model import Inputs
from shared.domain.resolver.resolve import resolve
from tests.domain.resolver.scenery import (
    DEPRECATED,
    bundle,
    catalog,
    channel,
    constraint,
    csv,
    entry,
    gives,
    needs,
    needs_package,
    package,
    releases,
    seen,
    sub,
)

A3 = releases("a", 3)
INSTALLED = sub("a", installed="a.v1")
V1 = csv("a.v1")
SKIPS = [entry("a.v3", "a.v1", skips=["a.v2"]), entry("a.v2", "a.v1"), entry("a.v1")]


def passed(inputs: Inputs, name: str = "a") -> dict[str, str]:
    """Each newer version and the rule that removed it."""
    found = choices(inputs, resolve(inputs))
    return {each.name: each.code for one in found if one.subscriber == name for each in one.newer}


@pytest.mark.parametrize(
    ("inputs", "want"),
    [
        pytest.param(seen(catalog(A3), subs=[sub("a")]), {}, id="the newest is taken"),
        pytest.param(
            seen(catalog(A3), subs=[INSTALLED], csvs=[V1]), {"a.v3": "NoEdge"}, id="resolver.md 5.5: one hop at a time"
        ),
        pytest.param(
            seen(catalog([*A3, channel("a", "beta", entry("a.v9")), bundle("a", "a.v9")]), subs=[sub("a")]),
            {"a.v9": "OtherChannel"},
            id="resolver.md 5.2: another channel",
        ),
        pytest.param(
            seen(catalog(A3), subs=[sub("a", starting="a.v2")]),
            {"a.v3": "StartingCSV"},
            id="resolver.md 5.2: startingCSV",
        ),
        pytest.param(
            seen(catalog(package("a", [entry("a.v1", skips=["a.v2"]), entry("a.v2")])), subs=[sub("a")]),
            {"a.v2": "Skipped"},
            id="resolver.md 5.4: skipped",
        ),
        pytest.param(
            seen(catalog(package("a", [entry("a.v1", skips=["a.v0"]), entry("a.v0", "a.v2"), entry("a.v2", "a.v3")])),
                 subs=[sub("a")]),
            {"a.v2": "NotOnChain"},
            id="resolver.md 5.4: nothing leads there",
        ),
        pytest.param(
            seen(catalog(releases("a", 3, v3=[DEPRECATED])), subs=[sub("a")]),
            {"a.v3": "Deprecated"},
            id="resolver.md 7.2: deprecated",
        ),
        pytest.param(
            seen(catalog(releases("a", 3, v3=[needs("K")])), subs=[sub("a")]),
            {"a.v3": "NoProvider"},
            id="resolver.md 5.5: the head is infeasible",
        ),
        pytest.param(
            seen(catalog(releases("a", 3, v2=[needs("K")], v3=[needs("L")])), subs=[sub("a")]),
            {"a.v3": "NoProvider", "a.v2": "NoProvider"},
            id="resolver.md 5.5: two are infeasible",
        ),
        pytest.param(
            seen(catalog(releases("a", 2, v2=[constraint(unknown={})])), subs=[sub("a")], whole=False),
            {"a.v2": "Flawed"},
            id="resolver.md 13 B7: the head is flawed",
        ),
        pytest.param(
            seen(catalog(package("a", [entry("a.v1", "a.v2"), entry("a.v2")])), subs=[sub("a")]),
            {"a.v2": "Preferred"},
            id="resolver.md 6.3: the graph decides, not the version",
        ),
        pytest.param(
            seen(catalog(package("a", [entry("a.v2", skip_range="<0.5.0", skips=["a.v1.5", "a.v0"])])),
                 subs=[INSTALLED], csvs=[V1]),
            {},
            id="what is installed is not offered, so nothing is newer than it",
        ),
        pytest.param(seen(subs=[INSTALLED], csvs=[V1], operatorGroups=[]), {}, id="nothing is decided"),
    ],
)  # fmt: skip
def test_each_newer_version_has_the_rule_that_removed_it(inputs: Inputs, want: dict[str, str]) -> None:
    assert passed(inputs) == want


def test_what_an_unfinished_plan_installs_is_not_passed_over() -> None:
    inputs = seen(catalog(releases("a", 3)), subs=[INSTALLED], csvs=[V1], whole=False)
    [one] = inputs.subscribers
    waiting = dataclasses.replace(one, waits="InstallPlan p is under way", planned_csv="a.v2")
    assert passed(dataclasses.replace(inputs, subscribers=(waiting,))) == {"a.v3": "NoEdge"}


@pytest.mark.parametrize(
    ("installed", "starting"),
    [
        pytest.param("a.v1", "", id="a newer one was published that updates what is installed"),
        pytest.param("", "a.v9", id="startingCSV was changed while the plan waits"),
    ],
)
def test_while_a_plan_is_under_way_what_is_newer_is_looked_at_after_it(installed: str, starting: str) -> None:
    entries = [entry("a.v3", "a.v2", skips=["a.v1"]), entry("a.v2", "a.v1"), entry("a.v1")]
    subscription = sub("a", installed=installed, starting=starting)
    inputs = seen(catalog(package("a", entries)), subs=[subscription], csvs=[V1] * bool(installed), whole=False)
    [one] = inputs.subscribers
    waiting = dataclasses.replace(one, waits="InstallPlan p is under way", planned_csv="a.v2")
    inputs = dataclasses.replace(inputs, subscribers=(waiting,))
    [found] = choices(inputs, resolve(inputs))
    [newer] = found.newer
    sentence = "a plan for a.v2 is under way; newer ones are looked at after it"
    assert (newer.name, newer.code, newer.sentence) == ("a.v3", "AfterPlan", sentence)


def test_versions_with_the_id_of_another_are_not_asked_about() -> None:
    """resolver.md 13 B10: in namespace mode, a bundle name that two packages have is one variable."""
    shared = [entry("x.v9", "a.v1"), entry("a.v1")], [entry("x.v9", "b.v1"), entry("b.v1")]
    here = catalog(package("a", shared[0], v9=[needs("K")]), package("b", shared[1], v9=[needs("K")]))
    inputs = seen(here, subs=[sub("a"), sub("b")])
    assert [passed(inputs, name) for name in "ab"] == [{"x.v9": "Preferred"}, {"x.v9": "NoProvider"}]


def test_what_an_earlier_subscription_got_leaves_no_room() -> None:
    """resolver.md 8.4: the order of Subscriptions decides."""
    here = catalog(
        releases("a", 2, v2=[gives("K")]),
        releases("b", 2, v2=[gives("K")]),
        releases("c", 1),
    )
    inputs = seen(here, subs=[sub("a"), sub("b"), sub("c")])
    assert passed(inputs, "a") == {}
    assert passed(inputs, "b") == {"b.v2": "OneProvider"}
    assert passed(inputs, "c") == {}


def test_the_edges_of_what_does_not_update_are_reported() -> None:
    here = catalog(package("a", [
        entry("a.v4", "a.v3", skips=["a.v2"], skip_range=">=2.0.0 <4.0.0"), entry("a.v3", "a.v1"), entry("a.v1"),
    ]))  # fmt: skip
    inputs = seen(here, subs=[INSTALLED], csvs=[V1])
    [one] = choices(inputs, resolve(inputs))
    assert (one.installed, one.gets) == ("a.v1", "a.v3")
    sentence = "does not update a.v1: it replaces a.v3 and skips a.v2 and skips versions >=2.0.0 <4.0.0"
    assert [each.sentence for each in one.newer] == [sentence]
    here = catalog([*releases("a", 1), channel("a", "beta", entry("a.v2")), bundle("a", "a.v2")])
    inputs = seen(here, subs=[sub("a", channel="", installed="a.v1")], csvs=[V1])
    assert [each.sentence for each in choices(inputs, resolve(inputs))[0].newer] == [
        "does not update a.v1: it replaces nothing"
    ]


def test_two_versions_of_one_name_are_nothing_to_choose_from() -> None:
    """resolver.md 5.1."""
    inputs = seen(catalog(A3), subs=[INSTALLED], csvs=[V1, V1])
    assert choices(inputs, resolve(inputs)) == ()
    changed = dataclasses.replace(inputs, is_whole=False)
    assert "multiple name matches" in resolve(changed).reasons["a"]


def test_the_way_is_reported_hop_by_hop() -> None:
    """resolver.md 12 row 201."""
    here = catalog(
        package("a", [
            entry("a.v5", "a.v4", skip_range=">=3.0.0 <5.0.0"), entry("a.v4", "a.v3"), entry("a.v3", "a.v2"),
            entry("a.v2", "a.v0", skips=["a.v1"]), entry("a.v1"),
        ], v2=[needs_package("b", "<2.0.0")], v3=[needs_package("b", "2.0.0")]),
        releases("b", 2),
    )  # fmt: skip
    found = upgrade_path(seen(here, subs=[INSTALLED], csvs=[V1], whole=False))
    assert found.hops == (
        Hop("a.v1", "a.v2", "stable", "skips a.v1", ("b.v1",)),
        Hop("a.v2", "a.v3", "stable", "replaces a.v2", ("b.v2",)),
        Hop("a.v3", "a.v5", "stable", "skips versions >=3.0.0 <5.0.0", ()),
    )
    assert found.end is not None
    assert found.end.newer == ()
    assert found.findings == ()
