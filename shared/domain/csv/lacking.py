"""Says what a ClusterServiceVersion lacks, from its status."""

from __future__ import annotations

from shared.api.views import Csv, Requirement

_MET = {"Present", "DeploymentFound", "Satisfied"}


def lacking(csv: Csv) -> str:
    """The unmet requirements with their messages; without any, the message of the phase."""
    unmet = [each for each in csv.requirements if each.status not in _MET]
    message = "; ".join(f"{each.kind} {each.name}: {each.message or each.status}{_rules(each)}" for each in unmet)
    return message or csv.message


def _rules(requirement: Requirement) -> str:
    """The rights that a ServiceAccount lacks: the first of them, and how many more."""
    lacked = [each.message for each in requirement.dependents if each.status == "NotSatisfied"]
    more = f" and {len(lacked) - 1} more" if len(lacked) > 1 else ""
    return f" ({lacked[0]}{more})" if lacked else ""
