"""Validates a bundle: the rules of `opm`, and the optional rules of `operator-framework/api` (fbc.md §11)."""

from __future__ import annotations

from shared.domain.bundle.validation.check import MULTIARCH, OPTIONAL, said, validate
from shared.domain.bundle.validation.finding import Finding
from shared.domain.bundle.validation.multiarch import inspected_images
from shared.domain.bundle.validation.subject import Options, Subject

__all__ = ["MULTIARCH", "OPTIONAL", "Finding", "Options", "Subject", "inspected_images", "said", "validate"]
