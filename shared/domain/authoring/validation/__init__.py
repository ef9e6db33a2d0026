"""Validates a bundle: the rules of `opm`, and the optional rules of `operator-framework/api` (fbc.md §11)."""

from __future__ import annotations

from shared.domain.authoring.validation.check import MULTIARCH, OPTIONAL, errors_in_one_line, validate
from shared.domain.authoring.validation.finding import Finding
from shared.domain.authoring.validation.multiarch import inspected_images
from shared.domain.authoring.validation.subject import Options, Subject

__all__ = [
    "MULTIARCH",
    "OPTIONAL",
    "Finding",
    "Options",
    "Subject",
    "errors_in_one_line",
    "inspected_images",
    "validate",
]
