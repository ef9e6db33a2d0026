"""Catalogs of servers of the registry API (`grpc://host:port`), stored by the digest of their content."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import BinaryIO, Final

from shared.adapters.content.image_snapshots import name_of
from shared.adapters.content.indexing import indexed, opened
from shared.adapters.content.snapshot import Snapshot, Source, file_name
from shared.adapters.content.snapshot.writing import write
from shared.adapters.content.store import Store
from shared.adapters.oci.addresses import OPEN, AddressRules
from shared.adapters.oci.errors import OciError
from shared.domain.catalog.documents import NotACatalog

PREFIX: Final = "grpc://"
_FILE: Final = "catalog.json"


@dataclass(frozen=True, slots=True)
class Address:
    """A server, and the digest of its content."""

    server: str
    digest: str = ""

    def __str__(self) -> str:
        return PREFIX + self.server + (f"@{self.digest}" if self.digest else "")

    @classmethod
    def parse(cls, text: str) -> Address:
        """The address in a text."""
        server, _, digest = text.removeprefix(PREFIX).partition("@")
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
    found = Address(address.server, f"sha256:{hashlib.sha256(content).hexdigest()}")
    if address.digest not in ("", found.digest):
        raise OciError("NotFound", f"{address}: the server has another catalog by now; it is asked again")
    return found, _indexed(found, content, store)


def _indexed(address: Address, content: bytes, store: Store) -> Snapshot:
    file = store.fill(file_name(address.digest), lambda stream: _put(stream, content))
    source = Source(_FILE, file, address.digest)

    def fill(stream: BinaryIO) -> None:
        try:
            write(stream, [source])
        except NotACatalog as error:
            raise OciError("Malformed", f"{address}: it has no catalog: {error}; ask who runs it") from error

    return indexed(store, name_of(address.digest), fill)


def _put(stream: BinaryIO, content: bytes) -> None:
    stream.write(content)
