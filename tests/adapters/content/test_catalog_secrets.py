"""How often the pull secrets of a catalog are read: each read is a request to the API server."""

from __future__ import annotations

from pathlib import Path

from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci.transport import Transport
from shared.domain.image_source import ImageSource
from shared.ports import Pulled
from tests.adapters.content.test_catalogs import a_package, publish
from tests.kit.image_registry import scripted_registry


def test_requests_to_an_open_catalog_read_no_secret(tmp_path: Path) -> None:
    read: list[str] = []
    puller = Puller(lambda _, name: read.append(name), Transport(attempts=1))
    catalogs = ImageCatalogs(Store(tmp_path), puller)
    with scripted_registry() as registry:
        published = publish(registry, ("configs/etcd.json", a_package("etcd")))
        source = ImageSource(published.image, "olm", ("login",))
        pulled = catalogs.pull(source)
        assert isinstance(pulled, Pulled)
        assert read == ["login"]
        assert [catalogs.packages(pulled.reference, source) for _ in range(3)] == [("etcd",)] * 3
        assert read == ["login"]
