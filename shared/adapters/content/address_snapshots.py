"""Catalogs of servers of the registry API (`grpc://host:port`), stored by the digest of their content."""

from __future__ import annotations

from dataclasses import dataclass

from shared.adapters.content.image_snapshots import name_of
from shared.adapters.content.indexing import opened
from shared.adapters.content.line_snapshots import digest_of, snapshot_of_lines
from shared.adapters.content.snapshot import Snapshot
from shared.adapters.content.store import Store
from shared.adapters.oci.addresses import OPEN, AddressRules
from shared.adapters.oci.errors import OciError
from shared.domain.catalog.documents import NotACatalog
from shared.domain.catalog_source import SERVED
from shared.domain.image_source import ImageSource


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and the digest of its content."""

    server: str
    digest: str = ""

    def __str__(self) -> str:
        return SERVED + self.server + (f"@{self.digest}" if self.digest else "")

    @classmethod
    def desired(cls, source: ImageSource) -> Address:
        """The server that a CatalogSource names, whatever it has now."""
        return cls(source.image.removeprefix(SERVED))

    @classmethod
    def parse(cls, reference: str, source: ImageSource) -> Address:
        """The content of a reference, the same for every `source` that names the server."""
        del source
        server, _, digest = reference.removeprefix(SERVED).partition("@")
        return cls(server, digest)


def snapshot_of_address(
    address: Address, store: Store, *, rules: AddressRules = OPEN, is_kept_good: bool = True
) -> tuple[Address, Snapshot]:
    """The catalog of a server: its present content, or that of the digest. OciError when it cannot be read any more.

    `is_kept_good` says whether the server is known to have the content of that digest, so that a store may answer.
    """
    if address.digest and is_kept_good and (kept := opened(store, name_of(address.digest))) is not None:
        return address, kept
    from shared.adapters.catalog_client.client import catalog_at

    content = catalog_at(address.server, rules=rules)
    found = Address(address.server, digest_of(content))
    if address.digest not in ("", found.digest):
        raise OciError("NotFound", f"{address}: the server has another catalog by now; it is asked again")
    try:
        return found, snapshot_of_lines(store, name_of(found.digest), content)
    except NotACatalog as error:
        raise OciError("Malformed", f"{found}: it has no catalog: {error}; ask who runs it") from error
