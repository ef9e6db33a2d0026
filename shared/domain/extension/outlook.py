"""What installing a bundle would do to a cluster, and what stands in the way of it, before anything is done."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly, labels_of, metadata, name_of, uid_of
from shared.domain.crd_safety.judgement import Waiver, is_waived
from shared.domain.crd_safety.removal import lost_apis, lost_definition
from shared.domain.crd_safety.report import explained
from shared.domain.crd_safety.stored import stored_misfits
from shared.domain.crd_safety.upgrade import message, problems
from shared.domain.extension.phases import validation
from shared.domain.extension.phases.order import phase_sort
from shared.domain.extension.scopes import group_kind, scope_of

JsonValue: TypeAlias = Any  # why: any JSON value


class Effect(enum.StrEnum):
    """What happens to an object."""

    CREATE = "create"
    CHANGE = "change"
    KEEP = "keep"
    REMOVE = "remove"


class Difference(NamedTuple):
    """A field of an object that is changed."""

    path: str
    before: JsonValue
    """None: it is absent."""
    after: JsonValue


@dataclass(frozen=True, slots=True)
class Change:
    """One object and what happens to it."""

    effect: Effect
    manifest: ReadOnly
    differs: tuple[Difference, ...] = ()
    """Of an object that is changed: its fields that are there otherwise."""

    @property
    def paths(self) -> tuple[str, ...]:
        """The paths of those fields."""
        return tuple(one.path for one in self.differs)


_DEFINITION: Final = kinds.CUSTOM_RESOURCE_DEFINITION.kind


def present(
    before: Sequence[Manifest], cluster: Iterable[Manifest], target: Sequence[Manifest], extension: str
) -> tuple[Manifest, ...]:
    """What an extension has: what its installed bundle gives, and as the cluster has it where that is known."""
    ours = set(map(identity_of, (*before, *target)))
    known = {identity_of(one): one for one in before} | {
        identity_of(one): one
        for one in cluster
        if identity_of(one) in ours or labels_of(one).get(names.V1_OWNER_NAME) == extension
    }
    return tuple(known.values())


def changes(present: Iterable[ReadOnly], target: Sequence[Manifest]) -> tuple[Change, ...]:
    """What happens to each object, in the order of the rollout; what is not wanted any more comes last."""
    old = {identity_of(one): one for one in present}
    ordered = [one for phase in phase_sort(target) for one in phase.objects]
    left = {identity_of(one) for one in ordered}
    found = [_change(old.get(identity_of(one)), one) for one in ordered]
    return (*found, *(Change(Effect.REMOVE, one) for identity, one in old.items() if identity not in left))


def obstacles(
    present: Iterable[ReadOnly], target: Sequence[Manifest], waivers: Sequence[Waiver] = (), *, is_strict: bool = True
) -> Iterator[str]:
    """Sentences that say why the objects would not be applied; `is_strict` is `enforcement: Strict` of CRD safety."""
    yield from validation.problems(phase_sort(target))
    for before, after in _definitions(present, target) if is_strict else ():
        if found := [one for one in problems(before, after) if not is_waived(one, waivers)]:
            yield "\n".join([message(after, found), *explained(problem.finding.check for problem in found)])


def waived(present: Iterable[ReadOnly], target: Sequence[Manifest], waivers: Sequence[Waiver]) -> Iterator[str]:
    """Sentences about what would be an obstacle, and shall not count; OLM v1 knows of no waivers."""
    for before, after in _definitions(present, target):
        if lines := [problem.line for problem in problems(before, after) if is_waived(problem, waivers)]:
            why = "waived here; OLM v1 refuses it unless spec.install.preflight.crdUpgradeSafety.enforcement is None"
            yield "\n".join([f"{name_of(after)}: {why}:", *(f"  {line}" for line in lines)])


def losses(
    present: Sequence[ReadOnly], target: Sequence[Manifest], objects: Sequence[ReadOnly], waivers: Sequence[Waiver] = ()
) -> Iterator[str]:
    """Sentences about versions and definitions that are taken away, which OLM v1 does without a word."""
    gone = (one.manifest for one in changes(present, target) if one.effect == Effect.REMOVE)
    found = [
        *((after, one) for before, after in _definitions(present, target) for one in lost_apis(before, after, objects)),
        *((one, lost_definition(one, objects)) for one in gone if one.get("kind") == _DEFINITION),
    ]
    for definition, problem in found:
        line = f"{name_of(definition)}: {problem.line}"
        is_quiet = is_waived(problem, waivers)
        yield f"does not count: {line}" if is_quiet else "\n".join([line, *explained([problem.finding.check])])


def misfits(present: Iterable[ReadOnly], target: Sequence[Manifest], objects: Sequence[ReadOnly]) -> Iterator[str]:
    """Sentences about stored objects that new definitions refuse; OLM classic looks at them, OLM v1 does not."""
    for before, after in _definitions(present, target):
        yield from (misfit.sentence(after) for misfit in stored_misfits(before, after, objects))


def _definitions(present: Iterable[ReadOnly], target: Sequence[Manifest]) -> Iterator[tuple[ReadOnly, Manifest]]:
    """The editions of each definition that is there already."""
    old = {identity_of(one): one for one in present if one.get("kind") == _DEFINITION}
    yield from ((old[identity_of(one)], one) for one in target if identity_of(one) in old)


def identity_of(manifest: ReadOnly) -> tuple[str, str, str, str]:
    """Group, kind, namespace and name: what an object stays when its version changes."""
    return *group_kind(manifest), scope_of(manifest), name_of(manifest)


def _change(present: ReadOnly | None, target: ReadOnly) -> Change:
    effect = _effect(present, target)
    return Change(effect, target, tuple(differences(present, _placed(target))) if effect == Effect.CHANGE else ())


def differences(before: JsonValue, after: JsonValue, path: str = "", *, is_whole: bool = False) -> Iterator[Difference]:
    """The fields in which an object is not as wanted; `is_whole`: what is not wanted must not be there, either.

    Entries of lists are compared by their names where all have one, else by their places in lists of one length.
    """
    if isinstance(after, Mapping) and isinstance(before, Mapping):
        gone = [key for key in before if key not in after] if is_whole else []
        for key in (*after, *gone):
            inner = f"{path}.{key}".lstrip(".")
            yield from differences(before.get(key), after.get(key), inner, is_whole=is_whole)
    elif (pairs := _paired(before, after)) is not None:
        for name, old, new in pairs:
            yield from differences(old, new, f"{path}[{name}]", is_whole=is_whole)
    elif not (before == after if is_whole else _agrees(after, before)):
        yield Difference(path, before, after)


def _paired(before: JsonValue, after: JsonValue) -> list[tuple[str, JsonValue, JsonValue]] | None:
    """The entries of two lists that belong together; None where nobody can tell."""
    if not (isinstance(before, list) and isinstance(after, list)):
        return None
    old, new = _named(before), _named(after)
    if old is not None and new is not None:
        return [(name, old.get(name), new.get(name)) for name in dict.fromkeys((*new, *old))]
    if len(before) != len(after):
        return None
    return [(str(index), *pair) for index, pair in enumerate(zip(before, after, strict=True))]


def _named(entries: list[JsonValue]) -> dict[str, JsonValue] | None:
    """The entries of a list by name, if each has one of its own."""
    found = {str(one["name"]): one for one in entries if isinstance(one, Mapping) and "name" in one}
    return found if len(found) == len(entries) else None


def _effect(present: ReadOnly | None, target: ReadOnly) -> Effect:
    if present is None:
        return Effect.CREATE
    # The cluster adds defaults and a status; what was rendered has nothing that was not wanted.
    is_same = _agrees(_placed(target), present) if uid_of(present) else target == present
    return Effect.KEEP if is_same else Effect.CHANGE


def _placed(manifest: ReadOnly) -> ReadOnly:
    """As the cluster keeps it: without the namespace that its kind does not have."""
    if scope_of(manifest):
        return manifest
    return {**manifest, "metadata": {key: value for key, value in metadata(manifest).items() if key != "namespace"}}


def _agrees(target: object, present: object) -> bool:
    """Whether the present has all that is wanted; it may have more fields."""
    if isinstance(target, Mapping) and isinstance(present, Mapping):
        return all(_agrees(value, present.get(key)) for key, value in target.items())
    if isinstance(target, list) and isinstance(present, list):
        return len(target) == len(present) and all(map(_agrees, target, present))
    return target == present
