"""Why a namespace gets what it gets, and what would help: `explain(Inputs) -> findings`."""

from shared.domain.resolver.explain.choices import Choice, Passed, choices
from shared.domain.resolver.explain.findings import Fact, Finding, Fix, as_json, conflict_of, explained, fixes_of
from shared.domain.resolver.explain.fixes import explain

__all__ = [
    "Choice", "Fact", "Finding", "Fix", "Passed", "as_json", "choices", "conflict_of", "explain", "explained",
    "fixes_of",
]  # fmt: skip
