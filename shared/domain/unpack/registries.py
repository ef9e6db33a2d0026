"""How a program reaches registries: authorities, mirrors, proxies; a Job in the same way as our own programs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import orjson

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly
from shared.api.views import ConfigMap, Job

_PROXY: Final = "olmf-proxy"
_SOURCES: Final = (
    (names.REGISTRY_CA, "olmf-registries", "ca.crt"),
    (names.REGISTRIES_CONF, "olmf-registries", "registries.conf"),
    *((name, _PROXY, name) for name in ("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY")),
)
"""Environment variable, ConfigMap in our namespace, and its key; all of them may be absent."""
CONFIG_MAPS: Final = tuple(dict.fromkeys(config_map for _, config_map, _ in _SOURCES))
_MIRRORS: Final = "--mirrors"
_MIRROR_FIELDS: Final = ("imageDigestMirrors", "imageTagMirrors")
_MOST_BYTES: Final = 96 * 1024
"""The kernel takes no variable of more than 128 KiB."""


class TooLong(Exception):
    """A key of a ConfigMap is too long for an unpack Job; the message is a sentence for its owner."""


@dataclass(frozen=True, slots=True)
class Registries:
    """What the container of a Job is told."""

    mirrors: str = ""
    """The mirror sets of the cluster that apply to its image, in JSON."""
    variables: tuple[tuple[str, str], ...] = ()
    """Environment variables that it cannot read itself, because the ConfigMaps are in another namespace."""

    @classmethod
    def of_job(cls, job: Job) -> Registries:
        """What the arguments and variables of a stored Job say."""
        [container, *_] = job.template.containers
        command, known = fields.texts(container, "command"), {name for name, _, _ in _SOURCES}
        values = (
            (fields.text(one, "name"), fields.text(one, "value"))
            for one in fields.parts(container, "env")
            if fields.value(one, "value") is not None
        )
        mirrors = command[command.index(_MIRRORS) + 1 :][:1] if _MIRRORS in command else ()
        return cls("".join(mirrors), tuple(pair for pair in values if pair[0] in known))

    @property
    def arguments(self) -> tuple[str, ...]:
        """The arguments of `olmf unpack` for them."""
        return (_MIRRORS, self.mirrors) if self.mirrors else ()

    @property
    def environment(self) -> list[Manifest]:
        """The entries of `env` for them."""
        return [{"name": name, "value": value} for name, value in self.variables]


NONE: Final = Registries()
"""Nothing but what the machine knows."""


def referred() -> list[Manifest]:
    """The entries of `env` of a container beside the ConfigMaps."""
    return [
        {"name": name, "valueFrom": {"configMapKeyRef": {"name": config_map, "key": key, "optional": True}}}
        for name, config_map, key in _SOURCES
    ]


def copied(stored: Mapping[str, ConfigMap], global_namespace: str) -> tuple[tuple[str, str], ...]:
    """The variables for a Job in another namespace, from `CONFIG_MAPS`. TooLong, a sentence, when one is.

    A proxy with a password is not among them: whoever reads the Job would read it.
    """
    found: list[tuple[str, str]] = []
    for name, config_map, key in _SOURCES:
        text = stored[config_map].texts.get(key, "")
        if len(text.encode()) > _MOST_BYTES:
            where = f"{key} of ConfigMap {global_namespace}/{config_map}"
            raise TooLong(f"{where} is larger than {_MOST_BYTES} bytes, too large for an unpack Job; keep in it "
                             "only what registries need")  # fmt: skip
        if text and not (config_map == _PROXY and "@" in text):
            found.append((name, text))
    return tuple(found)


def mirrors_about(image: str, sets: Iterable[ReadOnly]) -> str:
    """The mirror sets that apply to an image, reduced to it, as a JSON list; empty when none does."""
    found = [
        {"spec": {field: listed}}
        for one in sets
        for field in _MIRROR_FIELDS
        if (listed := list(_about(image, one, field)))
    ]
    return orjson.dumps(found).decode() if found else ""


def _about(image: str, mirror_set: ReadOnly, field: str) -> Iterator[ReadOnly]:
    for one in fields.parts(mirror_set, "spec", field):
        source = fields.text(one, "source")
        host = image.partition("/")[0].partition(":")[0]
        is_wildcard = source.startswith("*.") and host.endswith(source[1:])
        if is_wildcard or (source and image.startswith(tuple(f"{source}{end}" for end in "/:@"))):
            yield one
