"""Checks the dependencies that a bundle states (fbc.md §11.2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.finding import Finding, plain
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.annotations import text_of
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.resolver.cel import InvalidRule, rule
from shared.domain.semver import why_no_range

_Check: TypeAlias = Callable[[ReadOnly], Iterator[str]]
_NESTED: Final = ("all", "any", "not")


def dependencies(subject: Subject) -> Iterator[Finding]:
    """The findings about the dependencies: the first list of them in a metadata file other than the annotations."""
    for path, document in subject.metadata.by_path.items():
        listed = as_list(as_object(document).get("dependencies"))
        if path != subject.annotations_path and listed:
            for entry in listed:
                yield from (plain(text, path) for text in _wrong(as_object(entry)))
            return


def _wrong(entry: ReadOnly) -> Iterator[str]:
    kind, value = text_of(entry.get("type")), entry.get("value")
    if kind not in _CHECKS or not isinstance(value, Mapping):
        yield f"couldn't parse dependency of type {kind}"
        return
    fields, check = _CHECKS[kind]
    if any(not isinstance(value.get(field) or "", str) for field in fields):
        yield f"couldn't parse dependency of type {kind}"
        return
    yield from check(value)


def _gvk(value: ReadOnly) -> Iterator[str]:
    return (f"API {field.capitalize()} is empty" for field in ("group", "version", "kind") if not value.get(field))


def _package(value: ReadOnly) -> Iterator[str]:
    if not value.get("packageName"):
        yield "Package name is empty"
    version = value.get("version")
    if not version:
        yield "Package version is empty"
    elif not isinstance(version, str) or why_no_range(version):
        yield "Invalid semver format version"


def _label(value: ReadOnly) -> Iterator[str]:
    if not value.get("label"):
        yield "Label information is missing"


def _constraint(value: ReadOnly) -> Iterator[str]:
    """The errors of a constraint of any kind; those inside `all`, `any` and `not` are checked, too."""
    if "package" in value or "gvk" in value:
        for kind in ("package", "gvk"):
            if kind in value:
                yield from _of_kind(kind, value[kind])
    elif any(kind in value for kind in _NESTED):
        for kind in _NESTED:
            for inner in as_list(as_object(value.get(kind)).get("constraints")):
                yield from _constraint(as_object(inner))
    else:
        yield from _cel(value.get("cel"))


def _of_kind(kind: str, value: Any) -> Iterator[str]:
    if kind == "gvk":
        yield from _gvk(as_object(value))
        return
    entry = as_object(value)
    yield from _package({"packageName": entry.get("packageName"), "version": entry.get("versionRange")})


def _cel(value: Any) -> Iterator[str]:
    if not isinstance(value, Mapping):
        yield "The CEL field is missing"
    elif not value.get("rule"):
        yield "The CEL expression is missing"
    else:
        try:
            rule(str(value["rule"]))
        except InvalidRule as error:
            yield f"Invalid CEL expression: {error}"


_CHECKS: Final[Mapping[str, tuple[tuple[str, ...], _Check]]] = {
    "olm.gvk": (("group", "version", "kind"), _gvk),
    "olm.package": (("packageName", "version"), _package),
    "olm.label": (("label",), _label),
    "olm.constraint": (("failureMessage",), _constraint),
}
"""By type: the fields that are text, and what is demanded of them."""
