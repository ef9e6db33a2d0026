"""Reads whether an admission policy of ours is in force."""

from __future__ import annotations

from datetime import datetime

from shared.api.manifest import Manifest
from shared.domain.authors.admission import AdmissionPolicy
from shared.ports import Accounts, Denied


def in_force(policy: AdmissionPolicy, probe: Manifest, accounts: Accounts) -> datetime | str:
    """Since when it is, or why it is not: it is read, and tried out with what it refuses."""
    rule, binding = (_stored(accounts.get(ref, None)) for ref in (policy.policy, policy.binding))
    refusal = accounts.refusal(probe, None)
    return policy.since(rule, binding, "" if refusal is None else refusal.message)


def _stored(answer: Manifest | Denied | None) -> Manifest | None:
    return None if isinstance(answer, Denied) else answer
