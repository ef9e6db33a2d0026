"""All validators, by the names under which they are chosen (fbc.md §11)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final, TypeAlias

from shared.domain.authoring.validation.community import community
from shared.domain.authoring.validation.content import content
from shared.domain.authoring.validation.finding import Finding
from shared.domain.authoring.validation.form import form
from shared.domain.authoring.validation.harmful import harmful
from shared.domain.authoring.validation.multiarch import multiarch
from shared.domain.authoring.validation.operatorhub import capabilities, categories, operatorhub, operatorhub_old
from shared.domain.authoring.validation.practices import practices
from shared.domain.authoring.validation.removed_apis import removed_apis
from shared.domain.authoring.validation.spelling import operator_groups
from shared.domain.authoring.validation.subject import Subject
from shared.domain.authoring.validation.whole import whole

_Validator: TypeAlias = Callable[[Subject], Iterator[Finding]]

MULTIARCH: Final = "multiarch"
"""The validator that needs the platforms of images (`Options.platforms`)."""

OPTIONAL: Final[Mapping[str, _Validator]] = {
    "bundle": whole,
    "operatorhub": operatorhub_old,
    "operatorhubv2": operatorhub,
    "standardcapabilities": capabilities,
    "standardcategories": categories,
    "bundle-objects": harmful,
    "operatorgroup": operator_groups,
    "community": community,
    "alpha-deprecated-apis": removed_apis,
    "good-practices": practices,
    MULTIARCH: multiarch,
}
"""Validators beyond those of `opm`, in the order of their findings."""


def validate(subject: Subject, optional: Iterable[str] = ()) -> tuple[Finding, ...]:
    """All findings about a bundle; its content is checked only when its form has no errors.

    Names of optional validators that are not known are passed over, as by `opm`.
    """
    found = tuple(form(subject))
    if any(one.is_error for one in found):
        return found
    chosen = set(optional)
    more = (one for name, validator in OPTIONAL.items() if name in chosen for one in _placed(subject, validator))
    return tuple(dict.fromkeys((*found, *content(subject), *more)))


def _placed(subject: Subject, validator: _Validator) -> Iterator[Finding]:
    return (one.at(subject.csv_path) for one in validator(subject))


def errors_in_one_line(findings: Iterable[Finding]) -> str:
    """The errors in one line, as `opm` prints them; empty when there are none."""
    errors = [str(one) for one in findings if one.is_error]
    return f"Bundle validation errors: {','.join(errors)}" if errors else ""
