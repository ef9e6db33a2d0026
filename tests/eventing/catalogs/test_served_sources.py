"""The registry API of all CatalogSources at one port: who is asked, who is refused, and what one caller may take."""

from __future__ import annotations

import gc
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import grpc
import pytest
from google.protobuf.json_format import MessageToDict
from grpc_health.v1 import health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest

from eventing.catalogs import served_sources
from eventing.catalogs.served_sources import ServedSources
from shared import names
from shared.adapters.catalog_api import many
from shared.adapters.catalog_client.methods import REGISTRY, answer_of, caller
from shared.adapters.catalog_client.registry_pb2 import (
    GetBundleRequest,
    GetPackageRequest,
    ListBundlesRequest,
    ListPackageRequest,
)
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.snapshot import BrokenSnapshot, Snapshot
from shared.adapters.content.snapshot.identity import digest_of
from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.api.manifest import Manifest
from shared.domain.image_source import ImageSource
from shared.ports import Unavailable
from tests.kit.catalogs import one, tea, written
from tests.kit.waiting import PATIENCE_SECONDS, wait_for

Code = grpc.StatusCode
REFLECTION = "grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
LIST_SERVICES = ServerReflectionRequest(list_services="").SerializeToString()


def a_source(name: str, content: str = "", *, namespace: str = "team", service: str | None = None) -> Manifest:
    """A CatalogSource whose status names its Service, and what was read of it."""
    conditions = [{"type": names.RESOLVED_CONTENT, "status": "True", "message": content}] if content else []
    found = name if service is None else service
    about = {"protocol": "grpc", "serviceName": found, "serviceNamespace": namespace, "port": "50051"}
    status = {"conditions": conditions, "registryService": about}
    return {"metadata": {"name": name, "namespace": namespace}, "spec": {"secrets": ["pull"]}, "status": status}


@dataclass
class Shop:
    """The catalogs, their server, and what was opened of them."""

    folder: Path
    wait: float = PATIENCE_SECONDS
    opened: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often each content was to be opened, with the pull secrets of which namespace."""
    patience: threading.Event = field(default_factory=threading.Event)
    """When the slow one answers."""
    now: float = 0.0
    sources: ServedSources = field(init=False)
    port: int = 0

    def __post_init__(self) -> None:
        written(self.folder / "tea", *tea())
        written(self.folder / "cup", *one("cup", "1.0.0"))
        written(self.folder / "many", *(each for number in range(600) for each in one(f"p{number:03}", "1.0.0")))
        store = Store(self.folder / "store")

        def open_(reference: str, source: ImageSource) -> Snapshot | Unavailable:
            assert source.secrets == ("pull",)
            self.opened[reference, source.namespace] += 1
            match reference.partition("@")[0]:
                case "slow":
                    assert self.patience.wait(PATIENCE_SECONDS)
                    return snapshot_of(self.folder / "cup", store, digest_of)
                case "away":
                    return Unavailable("Unreachable", "the registry secret.example is away")
                case "denied":
                    raise OciError("Unauthorized", "no login")
                case "broken":
                    raise BrokenSnapshot("half of it")
                case "odd":
                    raise AssertionError("a defect of ours")
            return snapshot_of(self.folder / reference.partition("@")[0], store, digest_of)

        self.sources = ServedSources([open_] * 2, [open_], "olm", wait_seconds=self.wait, clock=lambda: self.now)

    def put(self, *args: Any, **about: Any) -> None:
        self.sources.observe("MODIFIED", a_source(*args, **about))

    @contextmanager
    def dialled(self, authority: str) -> Iterator[grpc.Channel]:
        options = [("grpc.default_authority", authority), ("grpc.use_local_subchannel_pool", 1)]
        with grpc.insecure_channel(f"127.0.0.1:{self.port}", options=options) as channel:
            yield channel

    def packages(self, authority: str) -> list[str]:
        with self.dialled(authority) as channel:
            return [each.name for each in ask(channel, "ListPackages", ListPackageRequest())]

    def code(self, authority: str) -> grpc.StatusCode:
        try:
            self.packages(authority)
        except grpc.RpcError as error:
            found: grpc.StatusCode = error.code()
            return found
        return Code.OK

    def until(self, authority: str, want: list[str]) -> None:
        """The first answer has to be that; a second call at once may be one too many."""
        answers = list[list[str]]()

        def is_answered() -> bool:
            with suppress(grpc.RpcError):
                answers.append(self.packages(authority))
            return bool(answers)

        wait_for(is_answered, f"an answer of {authority}")
        assert answers == [want]

    def refusal(self, authority: str) -> tuple[grpc.StatusCode, str]:
        with pytest.raises(grpc.RpcError) as caught:
            self.packages(authority)
        return caught.value.code(), caught.value.details()


def ask(channel: grpc.Channel, name: str, asked: Any) -> Any:
    method = REGISTRY.methods_by_name[name]
    found = caller(channel, method)(asked, timeout=PATIENCE_SECONDS)
    read = answer_of(method).FromString
    return [read(each) for each in found] if method.server_streaming else read(found)


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Shop]:
    found = Shop(tmp_path_factory.mktemp("shop"))
    with many.running(found.sources, "127.0.0.1:0", of_one=4) as found.port:
        yield found
        found.patience.set()


def test_catalog_md_2_4_1_the_name_that_is_dialled_reports_which_catalog_is_asked(shop: Shop) -> None:
    shop.put("tea", "tea@1")
    shop.put("tea", "cup@1", namespace="other")
    assert shop.packages("tea.team.svc:50051") == ["tea"]
    assert shop.packages("tea.other.svc.cluster.local") == ["cup"]
    assert shop.opened["tea@1", "team"] == shop.opened["cup@1", "other"] == 1, "with the logins of its namespace"
    shop.packages("tea.team:50051")
    assert shop.opened["tea@1", "team"] == 1, "once"


def test_the_whole_api_is_there(shop: Shop) -> None:
    shop.put("whole", "tea@1")
    with shop.dialled("whole.team.svc:50051") as channel:
        package = MessageToDict(ask(channel, "GetPackage", GetPackageRequest(name="tea")))
        assert package["defaultChannelName"] == "stable"
        assert len(ask(channel, "ListBundles", ListBundlesRequest())) == 4
        check = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest(service="Registry"))
        assert check.status == health_pb2.HealthCheckResponse.SERVING
        assert "api.Registry" in ProtoReflectionDescriptorDatabase(channel).get_services()


@pytest.mark.parametrize("authority", ["nobody.team.svc:50051", "127.0.0.1", "tea", "../tea.team.svc", "x" * 4000])
def test_who_dials_anything_else_learns_what_to_dial(shop: Shop, authority: str) -> None:
    shop.put("tea", "tea@1")
    code, words = shop.refusal(authority)
    assert (code, "status.connectionState" in words, len(words) < 400) == (Code.NOT_FOUND, True, True)
    with shop.dialled(authority) as channel, pytest.raises(grpc.RpcError) as caught:
        health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert caught.value.code() == Code.NOT_FOUND


def test_nothing_is_read_before_somebody_asks(shop: Shop) -> None:
    shop.put("quiet", "tea@quiet")
    with shop.dialled("quiet.team.svc") as channel:
        check = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert check.status == health_pb2.HealthCheckResponse.SERVING
    assert shop.opened["tea@quiet", "team"] == 0


def test_what_was_not_read_yet_is_not_served(shop: Shop) -> None:
    shop.put("unread")
    assert shop.refusal("unread.team.svc") == (
        Code.UNAVAILABLE, "catalog team/unread was not read yet: its status says why",
    )  # fmt: skip
    with shop.dialled("unread.team.svc") as channel:
        check = health_pb2_grpc.HealthStub(channel).Check(health_pb2.HealthCheckRequest())
    assert check.status == health_pb2.HealthCheckResponse.NOT_SERVING


@pytest.mark.parametrize("content", ["away@1", "denied@1", "broken@1", "odd@1"])
def test_what_cannot_be_read_is_tried_again_later_and_strangers_do_not_learn_why(shop: Shop, content: str) -> None:
    name = content.partition("@")[0]
    shop.put(name, content)
    for _ in range(2):
        assert shop.refusal(f"{name}.team.svc") == (
            Code.UNAVAILABLE, f"catalog team/{name} cannot be read for now: ask again later",
        )  # fmt: skip
    assert shop.opened[content, "team"] == 1
    shop.now += 6
    shop.refusal(f"{name}.team.svc")
    assert shop.opened[content, "team"] == 2
    shop.now += 6
    shop.refusal(f"{name}.team.svc")
    assert shop.opened[content, "team"] == 2, "ever later"
    shop.put(name, "tea@after")
    assert shop.packages(f"{name}.team.svc") == ["tea"], "other content is tried at once"


def test_a_catalog_follows_its_status(shop: Shop) -> None:
    shop.put("moves", "tea@1")
    assert shop.packages("moves.team.svc") == ["tea"]
    shop.put("moves", "cup@1")
    assert shop.packages("moves.team.svc") == ["cup"]
    shop.put("moves", "cup@1", service="moved")
    assert shop.refusal("moves.team.svc")[0] == Code.NOT_FOUND
    assert shop.packages("moved.team.svc") == ["cup"]
    shop.put("moves", "cup@1", service="")
    assert shop.refusal("moved.team.svc")[0] == Code.NOT_FOUND


def test_what_is_gone_is_served_no_longer(shop: Shop) -> None:
    found = Shop(shop.folder / "again")
    listed: set[tuple[str, str]] = set()
    found.sources.page([a_source("a", "tea@1"), a_source("b", "tea@1")], listed)
    found.put("c", "tea@1")
    found.sources.settle(listed)
    with many.running(found.sources, "127.0.0.1:0") as found.port:
        assert found.packages("a.team.svc") == ["tea"]
        assert found.refusal("c.team.svc")[0] == Code.NOT_FOUND
        found.sources.observe("DELETED", a_source("a", "tea@1"))
        found.sources.observe("DELETED", a_source("never", "tea@1"))
        assert found.refusal("a.team.svc")[0] == Code.NOT_FOUND
        assert found.packages("b.team.svc") == ["tea"]


def test_of_two_catalogs_with_one_service_one_is_served_and_the_other_takes_over(tmp_path: Path) -> None:
    shop = Shop(tmp_path)
    with many.running(shop.sources, "127.0.0.1:0") as shop.port:
        shop.put("a.b", "cup@1", service="a-b")
        shop.put("a-b", "tea@1", service="a-b")
        assert shop.packages("a-b.team.svc") == ["tea"], "the first name, in whatever order they came"
        shop.put("a.b", "many@1", service="a-b")
        assert shop.packages("a-b.team.svc") == ["tea"]
        assert shop.opened["tea@1", "team"] == 1
        shop.sources.observe("DELETED", a_source("a-b"))
        assert len(shop.packages("a-b.team.svc")) == 600
        shop.sources.observe("DELETED", a_source("a.b"))
        assert shop.refusal("a-b.team.svc")[0] == Code.NOT_FOUND


@pytest.mark.parametrize("error", [FileNotFoundError("forgotten"), BrokenSnapshot("torn")], ids=["gone", "damaged"])
def test_content_that_is_lost_is_read_again_for_the_next_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    shop = Shop(tmp_path)
    asked = GetBundleRequest(pkgName="cup", channelName="stable", csvName="cup.v1.0.0")
    with many.running(shop.sources, "127.0.0.1:0") as shop.port, shop.dialled("cup.team.svc") as channel:
        shop.put("cup", "cup@1")
        assert ask(channel, "GetBundle", asked).csvName == "cup.v1.0.0"
        monkeypatch.setattr(shop.sources.answers("cup.team.svc")._snapshot, "documents", Mock(side_effect=error))
        with pytest.raises(grpc.RpcError) as caught:
            ask(channel, "GetBundle", asked)
        assert caught.value.code() == Code.UNAVAILABLE
        assert ask(channel, "GetBundle", asked).csvName == "cup.v1.0.0"
        assert shop.opened["cup@1", "team"] == 2
        with pytest.raises(grpc.RpcError):
            ask(channel, "GetPackage", GetPackageRequest(name="nobody"))
        ask(channel, "ListPackages", ListPackageRequest())
        assert shop.opened["cup@1", "team"] == 2, "what is only not found is not lost"


def test_tenants_close_no_global_catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_sources, "MOST_CATALOGS", 1)
    shop = Shop(tmp_path)
    with many.running(shop.sources, "127.0.0.1:0") as shop.port:
        for name, namespace in (("tea", "olm"), ("tea", "team"), ("cup", "team")):
            shop.put(name, f"{name}@1", namespace=namespace)
            assert shop.packages(f"{name}.{namespace}.svc") == [name]
        shop.packages("tea.olm.svc")
        shop.packages("tea.team.svc")
        assert (shop.opened["tea@1", "olm"], shop.opened["tea@1", "team"]) == (1, 2)


def test_a_catalog_above_the_bound_is_answered_and_not_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(served_sources, "MOST_ENTRIES", 100)
    shop = Shop(tmp_path)
    shop.put("many", "many@1")
    shop.put("tea", "tea@1")
    with many.running(shop.sources, "127.0.0.1:0") as shop.port:
        assert shop.packages("tea.team.svc") == ["tea"]
        authority = "many.team.svc"
        first, again = shop.sources.answers(authority), shop.sources.answers(authority)
        assert again is first, "it is shared while it is used"
        del first, again
        gc.collect()
        wait_for(lambda: len(shop.packages(authority)) == 600 and shop.opened["many@1", "team"] > 1, "another read")
        assert shop.packages("tea.team.svc") == ["tea"]
        assert shop.opened["tea@1", "team"] == 1


def test_a_catalog_that_vanishes_in_the_middle_of_a_stream_is_reported_whole(shop: Shop) -> None:
    shop.put("vanishes", "many@1")
    with shop.dialled("vanishes.team.svc") as channel:
        stream = caller(channel, REGISTRY.methods_by_name["ListBundles"])(ListBundlesRequest(), timeout=60)
        first = next(stream)
        shop.sources.observe("DELETED", a_source("vanishes", "many@1"))
        assert first
        assert sum(1 for _ in stream) == 599
        with pytest.raises(grpc.RpcError) as caught:
            ask(channel, "ListPackages", ListPackageRequest())
        assert caught.value.code() == Code.NOT_FOUND


def test_a_slow_registry_holds_up_nobody_but_its_namespace(tmp_path: Path) -> None:
    shop = Shop(tmp_path, wait=0.2)
    with many.running(shop.sources, "127.0.0.1:0") as shop.port:
        shop.put("slow", "slow@1", namespace="slow")
        shop.put("beside", "tea@1", namespace="slow")
        shop.put("quick", "tea@1", namespace="elsewhere")
        for name in ("slow", "beside"):
            words = f"catalog slow/{name} is being read: ask again"
            assert shop.refusal(f"{name}.slow.svc") == (Code.UNAVAILABLE, words)
        shop.until("quick.elsewhere.svc", ["tea"])
        assert (shop.opened["slow@1", "slow"], shop.opened["tea@1", "slow"]) == (1, 0)
        shop.patience.set()
        shop.until("slow.slow.svc", ["cup"])
        shop.until("beside.slow.svc", ["tea"])


@contextmanager
def idle_stream(channel: grpc.Channel, *, first: bytes = b"", method: str = REFLECTION) -> Iterator[Any]:
    """A call that asks nothing but the `first` question, and does not end by itself."""
    ended = threading.Event()
    silent = channel.stream_stream(f"/{method}")
    call = silent(chain([first] if first else [], iter(ended.wait, True)), timeout=PATIENCE_SECONDS)
    try:
        yield call
    finally:
        call.cancel()
        ended.set()


def test_one_address_has_only_so_many_calls_at_a_time(shop: Shop) -> None:
    shop.put("held", "tea@1")
    other = Shop(shop.folder / "held")
    other.sources = shop.sources
    with many.running(shop.sources, "127.0.0.1:0", of_one=1, asking_seconds=PATIENCE_SECONDS) as other.port:
        with other.dialled("held.team.svc") as channel, idle_stream(channel, first=LIST_SERVICES) as call:
            next(call)  # why: it is under way
            wait_for(lambda: other.code("held.team.svc") == Code.RESOURCE_EXHAUSTED, "the refusal")
        other.until("held.team.svc", ["tea"])


@pytest.mark.parametrize("method", [REFLECTION, "api.Registry/GetPackage", "api.Registry/ListBundles"])
def test_who_asks_nothing_holds_no_thread(shop: Shop, method: str) -> None:
    other = Shop(shop.folder / f"silent-{method.rpartition('/')[2]}")
    with (
        many.running(shop.sources, "127.0.0.1:0", asking_seconds=0.1) as other.port,
        other.dialled("tea.team.svc") as channel,
        idle_stream(channel, method=method) as call,
        pytest.raises(grpc.RpcError) as caught,
    ):
        next(call)
    assert caught.value.code() == Code.CANCELLED


def test_no_stream_lasts_for_ever(shop: Shop, monkeypatch: pytest.MonkeyPatch) -> None:
    shop.put("endless", "tea@1")
    never = threading.Event()
    names = ("tea" for _ in iter(lambda: never.wait(0.01), True))
    monkeypatch.setattr(shop.sources.answers("endless.team.svc"), "_packages", names)
    other = Shop(shop.folder / "endless")
    with (
        many.running(shop.sources, "127.0.0.1:0", seconds=0.1) as other.port,
        other.dialled("endless.team.svc") as channel,
        pytest.raises(grpc.RpcError) as caught,
    ):
        ask(channel, "ListPackages", ListPackageRequest())
    assert caught.value.code() == Code.CANCELLED


def test_a_call_without_a_question_is_refused(shop: Shop) -> None:
    with shop.dialled("tea.team.svc") as channel, pytest.raises(grpc.RpcError) as caught:
        channel.stream_unary("/api.Registry/GetPackage")(iter(()), timeout=PATIENCE_SECONDS)
    assert caught.value.code() == Code.INVALID_ARGUMENT
