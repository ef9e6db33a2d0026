"""Opens registries with the pull secrets of an image source."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import replace
from typing import TypeAlias, TypeVar

from shared.adapters.oci.addresses import AddressRules
from shared.adapters.oci.blobs import Blobs
from shared.adapters.oci.credentials import Credentials
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.mirrors import NO_MIRRORS, Locations
from shared.adapters.oci.pace import Allowance, Pull, bounded
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.slow_hosts import SlowHosts
from shared.adapters.oci.transport import Transport
from shared.api.manifest import Manifest
from shared.domain.image_source import ImageSource
from shared.names import PULL_ACCOUNT
from shared.ports import Unavailable

Secrets: TypeAlias = Callable[[str, str], Manifest | None]
"""Returns the Secret, or the account (`PULL_ACCOUNT`), of a namespace and a name; None when absent."""

_T = TypeVar("_T")


class Puller:
    """Opens registries with the pull secrets of a source; keeps connections between pulls."""

    def __init__(
        self,
        secrets: Secrets,
        transport: Transport | None = None,
        mirrors: Locations = NO_MIRRORS,
        *,
        allowance: Allowance | None = None,
        hurried: Allowance | None = None,
        blobs: Callable[[], Blobs | None] = lambda: None,
    ) -> None:
        """`hurried` bounds the pulls of steps that have little time; without it, they have as much as the others.

        `blobs` gives each pull a place for what it fetches; without one it is forgotten at once.
        """
        self._secrets = secrets
        self._transport = transport or Transport()
        self._mirrors = mirrors
        self._allowance = allowance or Allowance()
        self._hurried = hurried or self._allowance
        self._slow_hosts = SlowHosts()
        self._blobs = blobs

    @property
    def rules(self) -> AddressRules:
        """Where pulls may go."""
        return self._transport.rules

    def bounded(self, namespace: str, *, is_hurried: bool = False) -> AbstractContextManager[Pull]:
        """What is read from registries or servers in this block is one pull, on behalf of a namespace."""
        allowance = self._hurried if is_hurried else self._allowance
        return bounded(Pull(allowance, self._slow_hosts, namespace))

    def run(
        self,
        source: ImageSource,
        image: str,
        use: Callable[[Registry, Reference], _T],
        *,
        limits: Limits | None = None,
        is_hurried: bool = False,
    ) -> _T | Unavailable:
        """The result of `use` for the image, or why the image cannot be read."""
        found = {name: self._secrets(source.namespace, name) for name in self._names(source)}
        credentials = Credentials.of_secrets(filter(None, found.values()))
        try:
            registry = Registry(self._transport, credentials, limits, mirrors=self._mirrors, blobs=self._blobs())
            with self.bounded(source.namespace, is_hurried=is_hurried):
                return use(registry, Reference.parse(image))
        except OciError as error:
            useless = [f"the Secret {source.namespace}/{name} {why}" for name, why in _useless(found)]
            if error.reason == "Unauthorized" and useless:
                error = replace(error, message="; ".join([error.message, *useless]))
            return error.unavailable()

    def _names(self, source: ImageSource) -> Iterator[str]:
        """The names of the pull secrets: those that are stated, and those of accounts."""
        for name in source.secrets:
            if not name.startswith(PULL_ACCOUNT):
                yield name
                continue
            account = self._secrets(source.namespace, name) or {}
            yield from (str(one["name"]) for one in account.get("imagePullSecrets") or () if one.get("name"))


def _useless(secrets: Mapping[str, Manifest | None]) -> Iterator[tuple[str, str]]:
    """The pull secrets that cannot be used, and why."""
    for name, secret in secrets.items():
        if secret is None:
            yield name, "does not exist"
        elif not Credentials.of_secrets([secret]).logins:
            yield name, "holds no login that can be read"
