"""The images that a suite names and nobody here can pull: made anew of the same content, in a registry of our own.

`registries.conf` leads our programs there, so that the objects of the suite say what they always say.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from shared.adapters.image_writer import write_image
from tests.conformance.images.registry import running
from tests.conformance.peers import contents

Manifests = list[dict[str, Any]]
ANNOTATION = "operators.operatorframework.io.bundle."
CATALOG_LABELS = {"operators.operatorframework.io.index.configs.v1": "/configs"}


@dataclass(frozen=True, slots=True)
class Bundle:
    """The image of a bundle."""

    image: str
    package: str
    manifests: Callable[[Path], Manifests]
    """Its objects, given the peer's checkout."""
    channels: str = "alpha"

    def annotations(self) -> dict[str, str]:
        """What `metadata/annotations.yaml` says."""
        return {
            f"{ANNOTATION}mediatype.v1": "registry+v1", f"{ANNOTATION}manifests.v1": "manifests/",
            f"{ANNOTATION}metadata.v1": "metadata/", f"{ANNOTATION}package.v1": self.package,
            f"{ANNOTATION}channels.v1": self.channels,
            f"{ANNOTATION}channel.default.v1": self.channels.partition(",")[0],
        }  # fmt: skip


@dataclass(frozen=True, slots=True)
class Catalog:
    """The image of a file-based catalog."""

    image: str
    bundles: tuple[Bundle, ...]
    channels: Mapping[str, Manifests]
    """Entries of each channel, as `<package>/<channel>`."""


@contextmanager
def registry_with(
    bundles: tuple[Bundle, ...], catalogs: tuple[Catalog, ...], checkout: Path, folder: Path
) -> Iterator[str]:
    """A registry that holds the images; yields its host and port.

    The folder keeps the images for the next time.
    """
    folder.mkdir(parents=True, exist_ok=True)
    known, sign = folder / "made-of", _sources()
    with running(folder, has_tls=False, has_login=False) as registry:
        if not known.exists() or known.read_text() != sign:
            for bundle in bundles:
                made = write_bundle(bundle, checkout, folder)
                write_image(made, bundle.annotations(), registry.reference(bundle.image.partition("/")[2]))
            for catalog in catalogs:
                file = write_catalog(catalog, checkout, folder)
                target = registry.reference(catalog.image.partition("/")[2])
                write_image({"configs/catalog.json": file}, CATALOG_LABELS, target)
            known.write_text(sign)
        yield registry.host


def registries_conf(hosts: Mapping[str, str], registry: str) -> str:
    """The text of a `registries.conf` that leads prefixes of images to paths of the registry."""
    return "\n".join(
        f'[[registry]]\nprefix = "{prefix}"\nlocation = "{"/".join(filter(None, (registry, path)))}"\ninsecure = true\n'
        for prefix, path in hosts.items()
    )


def _sources() -> str:
    return hashlib.sha256(
        b"".join(each.read_bytes() for each in sorted(Path(__file__).parent.glob("*.py")))
    ).hexdigest()


def write_bundle(bundle: Bundle, checkout: Path, place: Path) -> dict[str, Path]:
    """The files of a bundle, in a folder of its own; each by its path in the image."""
    own = folder_of(bundle, place)
    found = {"metadata/annotations.yaml": {"annotations": bundle.annotations()}}
    for number, manifest in enumerate(bundle.manifests(checkout)):
        found[f"manifests/{number:02}-{manifest.get('kind', 'object').lower()}.yaml"] = manifest
    for path, content in found.items():
        (own / path).parent.mkdir(parents=True, exist_ok=True)
        (own / path).write_text(yaml.safe_dump(content))
    return {path: own / path for path in found}


def folder_of(bundle: Bundle, place: Path) -> Path:
    """Where the files of a bundle are."""
    return place / "bundles" / bundle.image.replace("/", "_").replace(":", "_")


def write_catalog(catalog: Catalog, checkout: Path, place: Path) -> Path:
    """The one file of a catalog."""
    lines: Manifests = []
    packages = {path.partition("/")[0]: path.partition("/")[2] for path in reversed(list(catalog.channels))}
    for package, channel in packages.items():
        lines.append({"schema": "olm.package", "name": package, "defaultChannel": channel})
    for path, entries in catalog.channels.items():
        package, _, channel = path.partition("/")
        lines.append({"schema": "olm.channel", "package": package, "name": channel, "entries": entries})
    for bundle in catalog.bundles:
        write_bundle(bundle, checkout, place)
        lines.append(rendered(folder_of(bundle, place)) | {"image": bundle.image})
    file = place / f"{catalog.image.replace('/', '_').replace(':', '_')}.json"
    file.write_text("\n".join(map(json.dumps, lines)))
    return file


@cache
def rendered(folder: Path) -> dict[str, Any]:
    """The `olm.bundle` of a folder."""
    command = [sys.executable, "-m", "eventing.cli.main", "bundle", "render", str(folder)]
    found: dict[str, Any] = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    return found


def of_checkout(path: str) -> Callable[[Path], Manifests]:
    """The manifests in a folder of the checkout."""

    def read(checkout: Path) -> Manifests:
        return [yaml.safe_load(file.read_text()) for file in sorted((checkout / path / "manifests").glob("*.yaml"))]

    return read


def fixed(*manifests: dict[str, Any]) -> Callable[[Path], Manifests]:
    """Manifests that no checkout has."""
    return lambda _: list(manifests)


def _busybox(package: str, version: str) -> Bundle:
    source = of_checkout(f"test/images/busybox-index/{package}/{version}")
    return Bundle(f"quay.io/olmtest/{package}-bundle:{version}", package, source)


def _chain(name: str, *versions: str) -> Manifests:
    entries: Manifests = []
    for version in versions:
        replaces = {"replaces": entries[-1]["name"]} if entries else {}
        entries.append({"name": f"{name}.v{version}"} | replaces)
    return entries


BUSYBOX = {version: _busybox("busybox", version) for version in ("1.0.0", "2.0.0")}
DEPENDENCY = {version: _busybox("busybox-dependency", version) for version in ("1.0.0", "2.0.0")}
EXAMPLES = tuple(
    Bundle(
        f"quay.io/olmtest/example-operator-bundle:{version}", "test-package",
        fixed(*contents.example_operator(version)), "stable",
    )
    for version in ("0.1.0", "0.2.0", "0.3.0")
)  # fmt: skip
_BROKEN = contents.example_operator("0.2.0")
BROKEN = (
    Bundle(
        "quay.io/olmtest/example-operator-bundle:0.2.0-invalid-csv", "test-package",
        fixed(contents.without_name_of_account(_BROKEN[0]), *_BROKEN[1:]), "stable",
    ),
    Bundle(
        "quay.io/olmtest/missing_api_version:latest", "test-package",
        fixed({key: value for key, value in contents.csv("bad-csv", "1.0.0").items() if key != "apiVersion"}), "stable",
    ),
)  # fmt: skip
SINGLE = Bundle("quay.io/olmtest/single-bundle:pdb-v2", "busybox", of_checkout("test/images/single-bundle-image"))
OBJECTS = Bundle(
    "quay.io/olmtest/single-bundle:objects", "busybox",
    fixed(contents.csv("busybox", "2.0.0"), contents.config_map("special-config", "very"), contents.secret("mysecret")),
)  # fmt: skip
SAME_NAME = Bundle(
    "quay.io/olmtest/single-bundle:samename", "busybox",
    fixed(contents.csv("busybox", "3.0.0"), contents.config_map("special-config", "updated-very-much")), "beta",
)  # fmt: skip
OTHER_NAME = Bundle(
    "quay.io/olmtest/single-bundle:diffname", "busybox",
    fixed(contents.csv("busybox", "3.0.0"), contents.config_map("not-special-config", "very")), "beta",
)  # fmt: skip
ETCD = Bundle("quay.io/olmtest/etcd-test:related", "etcd-test", fixed(contents.etcd()))
KIALI = Bundle("quay.io/operator-framework/kiali-bundle:1.4.2", "kiali", fixed(*contents.kiali()), "stable,alpha")
WEBHOOKS = Bundle("quay.io/olmtest/webhook-operator-bundle:0.0.5", "webhook-operator", fixed(*contents.webhooks()))
BUNDLES = (
    *BUSYBOX.values(), *DEPENDENCY.values(), *EXAMPLES, *BROKEN, SINGLE, OBJECTS, SAME_NAME, OTHER_NAME, ETCD, KIALI,
    WEBHOOKS,
)  # fmt: skip


def _upgrade(image: str, new: Bundle) -> Catalog:
    """A channel with version 2, and one with version 3 that replaces it."""
    old = {"name": "busybox.v2.0.0"}
    entries = {"busybox/alpha": [old], "busybox/beta": [old, {"name": "busybox.v3.0.0", "replaces": old["name"]}]}
    return Catalog(image, (OBJECTS, new), entries)


def _etcd(image: str) -> Catalog:
    return Catalog(image, (ETCD,), {"etcd-test/alpha": _chain("etcdoperator", "0.9.2")})


def _busybox_index(image: str, *versions: str) -> Catalog:
    channels = {f"{name}/alpha": _chain(name, *versions) for name in ("busybox", "busybox-dependency")}
    return Catalog(image, tuple(each[version] for each in (BUSYBOX, DEPENDENCY) for version in versions), channels)


CATALOGS = (
    Catalog("quay.io/operatorhubio/catalog:latest", (BUSYBOX["1.0.0"],), {"busybox/alpha": _chain("busybox", "1.0.0")}),
    *(
        _busybox_index(f"quay.io/olmtest/busybox-dependencies-index:{versions[-1]}-with-ListBundles-method", *versions)
        for versions in (("1.0.0",), ("1.0.0", "2.0.0"))
    ),
    Catalog(
        "quay.io/olmtest/single-bundle-index:pdb-v2", (SINGLE,), {"busybox/alpha": _chain("busybox", "2.0.0")}
    ),
    Catalog(
        "quay.io/olmtest/single-bundle-index:objects", (OBJECTS,), {"busybox/alpha": _chain("busybox", "2.0.0")}
    ),
    _upgrade("quay.io/olmtest/single-bundle-index:objects-upgrade-samename", SAME_NAME),
    _upgrade("quay.io/olmtest/single-bundle-index:objects-upgrade-diffname", OTHER_NAME),
    *(_etcd(f"quay.io/olmtest/catsrc-update-test:{tag}") for tag in ("related", "1.35.4")),
    _busybox_index("quay.io/olmtest/catsrc-update-test:old", "1.0.0"),
    *(_busybox_index(f"quay.io/olmtest/catsrc-update-test:{tag}", "1.0.0", "2.0.0") for tag in ("new", "polled")),
    _etcd("quay.io/olmtest/old-opm-catsrc:v1.21.0"),
    Catalog(
        "quay.io/operator-framework/ci-index:latest", (KIALI,), {"kiali/stable": _chain("kiali-operator", "1.4.2")}
    ),
    Catalog(
        "quay.io/olmtest/webhook-operator-index:v0.0.5", (WEBHOOKS,),
        {"webhook-operator/alpha": _chain("webhook-operator", "0.0.5")},
    ),
)  # fmt: skip
