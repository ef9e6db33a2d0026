"""A tenant writes hostile text into every field that it may write, thousands of times, while another installs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conformance.attacks.gains import gained
from tests.conformance.attacks.known import ATTACKS
from tests.conformance.attacks.registry import hostile_registry
from tests.conformance.attacks.scenario import OBJECTS, Facts, run
from tests.conformance.http import Api
from tests.conformance.targets import REAL, SANDBOX, running
from tests.kit.installation import SAMPLES
from tests.kit.waiting import PATIENCE_SECONDS

pytestmark = pytest.mark.conformance
RecordProperty = Callable[[str, object], None]
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


def test_thousands_of_objects_with_hostile_text(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", f"{facts.written} written, {facts.refused} refused by the API server")
    assert facts.written + facts.refused == OBJECTS
    assert facts.written > OBJECTS / 4


def test_every_known_attack(facts: Facts, record_property: RecordProperty) -> None:
    tried = "; ".join(attack.__name__.replace("_", " ") for attack in ATTACKS[1:])
    record_property("result", f"tried: {tried}")
    assert not facts.failures, "\n".join(facts.failures)


def test_permissions_that_were_gained(facts: Facts, record_property: RecordProperty) -> None:
    found = gained(facts.before, facts.after)
    record_property("result", f"nothing, of {len(facts.after.roles)} roles and bindings" if not found else found[0])
    assert not found, "\n".join(found)


def test_plans_carried_out_that_the_tenant_forged(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "none")
    assert not facts.installed_by_forgery


def test_requests_that_reached_an_inner_address(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "none")
    assert not facts.reached


def test_processes_that_were_restarted(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", f"none of {sum(map(len, facts.pids_after.values()))}")
    assert facts.pids_after == facts.pids_before
    assert not facts.unhealthy


def test_dead_letters_of_others(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "none")
    assert not facts.dead


def test_the_install_of_the_neighbour(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", f"{facts.busy.times(facts.quiet)}; the aim is 2 times; {facts.rate:.0f} objects a second")
    assert 0 < facts.busy.install <= PATIENCE_SECONDS, "no test fails because a machine is slow: the ratio is reported"


def test_a_deployment_of_the_neighbour_that_is_deleted_meanwhile(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", f"is back after {facts.healing_seconds:.1f} s")
    assert 0 < facts.healing_seconds <= PATIENCE_SECONDS


def test_what_is_left_when_the_tenant_is_gone(facts: Facts, record_property: RecordProperty) -> None:
    record_property("result", "nothing")
    assert not facts.left
