"""The examples of custom resources in a ClusterServiceVersion (fbc.md §11.5)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from shared.api.manifest import ReadOnly
from shared.domain.authoring.validation.finding import ERROR, WARNING, Finding, about
from shared.domain.authoring.validation.subject import Subject
from shared.domain.bundle.apis import Api, described
from shared.domain.bundle.shape import as_list, is_deep
from shared.domain.go import json as gojson

_KEYS: Final = ("alm-examples", "olm.examples")


def examples(subject: Subject) -> Iterator[Finding]:
    """Whether the examples can be read, and whether there is one for each provided API and for no other."""
    name, annotations = subject.csv_name, subject.csv_annotations
    if not annotations:
        yield about(name, "annotations not found", WARNING)
        return
    present = [key for key in _KEYS if key in annotations]
    if not present:
        yield about(name, "example annotations not found", WARNING)
        return
    if len(present) > 1:
        yield about(name, "both `alm-examples` and `olm.examples` are present. Checking only `alm-examples`", WARNING)
    text = annotations[present[0]]
    try:
        listed = gojson.loads(text.encode() or b"null")
    except gojson.JsonError as error:
        read = text.encode()[: error.offset].decode("utf-8", "replace")
        shown = f"invalid character at {error.offset}\n {read}<--(see the invalid character)"
        yield Finding(ERROR, "invalid example", value=shown)
        return
    if listed is not None and not _is_list_of_objects(listed):
        yield Finding(ERROR, "error decoding example CustomResource", value=text[:_SHOWN])
        return
    yield from _matched(subject, as_list(listed))


_SHOWN: Final = 200


def _is_list_of_objects(listed: Any) -> bool:
    return isinstance(listed, list) and not is_deep(listed) and all(isinstance(one, dict) for one in listed)


def _matched(subject: Subject, listed: list[ReadOnly]) -> Iterator[Finding]:
    provided: dict[Api, None] = {}
    for one in subject.described("owned"):
        plural, dot, group = str(one["name"]).partition(".")
        if not dot:
            yield Finding(ERROR, f"couldn't parse plural.group from crd name: {plural}", value=plural)
            continue
        provided[Api(group, one["version"], one["kind"])] = None
    for one in described(subject.csv, "apiservicedefinitions", "owned"):
        provided[Api(one["group"], one["version"], one["kind"])] = None
    shown = dict.fromkeys(map(_api, listed))
    for api in shown:
        if api not in provided:
            yield Finding(ERROR, "example must have a provided API", value=api.gvk_text())
    for api in provided:
        if api not in shown:
            yield Finding(WARNING, "provided API should have an example annotation", value=api.gvk_text())


def _api(example: ReadOnly) -> Api:
    group, _, version = str(example.get("apiVersion") or "").rpartition("/")
    return Api(group, version, str(example.get("kind") or ""))
