"""Images in a folder, as the OCI image layout keeps them: `oci:DIR[:tag][@digest]`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import BinaryIO, Final

from shared.adapters.oci import verify
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.local import LayoutName
from shared.adapters.oci.verify import Descriptor
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.shape import as_object, as_text

REF_NAME: Final = "org.opencontainers.image.ref.name"


class Layout:
    """Reads layouts; every blob is verified before it is handed out."""

    def __init__(self, limits: Limits | None = None) -> None:
        self.limits = limits or Limits()

    def manifest(self, name: LayoutName) -> tuple[str, Manifest]:
        """The digest and the content of a manifest or an index."""
        if name.digest:
            return name.digest, verify.document(self._small(name, name.digest), name)
        content = _read(name, name.path / "index.json", self.limits.manifest_bytes)
        index = verify.document(content, name)
        entry = _entry(name, index)
        if entry is None:  # images of several platforms, none of them named: the file is the index itself
            return verify.digest_of(content), index
        return self.manifest(name.at(Descriptor.of(entry, name).digest))

    def document(self, name: LayoutName, descriptor: Descriptor) -> Manifest:
        """A small blob of JSON, such as the configuration of an image."""
        return verify.document(self._small(name, descriptor.digest), name)

    @contextmanager
    def blob(self, name: LayoutName, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """A verified blob, rewound."""
        if descriptor.size > self.limits.layer_bytes:
            raise verify.too_large(name, descriptor.size, self.limits.layer_bytes)
        with ExitStack() as opened:
            path = _path(name, descriptor.digest)
            try:
                stream = opened.enter_context(path.open("rb"))
                verify.check(stream, descriptor, name)
                stream.seek(0)
            except OSError as error:
                raise _unreadable(name, path, error) from error
            yield stream

    def _small(self, name: LayoutName, digest: str) -> bytes:
        content = _read(name, _path(name, digest), self.limits.manifest_bytes)
        verify.compare(verify.digest_of(content, digest.partition(":")[0]), digest, name)
        return content


def _entry(name: LayoutName, index: Manifest) -> object:
    """The entry of the index that is meant, or None when all together are one image."""
    entries = verify.objects(index.get("manifests"))
    tags = list(map(tag_of, entries))
    if name.tag in tags and (name.tag or len(entries) == 1):
        return entries[tags.index(name.tag)]
    if not name.tag and len(entries) == 1:
        return entries[0]
    if not name.tag and entries and not any(tags):
        return None
    tagged = ", ".join(sorted(filter(None, tags))) or "no tag"
    what = f"{name}: the folder has no image with this tag" if name.tag else f"{name}: the folder has several images"
    raise OciError("NotFound", f"{what}; it has: {tagged}: name one as oci:FOLDER:tag" if entries else
                   f"{name}: the folder is a layout without images")  # fmt: skip


def tag_of(entry: ReadOnly) -> str:
    """The tag in an entry of an index; empty without one."""
    return as_text(as_object(entry.get("annotations")).get(REF_NAME))


def _path(name: LayoutName, digest: str) -> Path:
    algorithm, _, encoded = digest.partition(":")
    return name.path / "blobs" / algorithm / encoded


def _read(name: LayoutName, path: Path, limit: int) -> bytes:
    try:
        with path.open("rb") as stream:
            content = stream.read(limit + 1)
    except OSError as error:
        raise _unreadable(name, path, error) from error
    if len(content) > limit:
        raise verify.too_large(name, len(content), limit)
    return content


def _unreadable(name: LayoutName, path: Path, error: OSError) -> OciError:
    return OciError("NotFound", f"{name}: {path} cannot be read: {error.strerror or error}; "
                    "wanted a folder that `skopeo copy … oci:FOLDER:tag` writes")  # fmt: skip
