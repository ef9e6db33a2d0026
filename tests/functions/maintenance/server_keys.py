"""The certificates of a server of ours, as its step sees them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from shared.domain.endpoints import naming
from shared.domain.endpoints.certificates import EARLY, VALID, Content, Pair, StoredPair
from shared.kinds import Ref
from tests.domain.csv.builders import NOW


@dataclass(frozen=True)
class ServerKeys:
    """A Secret of a server, which may be there already, and one certificate to give out."""

    server: Ref
    hosts: tuple[str, ...]
    content: Content | None = None

    @property
    def secret(self) -> str:
        """Its name."""
        return naming.secret_name(self.server.name)

    def pair(self, name: str = "first", issued: timedelta = timedelta()) -> Pair:
        """A certificate for the hosts."""
        begins = NOW + issued - EARLY
        return Pair(f"CA {name};", f"certificate {name}", f"key {name}", self.hosts, begins, begins + EARLY + VALID)

    def stored(self, secret: Ref) -> StoredPair | None:
        """What the Secret holds."""
        assert (secret.name, secret.namespace) == (self.secret, self.server.namespace)
        meta = {"name": secret.name, "namespace": secret.namespace, "resourceVersion": "7"}
        return StoredPair({"metadata": meta, "type": "kubernetes.io/tls"}, self.content) if self.content else None

    def issue(self, desired: tuple[str, ...], now: datetime) -> Pair:
        """Another certificate."""
        assert desired == self.hosts
        return self.pair("next", now - NOW)
