"""Explains an answer: the facts of a conflict with fixes, and why newer versions are not taken."""

from shared.domain.resolver.explain.choices import Choice, Passed, choices
from shared.domain.resolver.explain.findings import Fact, Finding, Fix, as_json, conflict_of, explained, fixes_of
from shared.domain.resolver.explain.fixes import explain

__all__ = [
    "Choice", "Fact", "Finding", "Fix", "Passed", "as_json", "choices", "conflict_of", "explain", "explained",
    "fixes_of",
]  # fmt: skip
