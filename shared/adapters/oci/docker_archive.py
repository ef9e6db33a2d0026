"""Images in one file, as `docker save` and `podman save` write it: `docker-archive:FILE[:name:tag]`."""

from __future__ import annotations

import gzip
import re
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import IO, BinaryIO, Final, cast

import orjson

from shared.adapters.oci import verify
from shared.adapters.oci.archive import Archive
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.layers import GZIP
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.local import ArchiveName
from shared.adapters.oci.verify import Descriptor
from shared.api.manifest import Manifest
from shared.domain.bundle.shape import as_list, as_object
from shared.domain.catalog.image_reference import is_digest

_HEX: Final = re.compile(r"(?:.*/)?([0-9a-f]{64})(?:\.json)?")


class DockerArchive:
    """Reads one archive; layers are verified against the digests that the configuration of the image states."""

    def __init__(self, archive: tarfile.TarFile, limits: Limits) -> None:
        self.limits = limits
        self._archive = archive
        self._paths: dict[str, str] = {}

    @classmethod
    @contextmanager
    def open(cls, name: ArchiveName, limits: Limits | None = None) -> Iterator[DockerArchive]:
        """Open a file. OciError when it is no archive."""
        with ExitStack() as stack:
            with _reading(name):
                archive = stack.enter_context(Archive.open(name.path))
            yield cls(archive, limits or Limits())

    def manifest(self, name: ArchiveName) -> tuple[str, Manifest]:
        """The digest of the configuration, and a manifest as a registry would hold it."""
        entry = self._entry(name)
        config = self._small(name, str(entry.get("Config")))
        digest = verify.digest_of(config)
        if named := _HEX.fullmatch(str(entry["Config"])):
            verify.compare(digest, f"sha256:{named[1]}", name)
        diff_ids = as_object(verify.document(config, name).get("rootfs")).get("diff_ids")
        paths = entry.get("Layers")
        if not isinstance(paths, list) or not isinstance(diff_ids, list) or len(paths) != len(diff_ids):
            raise OciError("Malformed", f"{name}: it lists other layers than its configuration; save the image again")
        if not all(isinstance(diff_id, str) and is_digest(diff_id) for diff_id in diff_ids):
            raise OciError("Malformed", f"{name}: its configuration states no digests of layers; save the image again")
        self._paths = {**dict(zip(diff_ids, map(str, paths), strict=True)), digest: str(entry["Config"])}
        layers = [{"digest": diff_id, "size": self.limits.unpacked_bytes} for diff_id in diff_ids]
        return digest, {
            "schemaVersion": 2,
            "config": {"digest": digest, "size": len(config)},
            "layers": layers,
        }

    def document(self, name: ArchiveName, descriptor: Descriptor) -> Manifest:
        """The configuration of the image."""
        return verify.document(self._small(name, self._paths[descriptor.digest]), name)

    @contextmanager
    def blob(self, name: ArchiveName, descriptor: Descriptor) -> Iterator[BinaryIO]:
        """A verified layer, unpacked and rewound."""
        with self._member(name, self._paths[descriptor.digest]) as member:
            with _reading(name):
                is_packed = member.read(2) == GZIP
                member.seek(0)
                stream = cast("BinaryIO", gzip.GzipFile(fileobj=member) if is_packed else member)
                verify.check(stream, descriptor, name)
                stream.seek(0)
            yield stream

    def _entry(self, name: ArchiveName) -> Manifest:
        """The image that is meant. OciError when none fits, or several do."""
        try:
            listed = verify.objects(orjson.loads(self._small(name, "manifest.json")))
        except orjson.JSONDecodeError as error:
            what = f"{name}: its manifest.json is not JSON: {error}; save the image again"
            raise OciError("Malformed", what) from error
        fitting = [one for one in listed if not name.tag or name.tag in as_list(one.get("RepoTags"))]
        if name.digest:
            fitting = [one for one in fitting if self._digest(name, one) == name.digest]
        if len(fitting) != 1:
            tags = sorted(str(tag) for one in listed for tag in as_list(one.get("RepoTags")))
            what = f"{name}: {len(fitting)} images of the archive fit; it has: {', '.join(tags) or 'no tag'}"
            raise OciError("NotFound", f"{what}: name one as docker-archive:FILE:tag")
        return fitting[0]

    def _digest(self, name: ArchiveName, entry: Manifest) -> str:
        return verify.digest_of(self._small(name, str(entry.get("Config"))))

    def _small(self, name: ArchiveName, path: str) -> bytes:
        with self._member(name, path) as member, _reading(name):
            content = member.read(self.limits.manifest_bytes + 1)
        if len(content) > self.limits.manifest_bytes:
            raise verify.too_large(name, len(content), self.limits.manifest_bytes)
        return content

    def _member(self, name: ArchiveName, path: str) -> IO[bytes]:
        with _reading(name):
            try:
                found = self._archive.extractfile(path)
            except KeyError:
                found = None
        if found is None:
            raise OciError("Malformed", f"{name}: the archive has no file {path!r}; save the image again")
        return found


@contextmanager
def _reading(name: ArchiveName) -> Iterator[None]:
    """Around each use of the file, but not around what callers do meanwhile. OciError when the file is damaged."""
    try:
        yield
    except (OSError, tarfile.TarError, EOFError, zlib.error) as error:
        what = f"{name}: the file cannot be read as an archive: {str(error).partition(chr(10))[0]}"
        todo = "wanted what `docker save` or `skopeo copy … docker-archive:FILE` writes"
        raise OciError("Malformed", f"{what}; {todo}") from error
