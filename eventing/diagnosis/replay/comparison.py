"""Compares the final objects of two worlds by their meaning; fields that are not in the tables must be equal."""

from __future__ import annotations

import base64
import binascii
import difflib
import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import msgspec

from eventing.journal.redact import Redactor
from eventing.journal.redacted import holds_stand_in
from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, annotations_of, labels_of, metadata, name_of, namespace_of
from shared.api.views import InstallPlan
from shared.domain.endpoints.objects import AUTHORITY
from shared.kinds import Ref

How: TypeAlias = Callable[[Any], Any]


def left_out(_: Any) -> None:
    """The field is not compared."""


def the_last(history: Any) -> Any:
    """The last entry of a history: the number and times of the entries before it depend on timing."""
    return history[-1:]


def by_type(conditions: Any) -> Any:
    """The conditions by type, without their order."""
    is_list = isinstance(conditions, list) and all(isinstance(one, dict) for one in conditions)
    return sorted(conditions, key=lambda one: str(one.get("type"))) if is_list else conditions


def without_companions(annotations: Any) -> Any:
    """The annotations without the versions that installed the definition: which of them count as gone is timing."""
    return {key: value for key, value in annotations.items() if not key.startswith(names.INSTALLED_ALONGSIDE_PREFIX)}


def without_made_keys(data: Any) -> Any:
    """Of a Secret with a serving certificate the names of its parts: each world has keys of its own."""
    return sorted(data) if isinstance(data, dict) and AUTHORITY in data else data


def whether_there(status: Any) -> Any:
    """Of a step of a plan whether its object is there: the run that says so need not be the one that made it."""
    return "Present" if status == "Created" else status


def whether_headless(addresses: Any) -> Any:
    """Whether a Service has an address at all: which one, the server chooses."""
    return addresses in ("None", ["None"])


ANYWHERE: Mapping[str, How] = {
    "resourceVersion": left_out,
    "observedGeneration": left_out,
    "conditions": by_type,
}
"""Rules by field name, at any path of any kind."""

IN_PLACE: Mapping[tuple[str, str], How] = {
    ("", "metadata.generation"): left_out,
    ("", "metadata.creationTimestamp"): left_out,
    ("", "metadata.deletionTimestamp"): left_out,
    ("", "metadata.deletionGracePeriodSeconds"): left_out,
    ("", "metadata.managedFields"): left_out,
    ("", "metadata.selfLink"): left_out,
    ("ClusterServiceVersion", "status.conditions"): the_last,
    ("CustomResourceDefinition", "metadata.annotations"): without_companions,
    ("InstallPlan", "spec.generation"): left_out,
    ("InstallPlan", "status.plan.status"): whether_there,
    ("Secret", "data"): without_made_keys,
    ("Service", "spec.clusterIP"): whether_headless,
    ("Service", "spec.clusterIPs"): whether_headless,
    ("Subscription", "status.installPlanGeneration"): left_out,
}
"""Rules by kind (empty: every kind) and path; they take precedence over `ANYWHERE`."""

_TIME = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)")
_PLAN = re.compile(r"install-[a-z2-7]+")
_SECRET = kinds.SECRET.kind
_PEM = re.compile(rb"-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----\n?", re.DOTALL)
_NO_NAME = re.compile(r"[^a-z0-9]+")
_LONGEST = 200


def differences(
    then: Mapping[Ref, Manifest], now: Mapping[Ref, Manifest], uids: Mapping[str, Ref]
) -> tuple[tuple[Ref, str], ...]:
    """The objects that differ, each with a diff. `uids` maps the uids of both worlds to refs."""
    recorded, replayed = _rendered(then, uids), _rendered(now, uids)
    diffs = ((ref, _diff(recorded.get(ref, ()), replayed.get(ref, ()))) for ref in sorted({*recorded, *replayed}))
    return tuple((ref, diff) for ref, diff in diffs if diff)


def _diff(recorded: Sequence[str], replayed: Sequence[str]) -> str:
    return "\n".join(difflib.unified_diff(recorded, replayed, "recorded", "replayed", lineterm=""))


def _rendered(world: Mapping[Ref, Manifest], uids: Mapping[str, Ref]) -> dict[Ref, list[str]]:
    """Each object as lines, under a ref that means the same in both worlds."""
    plans = plan_names(world.values())
    substitutes = {uid: f"<uid of {ref}>" for uid, ref in uids.items()} | plans | made_names(world)
    return {replace(ref, name=plans.get(ref.name, ref.name)): _lines(one, substitutes) for ref, one in world.items()}


def plan_names(objects: Iterable[ReadOnly]) -> dict[str, str]:
    """For the name of each InstallPlan, which hashes uids, a name made from the purpose of the plan.

    Plans with the same purpose are numbered per owner: the numbers of a recreated Subscription start again.
    """
    found: dict[str, str] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    plans = (one for one in objects if one["kind"] == kinds.INSTALL_PLAN.kind and _PLAN.fullmatch(name_of(one)))
    for plan in sorted(plans, key=lambda one: int(one["spec"].get("generation") or 0)):
        references = metadata(plan).get("ownerReferences") or ()
        owners = sorted(str(owner["name"]) for owner in references)
        words = ("of", *InstallPlan(plan).csvs, "for", *owners, "in", namespace_of(plan))
        what = _NO_NAME.sub("-", "-".join(words).lower())[:_LONGEST].rstrip("-.")
        same = (what, *sorted(str(owner["uid"]) for owner in references))
        seen[same] += 1
        found[name_of(plan)] = f"plan-{seen[same]}-{what}"
    return found


def made_names(world: Mapping[Ref, Manifest]) -> dict[str, str]:
    """For what follows from the CA of each Secret with a serving certificate, names that mean the same in any world.

    So for the hash of a Deployment that has what captures replace: it is of the original then, and of the stand-in now.
    """
    secrets = [(annotations_of(one).get(names.CA_HASH), ref) for ref, one in world.items() if ref.kind == _SECRET]
    owners = {digest: ref for digest, ref in secrets if digest}
    found = {digest: f"<digest of {ref}>" for digest, ref in owners.items()}
    for text in {text for one in world.values() for text in _values_of("caBundle", one)}:
        digests = [hashlib.sha256(block).hexdigest() for block in _PEM.findall(_decoded(text))]
        found[text] = " and ".join(f"<CA of {owners.get(digest, digest)}>" for digest in digests) or text
    for ref, one in world.items():
        template = (one.get("spec") or {}).get("template") or {}
        has_ca = annotations_of(template).get(names.CA_HASH) in owners
        if ref.kind == kinds.DEPLOYMENT.kind and (has_ca or holds_stand_in(template)):
            found[labels_of(one).get(names.DEPLOYMENT_SPEC_HASH, "")] = f"<hash of {ref}>"
    return {text: name for text, name in found.items() if text}


def _values_of(field: str, value: Any) -> Iterator[str]:
    """Every text with that name in an object."""
    match value:
        case dict():
            for key, item in value.items():
                if key == field and isinstance(item, str):
                    yield item
                yield from _values_of(field, item)
        case list():
            for item in value:
                yield from _values_of(field, item)


def _decoded(text: str) -> bytes:
    try:
        return base64.b64decode(text, validate=True)
    except binascii.Error:
        return b""


def _lines(manifest: Manifest, substitutes: Mapping[str, str]) -> list[str]:
    text = msgspec.json.encode(Redactor(b"world").clean(manifest)).decode()
    for made_up, name in substitutes.items():
        text = text.replace(made_up, name)
    plain = msgspec.json.decode(_TIME.sub("<time>", text))
    meaning = msgspec.json.encode(_meaning(plain, str(manifest["kind"]), ""), order="sorted")
    return msgspec.json.format(meaning, indent=2).decode().splitlines()


def _meaning(value: Any, kind: str, path: str) -> Any:
    match value:
        case dict():
            found = ((key, _compared(item, kind, f"{path}.{key}" if path else key)) for key, item in value.items())
            # why: servers differ in whether they write null, an empty value, or nothing
            return {key: item for key, item in found if item not in (None, [], {})}
        case list():
            return [_meaning(item, kind, path) for item in value]
    return value


def _compared(value: Any, kind: str, path: str) -> Any:
    how = IN_PLACE.get((kind, path)) or IN_PLACE.get(("", path)) or ANYWHERE.get(path.rpartition(".")[2])
    return _meaning(how(value) if how else value, kind, path)
