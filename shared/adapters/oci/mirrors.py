"""The mirrors of images, and the rules of registries.conf about them."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference

Pulls = Literal["all", "digest-only", "tag-only"]


@dataclass(frozen=True, slots=True)
class Mirror:
    """A registry or repository that holds the same images."""

    location: str
    """A registry, or a registry and the beginning of a repository."""
    pulls: Pulls = "all"
    is_insecure: bool = False

    def serves(self, reference: Reference) -> bool:
        """Whether it is used for an image."""
        return self.pulls == "all" or (self.pulls == "digest-only") == bool(reference.digest)


@dataclass(frozen=True, slots=True)
class Rule:
    """The rule for the images whose names begin with a prefix."""

    prefix: str
    """A registry, perhaps with the beginning of a repository; `*.` at the start stands for any hosts below."""
    mirrors: tuple[Mirror, ...] = ()
    location: str = ""
    """The location of the images; empty: as their names say."""
    is_insecure: bool = False
    is_blocked: bool = False
    is_source_asked: bool = True
    """Whether the location in the name of an image is tried when no mirror has it."""

    def fits(self, reference: Reference) -> bool:
        """Whether the rule is about an image."""
        if self.prefix.startswith("*."):
            return reference.registry.partition(":")[0].endswith(self.prefix[1:])
        return reference.location == self.prefix or reference.location.startswith(f"{self.prefix}/")


@dataclass(frozen=True, slots=True)
class Location:
    """A location from which an image may be pulled."""

    reference: Reference
    is_insecure: bool = False
    """Whether its certificate is not verified, and plain HTTP is allowed."""


@dataclass(frozen=True, slots=True)
class Mirrors:
    """All rules; the longest prefix decides."""

    rules: tuple[Rule, ...] = ()
    is_insecure: bool = False
    """Whether no certificate is verified."""

    def locations(self, reference: Reference) -> list[Location]:
        """The locations of an image, in the order to try. OciError without any."""
        if (rule := self._rule(reference)) is None:
            return [Location(reference, self.is_insecure)]
        found = [
            Location(_moved(reference, rule.prefix, mirror.location), mirror.is_insecure or self.is_insecure)
            for mirror in rule.mirrors
            if mirror.serves(reference)
        ]
        if rule.is_source_asked or not found:
            own = _moved(reference, rule.prefix, rule.location) if rule.location else reference
            found.append(Location(own, rule.is_insecure or self.is_insecure))
        return found

    def target(self, reference: Reference) -> Location:
        """Where an image is pushed to: as its name says, never a mirror. OciError where that is blocked."""
        rule = self._rule(reference)
        return Location(reference, self.is_insecure or (rule is not None and rule.is_insecure))

    def _rule(self, reference: Reference) -> Rule | None:
        rule = max((one for one in self.rules if one.fits(reference)), key=lambda one: len(one.prefix), default=None)
        if rule is not None and rule.is_blocked:
            raise OciError("Blocked", f"{reference}: registries.conf blocks {rule.prefix}; ask who runs this machine")
        return rule

    @classmethod
    def of_files(cls, paths: Iterable[Path]) -> Mirrors:
        """The rules of registries.conf files; those of later files count first. OciError when one cannot be read."""
        rules: dict[str, Rule] = {}
        for path in paths:
            try:
                found = list(_rules(tomllib.loads(path.read_text("utf-8"))))
            except (OSError, ValueError) as error:
                raise OciError("Malformed", f"{path} cannot be read: {error}; correct it, or set "
                               "CONTAINERS_REGISTRIES_CONF to another file") from error  # fmt: skip
            rules |= {rule.prefix: rule for rule in found}
        return cls(tuple(rules.values()))

    @classmethod
    def of_text(cls, text: str, source: str) -> Mirrors:
        """The rules of the text of a registries.conf. OciError, which names the source, when it is none."""
        try:
            return cls(tuple(_rules(tomllib.loads(text))))
        except ValueError as error:
            raise OciError("Malformed", f"{source} cannot be read: {error}; correct it") from error

    def over(self, others: Mirrors) -> Mirrors:
        """These rules, and those of `others` for prefixes without a rule here."""
        known = {rule.prefix for rule in self.rules}
        added = (rule for rule in others.rules if rule.prefix not in known)
        return replace(self, rules=(*self.rules, *added))


class Locations(Protocol):
    """Returns the locations of images."""

    def locations(self, reference: Reference) -> list[Location]:
        """The locations of an image, in the order to try. OciError without any."""
        ...


NO_MIRRORS: Final = Mirrors()


def _rules(document: Mapping[str, Any]) -> Iterator[Rule]:
    for one in _tables(document, "registry"):
        location, is_by_digest = str(one.get("location") or ""), bool(one.get("mirror-by-digest-only"))
        mirrors = tuple(_mirror(mirror, is_by_digest=is_by_digest) for mirror in _tables(one, "mirror"))
        prefix = str(one.get("prefix") or location)
        if prefix:
            yield Rule(
                prefix,
                mirrors,
                "" if location == prefix else location,
                is_insecure=bool(one.get("insecure")),
                is_blocked=bool(one.get("blocked")),
            )


def _tables(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    listed = document.get(name, [])
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise ValueError(f"wanted [[{name}]] tables, got {name} = {listed!r}")
    return listed


def _mirror(fields: Mapping[str, Any], *, is_by_digest: bool) -> Mirror:
    policy = fields.get("pull-from-mirror")
    pulls: Pulls = policy if policy in ("all", "digest-only", "tag-only") else "digest-only" if is_by_digest else "all"
    return Mirror(str(fields.get("location") or ""), pulls, bool(fields.get("insecure")))


def _moved(reference: Reference, prefix: str, location: str) -> Reference:
    """The image at another place: what follows the prefix of its name follows the location."""
    kept = prefix if not prefix.startswith("*.") else reference.registry
    registry, _, repository = f"{location}{reference.location[len(kept) :]}".partition("/")
    return replace(reference, registry=registry, repository=repository)
