"""Seventy published bundles: each is parsed, rendered, planned and judged."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator

import pytest

from eventing.cli.inputs.bundle import read
from shared.domain.authoring.bundles.install import Installation, Target, install_steps
from shared.domain.authoring.bundles.render import blob, csv_metadata
from shared.domain.authoring.validation import Subject, validate
from shared.domain.bundle.model import Files, ParsedBundle, UnpackedBundle
from shared.domain.bundle.parse import parse_documents
from shared.domain.plan.steps import steps
from shared.domain.resolver.identity import CatalogKey
from shared.domain.unpack.references import Reference
from tests.kit.real_bundles import extracted, needs_real_bundles

RANK = {"ClusterServiceVersion": 0, "CustomResourceDefinition": 1}

pytestmark = needs_real_bundles


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[tuple[str, Files]]]:
    folder = tmp_path_factory.mktemp("published")
    extracted(folder)
    roots = sorted(path.parent for path in folder.rglob("manifests"))
    yield [(str(root.relative_to(folder)), read(root, str(root))) for root in roots]
    shutil.rmtree(folder)


def test_all_published_bundles_are_read_rendered_planned_and_valid(published: list[tuple[str, Files]]) -> None:
    assert len(published) == 70
    for name, files in published:
        subject = Subject(files, name)
        bundle = parse_documents(subject.manifests, subject.metadata, name, is_complete=True)
        assert isinstance(bundle, ParsedBundle), bundle
        assert bundle.warnings == (), name
        assert blob(bundle)["name"] == bundle.name
        assert csv_metadata(bundle.csv)["provider"] is not None
        found = install_steps(subject.manifests, Target("ns"), name)
        assert isinstance(found, Installation), found
        ranks = [RANK.get(step.kind, 2) for step in found.steps]
        assert ranks == sorted(ranks), name
        assert all(step.name and step.version and json.loads(step.manifest) for step in found.steps), name
        unpacked = UnpackedBundle(bundle.csv, bundle.objects)
        in_cluster = steps(unpacked, "ns", Reference("h", "olm", CatalogKey("olm", "local")))
        desired = sorted((step["resource"]["kind"], step["resource"]["name"]) for step in in_cluster)
        assert sorted((step.kind, step.name) for step in found.steps) == desired, "as an InstallPlan has them"
        assert [one for one in validate(subject) if one.is_error] == [], name
