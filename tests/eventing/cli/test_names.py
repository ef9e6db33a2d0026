"""Every verb that does not find a name says which names are similar."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, cast

import pytest
import yaml
from typer.testing import CliRunner

from eventing.cli.failure import CliError
from eventing.cli.main import app
from eventing.cli.names import check_exists, check_namespace, similar
from eventing.cli.requests.request import PackageError
from eventing.cli.requests.subscribing import approve_plan, set_hold
from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest
from shared.kinds import NAMESPACE, SUBSCRIPTION, Kind
from tests.domain.resolver.scenery import releases
from tests.kit.cluster import FakeCluster
from tests.kit.fbc import a_bundle, a_channel, a_package, an_entry, written
from tests.replay.living import LivingWorld

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


def test_similar_names_end_a_sentence() -> None:
    assert similar("tidee", ["tide", "atlas", "tide"]) == "; similar: tide"
    assert similar("etcd", ["atlas"]) == ""


@pytest.fixture
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with the package tide."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "catalog.yaml").write_text(yaml.safe_dump_all(releases("tide", 2)))
    return str(tmp_path / "cat")


def test_a_namespace_that_does_not_exist_is_told_from_one_without_packages() -> None:
    world = FakeCluster([{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "lights"}}])
    check_exists("lights", world)
    with pytest.raises(CliError, match="there is no namespace light; similar: lights"):
        check_exists("light", world)


def test_a_namespace_that_does_not_exist_is_told_from_one_without_subscriptions() -> None:
    spaces = [{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}} for name in ("lights", "dark")]
    places = [f"ns{number}" for number in range(7)]
    subscriptions = [{**a_subscription("tide"), "metadata": {"name": "tide", "namespace": one}} for one in places]
    world = FakeCluster([*spaces, *subscriptions])
    with pytest.raises(CliError, match=r"there is no namespace light; similar: lights$"):
        check_namespace("light", world)
    with pytest.raises(CliError, match=r"no Subscription in dark; there are some in ns0, .*ns4 and 2 more \(-n\)$"):
        check_namespace("dark", world)
    with pytest.raises(CliError, match=r"no Subscription in dark$"):
        check_namespace("dark", FakeCluster(spaces))
    check_namespace("ns6", world)


class Tenants(FakeCluster):
    """A cluster whose namespaces the reader may not list."""

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        if kind == NAMESPACE:
            raise ApiError(self.status, "x", "no")
        return super().list(kind, namespace, labels=labels, most=most)

    status = 403


def test_who_may_not_list_namespaces_is_told_nothing_of_them() -> None:
    world = Tenants([])
    check_exists("light", world)
    world.status = 500
    with pytest.raises(ApiError):
        check_exists("light", world)


def refused(*words: str) -> str:
    return str(CliRunner().invoke(app, list(words)).exception)


@pytest.mark.parametrize("verb", ["graph", "versions"])
def test_a_package_of_a_catalog(verb: str, catalog: str) -> None:
    assert refused(verb, "tidee", "--catalog", catalog).endswith("has package tidee; similar: tide")


def test_a_subscription_that_is_explained(catalog: str, tmp_path: Path) -> None:
    (tmp_path / "subs.yaml").write_text(yaml.safe_dump({**a_subscription("tide"), "status": {}}))
    output = refused("explain", "tidy", "-n", "ns", "--catalog", catalog, "--from", str(tmp_path / "subs.yaml"))
    assert output == "tidy: no such Subscription in namespace ns; similar: tide"


def test_a_package_and_a_channel_of_head(tmp_path: Path) -> None:
    bundle = a_bundle("tide.v1", "1.0.0", package="tide")
    content = written(a_package("tide"), a_channel("alpha", an_entry("tide.v1"), package="tide"), bundle)
    (tmp_path / "catalog.yaml").write_bytes(content)
    folder = str(tmp_path)
    assert refused("catalog", "head", folder, "tidee").endswith("not found; similar: tide")
    assert refused("catalog", "head", folder, "tide", "alhpa").endswith("it has alpha; similar: alpha")


def test_an_object_that_why_is_asked_about(tmp_path: Path) -> None:
    world = LivingWorld()
    world.add(a_subscription("tide"))
    capture = str(world.save(tmp_path / "incident.tar"))
    output = refused("why", "sub/tidee", "-n", "ns", "--from", capture)
    assert output.endswith("the journal knows nothing of it; similar: tide")


def a_subscription(name: str) -> Manifest:
    meta, spec = {"name": name, "namespace": "ns"}, {"name": name, "source": "cat", "sourceNamespace": "ns"}
    return {"apiVersion": SUBSCRIPTION.api_version, "kind": SUBSCRIPTION.kind, "metadata": meta, "spec": spec}


def test_what_is_approved_or_held() -> None:
    cluster = cast("KubeClient", FakeCluster([a_subscription("tide")]))
    with pytest.raises(PackageError, match=r"plans there: none\); similar: tide"):
        list(approve_plan(cluster, "ns", "tidee"))
    with pytest.raises(PackageError, match="nothing subscribes to 'tidee' in ns; similar: tide"):
        set_hold(cluster, "ns", "tidee", "why")
