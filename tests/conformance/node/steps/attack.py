"""A tenant attacks while another installs."""

from __future__ import annotations

from tests.conformance.attacks.processes import restarted
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
        f"{facts.written.created} objects written, {facts.written.count - facts.written.created} refused; gained: "
        f"nothing; no pod restarted; the neighbour's install took {facts.paced.times(facts.quiet)}, and as many as the "
        f"API server takes {facts.busy.times(facts.quiet)}; a deleted Deployment was back "
        f"after {facts.healing_seconds:.1f} s; nothing is left"
    )


def faults_of(facts: Facts) -> list[str]:
    """What must not be."""
    found = {
        "gained": facts.gained, "a right that was given is not seen": facts.unseen,
        "installed by a forged plan": facts.installed_by_forgery, "served a catalog of others": facts.stolen,
        "dead letters": facts.dead, "left": facts.left, "not ready": facts.unhealthy, "did not end": facts.failures,
        "restarted": restarted(facts.pids_before, facts.pids_after),
    }  # fmt: skip
    return [f"{what}: {each[0]}, {len(each)} in all" for what, each in found.items() if each]
