"""The public bundles as images and a catalog in the node's registry, each container the stand-in for an operator."""

from __future__ import annotations

import io
import os
import posixpath
import tarfile
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import orjson

from eventing.local.image_registry.folder import BundleFolder
from shared.adapters.oci import logins
from shared.adapters.oci.build import CONFIG_TYPE, LAYER_TYPE, MANIFEST_TYPE, Blob, Built, build
from shared.adapters.oci.mirrors import Location
from shared.adapters.oci.push import push
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.verify import Descriptor, digest_of
from shared.api.manifest import Manifest, name_of
from shared.domain.authoring.from_bundles import Published, from_bundles
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.catalog.model import PACKAGE_REQUIRED
from shared.domain.go import yaml as goyaml
from shared.kinds import CLUSTER_SERVICE_VERSION
from tests.conformance.control_plane import program

REGISTRY = "10.244.0.1:5000"
"""The registry of the node, as this machine reaches it with plain HTTP; Pods know it as quay.io."""
KNOWN_AS = "quay.io"
CATALOG = f"{KNOWN_AS}/public/catalog:latest"
PROGRAM, USER, BIN = "/operator", "65532:65532", "/bin"
CSV = CLUSTER_SERVICE_VERSION.kind
PROBES = ("livenessProbe", "readinessProbe", "startupProbe")


class StoodIn(BundleFolder):
    """A public bundle as its author wrote it, but for the images of its containers."""

    def __init__(self, root: Path) -> None:
        self.package, self.version = root.parent.name, root.name
        super().__init__(root, f"public/{self.package}-bundle", self.version)

    @property
    def name(self) -> str:
        """Of its version."""
        return name_of(self.csv)

    @property
    def container(self) -> str:
        """The image in place of those of its containers."""
        return f"{KNOWN_AS}/public/{self.package}:{self.version}"

    @property
    def initialization(self) -> str:
        """The one in place of those that have to end before."""
        return f"{KNOWN_AS}/public/{self.package}-ends:{self.version}"

    def files(self) -> dict[str, bytes]:
        """With other images in its ClusterServiceVersion."""
        return super().files() | {self._changed[0]: orjson.dumps(self.csv)}

    @property
    def csv(self) -> Manifest:
        """Its ClusterServiceVersion, with the other images."""
        return self._changed[1]

    @property
    def required(self) -> set[str]:
        """Packages that are installed with it, in its namespace."""
        offer, _ = self.offer()
        found = [one.value for one in offer.properties if one.type == PACKAGE_REQUIRED] if offer else []
        return {str(value["packageName"]) for value in found if isinstance(value, dict)}

    @cached_property
    def _changed(self) -> tuple[str, Manifest]:
        """That, and its place."""
        for path, content in super().files().items():
            if b"ClusterServiceVersion" in content and (csv := goyaml.load_value(content))["kind"] == CSV:
                for pod in pods_of(csv):
                    for field, image in (("containers", self.container), ("initContainers", self.initialization)):
                        for container in pod.get(field) or ():
                            container["image"] = image
                return path, csv
        raise AssertionError(f"{self} has no ClusterServiceVersion")


def pods_of(csv: Manifest) -> Iterator[Manifest]:
    """What the Deployments of a version make Pods of."""
    for deployment in csv["spec"]["install"]["spec"].get("deployments") or ():
        yield deployment["spec"]["template"]["spec"]


def containers_of(csv: Manifest) -> Iterator[Manifest]:
    """All containers of a version, the first ones of their Pods, too."""
    for pod in pods_of(csv):
        yield from (*pod["containers"], *(pod.get("initContainers") or ()))


def ports_of(csv: Manifest) -> set[int]:
    """Every port that its containers, probes, webhooks and APIs name by number; those with names are of containers."""
    found: list[Any] = []
    for container in containers_of(csv):
        found += [port["containerPort"] for port in container.get("ports") or ()]
        probes = [container.get(probe) or {} for probe in PROBES]
        found += [(probe.get(how) or {}).get("port") for probe in probes for how in ("httpGet", "tcpSocket", "grpc")]
    served = (*(csv["spec"].get("webhookdefinitions") or ()), *_owned_apis(csv))
    found += [one.get("targetPort") or one.get("containerPort") for one in served]
    return {port for port in found if isinstance(port, int)}


def _owned_apis(csv: Manifest) -> Sequence[Manifest]:
    return (csv["spec"].get("apiservicedefinitions") or {}).get("owned") or ()


def commands_of(csv: Manifest) -> set[str]:
    """Every path at which its containers look for their program; a bare name is looked for in `BIN`."""
    first = {command[0] for one in containers_of(csv) if (command := one.get("command"))}
    return {posixpath.join("/", posixpath.normpath(each)) if "/" in each else f"{BIN}/{each}" for each in first}


def layer_of(paths: Iterable[str]) -> bytes:
    """The stand-in, and a link to it at every path."""
    output = io.BytesIO()
    with tarfile.open(fileobj=output, mode="w") as archive:
        content = program("operator").read_bytes()
        member = tarfile.TarInfo(PROGRAM)
        member.size, member.mode = len(content), 0o755
        archive.addfile(member, io.BytesIO(content))
        for path in sorted(paths):
            link = tarfile.TarInfo(path)
            link.type, link.linkname = tarfile.SYMTYPE, PROGRAM
            archive.addfile(link)
    return output.getvalue()


def image_of(layer: Blob, environ: Mapping[str, str]) -> Built:
    """An image of the stand-in with some variables."""
    diff_id = layer.descriptor.digest
    variables = [f"{key}={value}" for key, value in (("PATH", BIN), *environ.items())]
    config = orjson.dumps({
        "architecture": "amd64", "os": "linux", "rootfs": {"type": "layers", "diff_ids": [diff_id]},
        "config": {"Env": variables, "Entrypoint": [PROGRAM], "User": USER, "WorkingDir": "/"},
    })  # fmt: skip
    manifest = orjson.dumps({
        "schemaVersion": 2, "mediaType": MANIFEST_TYPE,
        "config": {"mediaType": CONFIG_TYPE, "digest": digest_of(config), "size": len(config)},
        "layers": [{"mediaType": LAYER_TYPE, "digest": diff_id, "size": layer.descriptor.size}],
    })  # fmt: skip
    return Built(digest_of(manifest), manifest, config, layer, diff_id)


def pushed(image: str, built: Built) -> str:
    """Push what Pods know by this name; its name by digest."""
    reference = Reference.parse(image.replace(KNOWN_AS, REGISTRY, 1))
    registry = logins.registry_of_machine(os.environ, Path.home())
    return str(push(registry, built, Location(reference, is_insecure=True))).replace(REGISTRY, KNOWN_AS, 1)


def push_all(bundles: Path) -> list[StoodIn]:
    """Push containers, bundles and the catalog of all of them; returns the bundles."""
    found = [StoodIn(root) for root in sorted(bundles.glob("*/*"))]
    with tempfile.TemporaryDirectory() as name:
        aside = Path(name, "layer")
        aside.write_bytes(content := layer_of({path for one in found for path in commands_of(one.csv)}))
        layer = Blob(Descriptor(digest_of(content), len(content)), aside)
        for one in found:
            ports = " ".join(map(str, sorted(ports_of(one.csv))))
            pushed(one.container, image_of(layer, {"PORTS": ports}))
            pushed(one.initialization, image_of(layer, {"ENDS": "1"}))
        documents, _ = from_bundles([published(one, Path(name, "bundle")) for one in found])
        files = {"configs/catalog.json": b"\n".join(map(orjson.dumps, documents))}
        pushed(CATALOG, build(files, {CONFIGS: "/configs"}, Path(name, "catalog")))
    return found


def published(one: StoodIn, aside: Path) -> Published:
    """A bundle, as it is pushed."""
    files = one.files()
    image = pushed(f"{KNOWN_AS}/{one.repository}:{one.tag}", build(files, one.labels(files), aside))
    offer, findings = one.offer()
    assert offer, findings
    return Published(offer, image, str(one))
