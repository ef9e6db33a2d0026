"""What makes a bundle invalid to OLM v1: all of it is said, one line each (v1.md §16.3)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Final, TypeAlias

from shared.api.manifest import name_of
from shared.domain.extension.render import webhook_validation as webhooks
from shared.domain.extension.render.additional import is_supported
from shared.domain.extension.render.model import Bundle, NotRenderedError
from shared.domain.go.text import quoted

Check: TypeAlias = Callable[[Bundle], Iterable[str]]


def validate(bundle: Bundle) -> None:
    """NotRenderedError with a line for each thing that is wrong."""
    problems = [problem for check in CHECKS for problem in check(bundle)]
    if problems:
        raise NotRenderedError("\n".join(problems))


def _repeated(names: Iterable[str]) -> list[str]:
    return sorted(name for name, count in Counter(names).items() if count > 1)


def repeated_deployments(bundle: Bundle) -> Iterator[str]:
    """Rule 1."""
    for name in _repeated(one["name"] for one in bundle.deployments):
        yield f"cluster service version contains duplicate strategy deployment spec '{name}'"


def deployment_names(bundle: Bundle) -> Iterator[str]:
    """Rule 2."""
    for name in sorted({one["name"] for one in bundle.deployments}):
        if reasons := webhooks.reasons_against(name):
            yield f"invalid cluster service version strategy deployment name '{name}': {', '.join(reasons)}"


def repeated_definitions(bundle: Bundle) -> Iterator[str]:
    """Rule 3."""
    for name in _repeated(map(name_of, bundle.definitions)):
        yield f"bundle contains duplicate custom resource definition '{name}'"


def owned_definitions(bundle: Bundle) -> Iterator[str]:
    """Rule 4."""
    for name in sorted(webhooks.owned(bundle) - set(map(name_of, bundle.definitions))):
        yield (f"cluster service definition references owned custom resource definition '{name}' not found in bundle")


def package_name(bundle: Bundle) -> Iterator[str]:
    """Rule 5."""
    if not bundle.package:
        yield "package name is empty"


def supported_kinds(bundle: Bundle) -> Iterator[str]:
    """Rule 13."""
    for one in bundle.others:
        if not is_supported(one["kind"]):
            yield f"unsupported resource {quoted(name_of(one))} with kind {quoted(one['kind'])}"


CHECKS: Final[tuple[Check, ...]] = (
    repeated_deployments,
    deployment_names,
    repeated_definitions,
    owned_definitions,
    package_name,
    webhooks.conversion_modes,
    webhooks.deployments,
    webhooks.repeated_names,
    webhooks.names,
    webhooks.shared_definitions,
    webhooks.definitions_of_others,
    webhooks.rules,
    supported_kinds,
)
