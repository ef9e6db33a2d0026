"""The Secrets and ConfigMaps without which a Pod does not start, and which of them are missing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from shared.api.manifest import Manifest, ReadOnly
from shared.kinds import CONFIG_MAP, SECRET, Kind, Ref

_WORD = {SECRET.kind: "secret", CONFIG_MAP.kind: "configmap"}


@dataclass(frozen=True, slots=True)
class Need:
    """A Secret or ConfigMap, and the keys of it, that a volume or a variable takes its content from."""

    kind: Kind
    name: str
    keys: tuple[str, ...] = ()
    volume: str = ""
    """The volume that needs it; empty for a variable."""


@dataclass(frozen=True, slots=True)
class Obstacle:
    """Why a Pod does not run: the reason of its Event, the reason of its waiting containers, a sentence."""

    event: str
    waiting: str
    message: str
    lasts: bool = False
    """Whether it ends a program, instead of delaying it."""


def needs_of(pod: ReadOnly) -> tuple[Need, ...]:
    """What a Pod or a template of Pods needs; nothing for what is optional, or a volume that no container mounts."""
    spec = pod.get("spec") or {}
    containers = [*(spec.get("initContainers") or ()), *(spec.get("containers") or ())]
    mounted = {mount.get("name") for container in containers for mount in container.get("volumeMounts") or ()}
    used = (volume for volume in spec.get("volumes") or () if volume.get("name") in mounted)
    volumes = (need for volume in used for need in _of_volume(volume))
    return (*volumes, *(need for container in containers for need in _of_container(container)))


def obstacle_of(pod: ReadOnly, namespace: str, get: Callable[[Ref], Manifest | None]) -> Obstacle | None:
    """The first need of a Pod that is not met."""
    for need in needs_of(pod):
        found = need.kind.look_up(get, need.name, namespace)
        if fault := _fault(need, found, namespace):
            return _obstacle(need, fault)
    return None


def _fault(need: Need, found: Manifest | None, namespace: str) -> str:
    word = _WORD[need.kind.kind]
    if found is None:
        return f'{word} "{need.name}" not found'
    held = {**(found.get("data") or {}), **(found.get("binaryData") or {})}
    lacking = next((key for key in need.keys if key not in held), None)
    if lacking is None:
        return ""
    if need.volume:
        return f"references non-existent {'secret' if word == 'secret' else 'config'} key: {lacking}"
    return f"couldn't find key {lacking} in {need.kind.kind} {namespace}/{need.name}"


def _obstacle(need: Need, fault: str) -> Obstacle:
    if need.volume:
        message = f'MountVolume.SetUp failed for volume "{need.volume}" : {fault}'
        return Obstacle("FailedMount", "ContainerCreating", message)
    return Obstacle("Failed", "CreateContainerConfigError", fault)


def _of_volume(volume: ReadOnly) -> Iterator[Need]:
    name = str(volume.get("name") or "")
    yield from _of_source(SECRET, volume.get("secret"), "secretName", name)
    yield from _of_source(CONFIG_MAP, volume.get("configMap"), "name", name)
    for source in (volume.get("projected") or {}).get("sources") or ():
        yield from _of_source(SECRET, source.get("secret"), "name", name)
        yield from _of_source(CONFIG_MAP, source.get("configMap"), "name", name)


def _of_source(kind: Kind, source: ReadOnly | None, field: str, volume: str) -> Iterator[Need]:
    if source and source.get(field) and not source.get("optional"):
        keys = tuple(str(item.get("key")) for item in source.get("items") or ())
        yield Need(kind, str(source[field]), keys, volume)


def _of_container(container: ReadOnly) -> Iterator[Need]:
    for every in container.get("envFrom") or ():
        yield from _of_reference(SECRET, every.get("secretRef"))
        yield from _of_reference(CONFIG_MAP, every.get("configMapRef"))
    for variable in container.get("env") or ():
        source = variable.get("valueFrom") or {}
        yield from _of_reference(SECRET, source.get("secretKeyRef"))
        yield from _of_reference(CONFIG_MAP, source.get("configMapKeyRef"))


def _of_reference(kind: Kind, reference: ReadOnly | None) -> Iterator[Need]:
    if reference and reference.get("name") and not reference.get("optional"):
        key = reference.get("key")
        yield Need(kind, str(reference["name"]), (str(key),) if key else ())
