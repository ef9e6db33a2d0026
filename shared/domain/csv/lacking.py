"""Says what a ClusterServiceVersion lacks, from its status."""

from __future__ import annotations

from shared.api.manifest import ReadOnly

_MET = {"Present", "DeploymentFound", "Satisfied"}


def lacking(status: ReadOnly) -> str:
    """The unmet requirements with their messages; without any, the message of the phase."""
    unmet = [each for each in status.get("requirementStatus") or () if each.get("status") not in _MET]
    told = "; ".join(
        f"{each.get('kind')} {each.get('name')}: {each.get('message') or each['status']}{_rules(each)}"
        for each in unmet
    )
    return told or str(status.get("message") or "")


def _rules(requirement: ReadOnly) -> str:
    """The rights that a ServiceAccount lacks: the first of them, and how many more."""
    found = [each for each in requirement.get("dependents") or () if each.get("status") == "NotSatisfied"]
    lacked = [str(each.get("message") or "") for each in found]
    more = f" and {len(lacked) - 1} more" if len(lacked) > 1 else ""
    return f" ({lacked[0]}{more})" if lacked else ""
