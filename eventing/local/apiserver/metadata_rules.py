"""Rules that hold for the metadata of every kind: names, labels, annotations, owners."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from eventing.local.apiserver.failures import Cause, Shown, as_json, bad_value, required
from eventing.local.apiserver.resources import RBAC, Resource
from shared.api.manifest import Manifest, ReadOnly, metadata
from shared.domain.syntax import LABEL, LABEL_1035, LABEL_VALUE, QUALIFIED_NAME, SUBDOMAIN, Syntax

MAX_ANNOTATION_BYTES = 256 * 1024


def name_defects(resource: Resource, name: str) -> Iterator[Cause]:
    """The defects of the name of a new object."""
    path = "metadata.name"
    if not name:
        yield required(path, "name or generateName is required")
    elif resource.group == RBAC:
        if "/" in name or "%" in name or name in (".", ".."):
            yield bad_value(path, name, "may not contain '/' or '%'")
    else:
        yield from named(path, name, _SYNTAX.get(resource.kind, SUBDOMAIN))


_SYNTAX = {"Namespace": LABEL, "Service": LABEL_1035}


def named(path: str, name: str, syntax: Syntax) -> Iterator[Cause]:
    """The defects of a name of the given syntax."""
    has_dots = syntax is LABEL and "." in name
    for problem in syntax.problems(name):
        yield bad_value(path, name, "must not contain dots" if has_dots and problem == syntax.rule else problem)


def metadata_defects(manifest: Manifest) -> Iterator[Cause]:
    """The defects of labels and annotations."""
    meta = metadata(manifest)
    for key, value in (meta.get("labels") or {}).items():
        yield from label_defects("metadata.labels", key, value)
    yield from annotation_defects("metadata.annotations", meta.get("annotations") or {})
    for finalizer in meta.get("finalizers") or []:
        yield from _qualified("metadata.finalizers", finalizer, finalizer)
    for owner in meta.get("ownerReferences") or []:
        for name in ("apiVersion", "kind", "name", "uid"):
            if not owner.get(name):
                yield bad_value(f"metadata.ownerReferences.{name}", owner.get(name) or "", "must not be empty")
    yield from _several_controllers(meta.get("ownerReferences") or [])


def annotation_defects(path: str, annotations: ReadOnly) -> Iterator[Cause]:
    """The defects of annotations."""
    for key in annotations:
        yield from _qualified(path, key.lower(), key)
    if sum(len(key.encode()) + len(str(value).encode()) for key, value in annotations.items()) > MAX_ANNOTATION_BYTES:
        yield Cause(path, "FieldValueTooLong", f"Too long: may not be more than {MAX_ANNOTATION_BYTES} bytes")


def _several_controllers(owners: Sequence[ReadOnly]) -> Iterator[Cause]:
    controllers = [f"{owner.get('kind')}/{owner.get('name')}" for owner in owners if owner.get("controller")]
    if len(controllers) > 1:
        found = " and ".join(controllers[:2])
        why = f'Only one reference can have Controller set to true. Found "true" in references for {found}'
        yield bad_value("metadata.ownerReferences", Shown(as_json(owners)), why)


def label_defects(path: str, key: str, value: Any) -> Iterator[Cause]:
    """The defects of one label."""
    yield from _qualified(path, key, key)
    if wrong := LABEL_VALUE.problems(str(value)):
        yield bad_value(path, value, wrong[0])


def _qualified(path: str, key: str, shown: str) -> Iterator[Cause]:
    prefix, slash, name = key.rpartition("/")
    if slash and not SUBDOMAIN.fits(prefix):
        yield bad_value(path, shown, f"prefix part {SUBDOMAIN.rule}")
    if wrong := QUALIFIED_NAME.problems(name):
        yield bad_value(path, shown, f"name part {wrong[0]}")
