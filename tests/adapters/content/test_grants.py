"""A digest is no password: what is in the store is served to who could have pulled it, and to nobody else."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.server import running
from shared.adapters.content.catalogs import ImageCatalogs
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.grants import AWAY_SECONDS, FRESH_SECONDS, Grants
from shared.adapters.content.pulling import Puller
from shared.adapters.content.store import Store
from shared.adapters.oci.addresses import AddressRules
from shared.adapters.oci.transport import Transport
from shared.api.manifest import Manifest
from shared.domain.image_source import ImageSource
from shared.ports import Pulled, Unavailable
from tests.adapters.content.test_catalogs import a_package, publish
from tests.kit.catalogs import tea, written
from tests.kit.image_registry import Answer, Request, ScriptedRegistry, scripted_registry

_LOGIN = base64.b64encode(b"me:x").decode()


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


class Clock:
    def __init__(self) -> None:
        self.now = 1_800_000_000.0

    def __call__(self) -> float:
        return self.now


def a_secret(address: str, login: str = _LOGIN) -> Manifest:
    content = json.dumps({"auths": {address: {"auth": login}}}).encode()
    return {"data": {".dockerconfigjson": base64.b64encode(content).decode()}}


def catalogs(
    folder: Path, clock: Clock, *secrets: tuple[str, Manifest], rules: AddressRules | None = None
) -> ImageCatalogs:
    kept = dict(secrets)
    transport = Transport(attempts=1, rules=rules or AddressRules(is_open=True))
    return ImageCatalogs(Store(folder), Puller(lambda namespace, _: kept.get(namespace), transport), clock=clock)


def private(request: Request) -> Answer | None:
    is_known = request.authorization == f"Basic {_LOGIN}"
    return None if is_known else Answer(status=401, headers={"WWW-Authenticate": "Basic"})


def pulled(answer: Pulled | Unavailable) -> Pulled:
    assert isinstance(answer, Pulled)
    return answer


def test_a_private_catalog_is_not_served_to_who_has_no_login(registry: ScriptedRegistry, tmp_path: Path) -> None:
    published = publish(registry, ("configs/c.json", a_package("tea")))
    registry.gate = private
    port = catalogs(tmp_path, Clock(), ("victim", a_secret(registry.address)))
    found = pulled(port.pull(ImageSource(published.image, "victim", ("login",))))
    thief = ImageSource(found.reference, "tenant", ("login",))
    for answer in (port.pull(thief), port.packages(found.reference, thief)):
        assert isinstance(answer, Unavailable)
        assert answer.reason == "Unauthorized"
    assert port.packages(found.reference, ImageSource("", "victim", ("login",))) == ("tea",)


def test_a_digest_is_not_served_for_the_name_of_a_registry_that_never_answers(
    registry: ScriptedRegistry, tmp_path: Path
) -> None:
    port = catalogs(tmp_path, Clock())
    found = pulled(port.pull(publish(registry, ("configs/c.json", a_package("tea")))))
    digest = found.reference.partition("@")[2]
    answer = port.pull(ImageSource(f"127.0.0.1:9/nobody/nothing@{digest}", "tenant"))
    assert isinstance(answer, Unavailable)
    assert answer.reason == "Unreachable"


def test_a_registry_that_claims_to_have_a_digest_has_to_show_it(registry: ScriptedRegistry, tmp_path: Path) -> None:
    port = catalogs(tmp_path, Clock())
    found = pulled(port.pull(publish(registry, ("configs/c.json", a_package("tea")))))
    digest = found.reference.partition("@")[2]
    with scripted_registry() as liar:
        liar.gate = lambda _: Answer(b"{}", headers={"Docker-Content-Digest": digest})
        for image in (f"{liar.address}/cat@{digest}", f"{liar.address}/cat:latest"):
            answer = port.pull(ImageSource(image, "tenant"))
            assert isinstance(answer, Unavailable)
            assert answer.reason == "DigestMismatch"


def test_a_registry_is_asked_once_an_hour_for_a_login_and_a_digest(registry: ScriptedRegistry, tmp_path: Path) -> None:
    clock = Clock()
    source = publish(registry, ("configs/c.json", a_package("tea")))
    reference = pulled(catalogs(tmp_path, clock).pull(source)).reference
    registry.requests.clear()
    another_process = catalogs(tmp_path, clock)
    for _ in range(3):
        assert another_process.packages(reference, source) == ("tea",)
    assert registry.requests == []
    clock.now += FRESH_SECONDS + 1
    for _ in range(3):
        assert another_process.packages(reference, source) == ("tea",)
    assert [request.method for request in registry.requests] == ["HEAD"]


def test_who_loses_the_login_loses_the_catalog_within_an_hour(registry: ScriptedRegistry, tmp_path: Path) -> None:
    clock = Clock()
    source = publish(registry, ("configs/c.json", a_package("tea")))
    port = catalogs(tmp_path, clock)
    reference = pulled(port.pull(source)).reference
    registry.gate = private
    clock.now += FRESH_SECONDS + 1
    for one in (port, catalogs(tmp_path, clock)):
        answer = one.packages(reference, source)
        assert isinstance(answer, Unavailable)
        assert answer.reason == "Unauthorized"


def test_while_the_registry_is_away_what_was_granted_before_stays(tmp_path: Path) -> None:
    clock = Clock()
    with scripted_registry() as registry:
        source = publish(registry, ("configs/c.json", a_package("tea")))
        reference = pulled(catalogs(tmp_path, clock).pull(source)).reference
    clock.now += AWAY_SECONDS - 1
    assert catalogs(tmp_path, clock).packages(reference, source) == ("tea",)
    clock.now += 2
    assert isinstance(catalogs(tmp_path, clock).packages(reference, source), Unavailable)


def test_the_table_says_nothing_of_logins_and_stays_small(tmp_path: Path) -> None:
    grants = Grants(tmp_path, most=5)
    for number in range(50):
        grants.answered("server:1", f"sha256:{number:064}")
    kept = sorted(tmp_path.glob("grant-*"))
    assert len(kept) == 6, "the salt is one of them"
    assert all(path.stat().st_size == 0 for path in kept if path.name != "grant-salt")
    assert Grants(tmp_path).has_answered("server:1", f"sha256:{49:064}")
    assert not Grants(tmp_path).has_answered("server:1", f"sha256:{1:064}")


def test_a_folder_that_cannot_be_written_costs_only_requests(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    grants = Grants(tmp_path / "file")
    grants.answered("server:1", "sha256:1")
    assert grants.has_answered("server:1", "sha256:1")


def test_an_address_with_a_digest_is_not_a_way_into_the_store(registry: ScriptedRegistry, tmp_path: Path) -> None:
    port = catalogs(tmp_path, Clock())
    found = pulled(port.pull(publish(registry, ("configs/c.json", a_package("tea")))))
    digest = found.reference.partition("@")[2]
    thief = ImageSource(f"grpc://127.0.0.1:9@{digest}", "tenant")
    for answer in (port.pull(thief), port.packages(thief.image, thief)):
        assert isinstance(answer, Unavailable)


def test_a_server_that_went_away_keeps_its_catalog(tmp_path: Path) -> None:
    folder = written(tmp_path / "catalog", *tea())
    clock = Clock()
    with running(Answers(snapshot_of(folder, Store(tmp_path / "served"))), "127.0.0.1:0") as number:
        source = ImageSource(f"grpc://127.0.0.1:{number}", "olm")
        reference = pulled(catalogs(tmp_path / "store", clock).pull(source)).reference
    assert catalogs(tmp_path / "store", clock).packages(reference, source) == ("tea",)
    clock.now += AWAY_SECONDS
    assert isinstance(catalogs(tmp_path / "store", clock).packages(reference, source), Unavailable)


def test_a_server_on_this_machine_is_not_asked_for_a_tenant(tmp_path: Path) -> None:
    folder = written(tmp_path / "catalog", *tea())
    with running(Answers(snapshot_of(folder, Store(tmp_path / "served"))), "127.0.0.1:0") as number:
        source = ImageSource(f"grpc://127.0.0.1:{number}", "olm")
        refused = catalogs(tmp_path / "a", Clock(), rules=AddressRules()).pull(source)
        allowed = catalogs(tmp_path / "b", Clock(), rules=AddressRules.parse([f"127.0.0.1:{number}"])).pull(source)
    assert isinstance(refused, Unavailable)
    assert refused.reason == "Blocked"
    assert "which is this machine" in refused.message
    assert isinstance(allowed, Pulled)
    bad = catalogs(tmp_path / "c", Clock(), rules=AddressRules()).pull(ImageSource("grpc://a:b:c", "olm"))
    assert isinstance(bad, Unavailable)
    assert "too many colons in address" in bad.message
