"""The certificate of a Deployment that serves: whether it is kept, made anew, or rotated in three stages (csv.md §7.2).

Stage 1: a following pair is stored beside the present one, and clients trust the CAs of both. Stage 2: the following
pair becomes the present one, and the server serves with it. Stage 3: clients trust its CA alone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Final

from shared import names
from shared.api.manifest import Manifest, timestamp
from shared.api.views import Deployment, Object

VALID: Final = timedelta(days=730)
EARLY: Final = timedelta(hours=1)
"""A new certificate is valid since then: clocks differ."""
ROTATED_BEFORE: Final = timedelta(days=1)
"""How long before its end a certificate is rotated."""
SETTLED: Final = timedelta(seconds=10)
"""After this time every API server has heard of a CA that it is to trust, and no Service leads to a Pod that ends."""


@dataclass(frozen=True, slots=True)
class Pair:
    """A CA and the serving certificate that it signed, without their private keys."""

    authority: str
    """The certificate of the CA, PEM."""
    certificate: str
    """PEM."""
    key: str
    """Handle of the private key of the certificate: the digest of the public one."""
    hosts: tuple[str, ...]
    begins: datetime
    """When both are valid."""
    ends: datetime
    flaw: str = ""
    """Why nobody can use it, in words; empty when the two fit each other and the key."""

    def complaint(self, desired: tuple[str, ...], now: datetime) -> str:
        """Why a client that trusts the CA refuses the certificate by one of the wanted names; empty when none does."""
        if self.flaw or now < self.begins:
            return self.flaw or f"not valid before {timestamp(self.begins)}"
        if now >= self.ends:
            return f"expired at {timestamp(self.ends)}"
        lacking = sorted(set(desired) - set(self.hosts))
        return f"not for the name {lacking[0]}" if lacking else ""

    def serves(self, desired: tuple[str, ...], now: datetime) -> bool:
        """Whether a client that trusts the CA accepts the certificate now, by each of the wanted names."""
        return not self.complaint(desired, now)

    @property
    def made_at(self) -> datetime:
        """When it was made, by us or by OLM: those of others say since when they are valid."""
        return max(self.begins, self.ends - VALID)

    @property
    def rotates_at(self) -> datetime:
        """When a following pair is due."""
        return self.ends - ROTATED_BEFORE

    @property
    def digest(self) -> str:
        """`olmcahash` (csv.md §16)."""
        return hashlib.sha256(self.authority.encode()).hexdigest()


@dataclass(frozen=True, slots=True)
class Content:
    """What a Secret holds."""

    pair: Pair
    """What the server uses."""
    following: Pair | None = None
    """What takes its place, during a rotation."""
    former: str = ""
    """The CA of the pair before, PEM, while servers may still use that pair."""

    @property
    def is_rotating(self) -> bool:
        """Whether clients have to trust more than one CA."""
        return bool(self.following or self.former)

    @property
    def bundle(self) -> str:
        """The CAs that clients have to trust, PEM, the one in use first."""
        following = self.following.authority if self.following else ""
        return "".join(dict.fromkeys(filter(None, (self.pair.authority, following, self.former))))


@dataclass(frozen=True, slots=True)
class StoredPair:
    """What a Secret says, without its private keys."""

    manifest: Manifest
    """Its identity, labels, owners, type, and the annotation that we use."""
    content: Content
    is_shared: bool = False
    """Whether it also holds what we do not write: data of somebody else."""


def digests(pairs: Mapping[str, StoredPair | None]) -> dict[str, str]:
    """The digests of their CAs; empty for one that does not exist."""
    return {name: one.content.pair.digest if one else "" for name, one in pairs.items()}


def begun(stored: StoredPair | None, hosts: tuple[str, ...], now: datetime, issue: Callable[[], Pair]) -> Content:
    """What the Secret of an installation holds: what is there while it is valid, else something new.

    One that ends soon stays in use, beside what follows it; nobody trusts one that cannot be used, so it is replaced.
    """
    content = stored.content if stored else None
    if content and content.pair.serves(hosts, now):
        has_next = content.following and content.following.serves(hosts, now)
        is_early = now < content.pair.rotates_at
        return content if has_next or is_early else replace(content, following=issue())
    if content and content.following and content.following.serves(hosts, now):
        return Content(content.following)
    return Content(issue())


def switched(content: Content) -> Content:
    """Stage 2: what follows is in use."""
    return content if content.following is None else Content(content.following, former=content.pair.authority)


def ended(content: Content) -> Content:
    """Stage 3: one CA is trusted."""
    return Content(content.pair)


def is_harmed(stored: StoredPair | None, deployment: Deployment | None, hosts: tuple[str, ...], now: datetime) -> bool:
    """Whether a Secret is not as it was made, by itself or by what its Pods were told of it, or is due."""
    if stored is None or is_due(stored, hosts, now):
        return True
    hashes = [Object(stored.manifest).annotation(names.CA_HASH)]
    hashes += [deployment.template.annotations.get(names.CA_HASH)] if deployment else []
    return any(one != stored.content.pair.digest for one in hashes)


def is_due(stored: StoredPair | None, hosts: tuple[str, ...], now: datetime) -> bool:
    """Whether a certificate has to be made or rotated, or its rotation has to be brought to its end (csv.md §7.8)."""
    if stored is None:
        return True
    content = stored.content
    return content.is_rotating or not content.pair.serves(hosts, now) or now >= content.pair.rotates_at
