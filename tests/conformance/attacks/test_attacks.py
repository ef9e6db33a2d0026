"""A tenant writes hostile text into every field that it may write, thousands of times, while another installs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.attacks.fields import KINDS_OF_TENANTS, places
from tests.conformance.attacks.known import ATTACKS
from tests.conformance.attacks.neighbour import AT_MOST
from tests.conformance.attacks.processes import restarted
from tests.conformance.attacks.registry import hostile_registry
from tests.conformance.attacks.scenario import EXTRA, RATE, Facts, run
from tests.conformance.http import Api
from tests.conformance.targets import REAL, SANDBOX, running
from tests.kit.installation import SAMPLES
from tests.kit.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.conformance
RecordProperty = Callable[[str, object], None]
ANSWERED_500 = {"metadata.resourceVersion", "roleRef.kind"}
"""What Kubernetes refuses in words, and with this status."""
AUDITED = {"OLMF_AUDIT_SECONDS": "60"}
"""What the tenant leaves behind is deleted with the audit, which comes every five minutes otherwise."""


@pytest.fixture(scope="module", params=[SANDBOX, REAL])
def facts(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Facts]:
    """One attack on each target; every test looks at one side of it."""
    folder: Path = tmp_path_factory.mktemp(f"attacks-{request.param}")
    with (
        running(request.param, folder, "--bundles", str(SAMPLES), environ=AUDITED) as found,
        hostile_registry() as registry,
    ):
        api = Api.of(Path(found.status()["kubeconfig"]))
        yield run(found, api, registry)


def test_a_hostile_text_in_every_field_of_every_kind(facts: Facts, record_property: RecordProperty) -> None:
    """Tried is a place only when an object was sent for it; what the API server refused or dropped is no attack."""
    written, kinds = facts.written, {kind.kind for kind in KINDS_OF_TENANTS}
    kept = written.kept_by_kind()
    took = ", ".join(f"{kind} {kept[kind]} of {_places_of(kind)}" for kind in sorted(kinds))
    record_property("result", f"{len(written.kept)} of {len(places())} fields took one, the API server none in the "
                              f"others: {took}")  # fmt: skip
    assert written.tried == set(range(len(places())))
    assert kept.keys() == kinds
    assert not [str(place) for number, place in enumerate(places()) if place.is_free and number not in written.kept]


def _places_of(kind: str) -> int:
    return sum(place.kind.kind == kind for place in places())


def test_thousands_of_objects(facts: Facts, record_property: RecordProperty) -> None:
    written = facts.written
    refused = written.count - written.created
    record_property("result", f"{written.created} created, {refused} more refused by the API server")
    assert written.created > len(places()) / 2
    assert written.count >= len(places()) + EXTRA
    failed = {".".join(places()[number].path) for number in written.failed}
    assert failed <= ANSWERED_500, "at what tenants write no other field makes an API server fail"


def test_every_known_attack(facts: Facts, record_property: RecordProperty) -> None:
    """Each took place: what it needs was so, and the API server took what it wrote."""
    record_property("result", f"tried: {'; '.join(facts.tried)}")
    assert not facts.failures, "\n".join(facts.failures)
    assert len(facts.tried) == len(ATTACKS)
    vain = [name for name, statuses in facts.tried.items() if not statuses[201]]
    assert vain == ["writes what is not his"]


def test_permissions_that_were_gained(facts: Facts, record_property: RecordProperty) -> None:
    after, rules = facts.after, sum(map(len, facts.after.rules.values()))
    subjects = {subject for subject, _ in after.rules}
    what = f"{len(after.roles)} roles and bindings, {rules} rights of {len(subjects)} subjects, {after.asked} reviews"
    record_property("result", f"nothing, of {what}" if not facts.gained else facts.gained[0])
    assert not facts.gained, "\n".join(facts.gained)
    assert after.asked == facts.before.asked > 1000


def test_a_right_that_is_given_on_purpose_is_seen(facts: Facts, record_property: RecordProperty) -> None:
    """Else nothing gained would say nothing: bindings, aggregation, groups, the own namespace, paths."""
    record_property("result", "in each way")
    assert not facts.unseen, "\n".join(facts.unseen)


def test_plans_carried_out_that_the_tenant_forged(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "none")
    assert not facts.installed_by_forgery


def test_requests_that_reached_an_inner_address(facts: Facts, record_property: RecordProperty) -> None:
    """The registry that sends us there was asked."""
    record_property("result", "none")
    assert not facts.reached
    for name in ("redirect", "realm", "slow"):
        assert any(f"/{name}" in path for path in facts.asked), name


def test_catalogs_of_others_that_the_tenant_was_served(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "none")
    assert not facts.stolen


def test_processes_that_were_restarted(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", f"none of {sum(map(len, facts.pids_after.values()))}")
    assert not (again := restarted(facts.pids_before, facts.pids_after)), "\n".join([*again, *facts.ends])
    assert not facts.unhealthy


def test_dead_letters_of_others(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "none")
    assert not facts.dead


def test_the_install_of_the_neighbour(facts: Facts, record_property: RecordProperty) -> None:
    """At a pace at which the API server has time for both; what a plain client notices is not ours."""
    record_property("result", f"at {RATE:.0f} objects a second {facts.paced.times(facts.quiet)}")
    assert 0 < facts.paced.slower(facts.quiet) <= AT_MOST


def test_the_install_of_the_neighbour_while_the_api_server_is_full(
    facts: Facts, record_property: RecordProperty
) -> None:
    record_property("result", facts.busy.times(facts.quiet))
    assert 0 < facts.busy.install <= PATIENCE_SECONDS, "no test fails because a machine is slow: the ratio is reported"


def test_a_deployment_of_the_neighbour_that_is_deleted_meanwhile(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", f"is back after {facts.healing_seconds:.1f} s")
    assert 0 < facts.healing_seconds <= PATIENCE_SECONDS


def test_what_is_left_when_the_tenant_is_gone(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "nothing")
    assert not facts.left
