"""A registry with catalogs and bundles of OLM v1 that any of its programs can pull."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from shared.adapters.image_writer import write_image
from shared.api.manifest import Manifest
from tests.bench.made_bundles import ALWAYS, an_object, write
from tests.bench.rollouts import MANY, TEN
from tests.bench.snapshots import COMMUNITY
from tests.conformance.images.registry import running
from tests.conformance.peers.images import ANNOTATION, CATALOG_LABELS, registries_conf

MADE, LARGE = "made", "community"
"""The catalogs."""
SMALL_PACKAGE, SPREAD_PACKAGE, LARGE_PACKAGE = "ten", "spread", "many"
_OF_EACH, _BUDGETS = 45, 15
SPREAD = ALWAYS + 4 * _OF_EACH + _BUDGETS
"""Objects of which no group of kinds has more than 50, which is the most that boxcutter takes."""


def few(number: int) -> str:
    """A package with the fewest objects that an operator has."""
    return f"few{number}"


@contextmanager
def registry(folder: Path, extensions: int) -> Iterator[tuple[str, Path]]:
    """Its address, and a `registries.conf` that says that it speaks no TLS."""
    maps = (an_object("ConfigMap", f"many-{one:04}", data={"a": "x" * 2000}) for one in range(MANY - ALWAYS))
    packages = {SMALL_PACKAGE: TEN, SPREAD_PACKAGE: tuple(_spread()), LARGE_PACKAGE: tuple(maps)}
    packages |= {few(one): () for one in range(extensions)}
    folder.mkdir()
    with running(folder / "registry", has_tls=False, has_login=False) as found:
        for package, objects in packages.items():
            write(folder, package, objects)
            _push(folder / package / "1.0.0", found.reference(f"{package}:v1"), {f"{ANNOTATION}package.v1": package})
        (folder / MADE / "configs").mkdir(parents=True)
        lines = (line for package in packages for line in _documents(package, found.reference(f"{package}:v1")))
        (folder / MADE / "configs" / "catalog.json").write_text("\n".join(map(json.dumps, lines)))
        _push(folder / MADE, found.reference(f"{MADE}:v1"), CATALOG_LABELS)
        files = {f"configs/{one.relative_to(COMMUNITY)}": one for one in COMMUNITY.rglob("*.json")}
        write_image(files, CATALOG_LABELS, found.reference(f"{LARGE}:v1"))
        (folder / "registries.conf").write_text(registries_conf({found.host: ""}, found.host))
        yield found.host, folder / "registries.conf"


def _spread() -> Iterator[Manifest]:
    group, selector = "rbac.authorization.k8s.io", {"app": "a"}
    for one in range(_OF_EACH):
        name = f"spread-{one:02}"
        yield an_object("ConfigMap", name, data={"a": "x" * 2000})
        yield an_object("Service", name, spec={"ports": [{"port": 80}], "selector": selector})
        yield an_object("Role", name, f"{group}/v1", rules=[])
        role = {"apiGroup": group, "kind": "Role", "name": name}
        yield an_object("RoleBinding", name, f"{group}/v1", roleRef=role, subjects=[])
    for one in range(_BUDGETS):
        spec = {"minAvailable": 1, "selector": {"matchLabels": selector}}
        yield an_object("PodDisruptionBudget", f"spread-{one:02}", "policy/v1", spec=spec)


def average_package() -> str:
    """The package of the community catalog of which half of the others are larger."""
    sizes = sorted((sum(one.stat().st_size for one in each.rglob("*.json")), each.name) for each in COMMUNITY.iterdir())
    return sizes[len(sizes) // 2][1]


def _push(folder: Path, target: str, labels: dict[str, str]) -> None:
    write_image({str(one.relative_to(folder)): one for one in folder.rglob("*") if one.is_file()}, labels, target)


def _documents(package: str, image: str) -> Iterator[dict[str, object]]:
    name = f"{package}.v1.0.0"
    yield {"schema": "olm.package", "name": package, "defaultChannel": "stable"}
    yield {"schema": "olm.channel", "package": package, "name": "stable", "entries": [{"name": name}]}
    version = {"type": "olm.package", "value": {"packageName": package, "version": "1.0.0"}}
    yield {"schema": "olm.bundle", "name": name, "package": package, "image": image, "properties": [version]}
