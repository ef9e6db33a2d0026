"""Builds images of files, without a container engine, and writes them to a registry, a layout or an archive."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

from shared.adapters.oci import logins
from shared.adapters.oci.build import Files, build
from shared.adapters.oci.local import ArchiveName, LayoutName, local_name
from shared.adapters.oci.mirrors import Location
from shared.adapters.oci.push import push
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.saving import save_archive, save_layout


def write_image(files: Files, labels: Mapping[str, str], target: str, registry: Registry | None = None) -> str:
    """Build the image of some files and write it to `target`; returns its name by digest. OciError on failure.

    `target` is `registry/name:tag`, `oci:DIR[:tag]` or `docker-archive:FILE[:name:tag]`. The same files and labels give
    the same image, byte for byte. Without `registry`, logins, certificates and registries.conf of the user are used.
    """
    with tempfile.TemporaryDirectory(prefix="olmf-image-") as folder:
        aside = Path(folder, "layer")
        match local_name(target):
            case LayoutName() as layout:
                built = build(files, labels, aside)
                save_layout(built, layout)
                return str(layout.at(built.digest))
            case ArchiveName() as archive:
                built = build(files, labels, aside, is_compressed=False)
                save_archive(built, archive)
                return str(archive.at(built.config_descriptor.digest))
        reference = Reference.parse(target)
        if registry:
            return str(push(registry, build(files, labels, aside), Location(reference)))
        location = logins.target_of_machine(reference, os.environ, Path.home())
        chosen = logins.registry_of_machine(os.environ, Path.home())
        return str(push(chosen, build(files, labels, aside), location))
