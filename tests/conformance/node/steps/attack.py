"""A tenant attacks while another installs."""

from __future__ import annotations

from tests.conformance.attacks.gains import gained
from tests.conformance.attacks.registry import hostile_registry
from tests.conformance.attacks.scenario import Facts
from tests.conformance.attacks.scenario import run as attack
from tests.conformance.node.in_pods import InPods


def is_attacked(host: InPods) -> str:
    """The attack suite."""
    with hostile_registry() as registry:
        facts = attack(host, host.api, registry)
    faults = faults_of(facts)
    assert not faults, "; ".join(faults)
    return (
        f"{facts.written} objects written, {facts.refused} refused; gained: nothing; no pod restarted; the neighbour's "
        f"install took {facts.busy.times(facts.quiet)}; the aim is 2 times; a deleted Deployment was back "
        f"after {facts.healing_seconds:.1f} s; nothing is left"
    )


def faults_of(facts: Facts) -> list[str]:
    """What must not be."""
    found = {
        "gained": gained(facts.before, facts.after), "installed by a forged plan": facts.installed_by_forgery,
        "dead letters": facts.dead, "left": facts.left, "not ready": facts.unhealthy, "did not end": facts.failures,
        "restarted": [f"{facts.pids_before} {facts.pids_after}"] if facts.pids_before != facts.pids_after else [],
    }  # fmt: skip
    return [f"{what}: {each[0]}, {len(each)} in all" for what, each in found.items() if each]
