"""The registry API, asked by a client that knows only what reflection tells, through the library of its inventors."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeAlias

import grpc
import pytest
from google.protobuf import json_format
from google.protobuf.descriptor_pb2 import FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass
from google.protobuf.struct_pb2 import Struct
from grpc_reflection.v1alpha.proto_reflection_descriptor_database import ProtoReflectionDescriptorDatabase
from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.catalog_api.answers import Answers
from shared.adapters.catalog_api.errors import PortTakenError
from shared.adapters.catalog_api.server import running, server_of, struct_of
from shared.adapters.content.folders import snapshot_of
from shared.adapters.content.store import Store
from tests.kit.catalogs import POT, a_bundle, a_property, tea, written
from tests.kit.waiting import PATIENCE_SECONDS

Headers: TypeAlias = tuple[tuple[str, str], ...]


class Client:
    """Calls by name; messages are plain JSON values."""

    def __init__(self, channel: grpc.Channel) -> None:
        self._channel = channel
        self.database = ProtoReflectionDescriptorDatabase(channel)
        self._pool = DescriptorPool(self.database)

    def ask(self, call: str, metadata: Headers = (), **asked: str) -> Any:
        service, _, method = call.rpartition("/")
        found = self._pool.FindServiceByName(service).methods_by_name[method]
        request, response = GetMessageClass(found.input_type), GetMessageClass(found.output_type)
        make = self._channel.unary_stream if found.server_streaming else self._channel.unary_unary
        send = make(f"/{call}", request.SerializeToString, response.FromString)
        answer = send(request(**asked), metadata=metadata, timeout=PATIENCE_SECONDS)
        return list(map(_plain, answer)) if found.server_streaming else _plain(answer)

    def registry(self, method: str, **asked: str) -> Any:
        return self.ask(f"api.Registry/{method}", (), **asked)


def _plain(message: Any) -> Any:
    return json_format.MessageToDict(message)


def client_of(tmp_path: Path, *documents: dict[str, Any]) -> Iterator[Client]:
    snapshot = snapshot_of(written(tmp_path / "catalog", *documents), Store(tmp_path / "store"))
    with running(Answers(snapshot)) as port, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        yield Client(channel)


CUP: list[dict[str, Any]] = [
    {"schema": "olm.package", "name": "cup", "defaultChannel": "stable"},
    {"schema": "olm.channel", "package": "cup", "name": "stable", "entries": [{"name": "cup.v1.0.0"}]},
    {"schema": "olm.channel", "package": "cup", "name": "beta", "entries": [{"name": "cup.v2.0.0"}]},
    {**a_bundle("1.0.0", package="cup"), "image": ""},
    a_bundle("2.0.0", a_property("olm.gvk", {**POT, "kind": "Cup"}), package="cup"),
    {"schema": "my-schema", "package": "cup", "name": "a", "n": 1, "f": 1.5, "l": [True, None, {"x": "y"}]},
    {"schema": "my-schema", "package": "cup", "name": "b"},
    {"schema": "my-schema", "name": "of nobody"},
]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    yield from client_of(tmp_path, *tea(), *CUP)


def test_a_channel_without_a_head_reports_it(tmp_path: Path) -> None:
    circle = [{"name": "cup.v1.0.0", "replaces": "cup.v2.0.0"}, {"name": "cup.v2.0.0", "replaces": "cup.v1.0.0"}]
    channel = {"schema": "olm.channel", "package": "cup", "name": "stable", "entries": circle}
    documents = [CUP[0], channel, a_bundle("1.0.0", package="cup"), a_bundle("2.0.0", package="cup")]
    for client in client_of(tmp_path, *documents):
        with pytest.raises(grpc.RpcError) as caught:
            client.registry("GetBundleForChannel", pkgName="cup", channelName="stable")
        assert caught.value.details() == 'package "cup", channel "stable" has no head: its entries replace each other'


def test_the_services_are_reported_by_reflection(client: Client) -> None:
    assert client.database.get_services() == ["api.ExperimentalRegistry", "api.Registry", "grpc.health.v1.Health"]


def test_fbc_md_r355_list_packages(client: Client) -> None:
    assert client.registry("ListPackages") == [{"name": "cup"}, {"name": "tea"}]


def test_fbc_md_r356_get_package(client: Client) -> None:
    assert client.registry("GetPackage", name="tea") == {
        "name": "tea",
        "channels": [
            {"name": "fast", "csvName": "tea.v1.2.0", "deprecation": {"message": "use stable"}},
            {"name": "stable", "csvName": "tea.v1.2.0"},
        ],
        "defaultChannelName": "stable",
    }


def test_fbc_md_r358_get_bundle_has_content_and_no_edges(client: Client) -> None:
    bundle = client.registry("GetBundle", pkgName="tea", channelName="stable", csvName="tea.v1.2.0")
    assert json.loads(bundle["csvJson"])["spec"]["displayName"] == "Tea"
    assert bundle["object"] == [bundle["csvJson"]]
    assert bundle["providedApis"] == [POT]
    assert bundle["skipRange"] == ">=1.0.0 <1.2.0"
    assert "replaces" not in bundle


def test_fbc_md_r359_a_bundle_that_is_only_an_image(client: Client) -> None:
    bundle = client.registry("GetBundle", pkgName="tea", channelName="stable", csvName="tea.v1.1.0")
    assert bundle["bundlePath"] == "quay.io/acme/tea:v1.1.0"
    assert "csvJson" not in bundle
    assert "object" not in bundle


def test_fbc_md_r360_get_bundle_for_channel(client: Client) -> None:
    assert client.registry("GetBundleForChannel", pkgName="tea", channelName="stable")["csvName"] == "tea.v1.2.0"


def test_fbc_md_r361_who_replaces(client: Client) -> None:
    row = {"packageName": "tea", "channelName": "stable", "bundleName": "tea.v1.2.0", "replaces": "tea.v1.0.0"}
    assert client.registry("GetChannelEntriesThatReplace", csvName="tea.v1.1.0") == [row]


def test_fbc_md_r362_the_bundle_that_replaces(client: Client) -> None:
    asked = {"csvName": "tea.v1.0.0", "pkgName": "tea", "channelName": "stable"}
    assert client.registry("GetBundleThatReplaces", **asked)["csvName"] == "tea.v1.2.0"


def test_fbc_md_r363_r364_who_provides(client: Client) -> None:
    assert len(client.registry("GetChannelEntriesThatProvide", **POT)) == 4
    assert len(client.registry("GetLatestChannelEntriesThatProvide", **POT)) == 3


def test_fbc_md_r365_the_default_that_provides(client: Client) -> None:
    bundle = client.registry("GetDefaultBundleThatProvides", **POT)
    assert (bundle["csvName"], bundle["channelName"]) == ("tea.v1.2.0", "stable")


def test_fbc_md_r367_list_bundles_is_ordered_and_tells_edges(client: Client) -> None:
    listed = client.registry("ListBundles")
    assert [(one["channelName"], one["csvName"]) for one in listed] == [
        ("beta", "cup.v2.0.0"),
        ("fast", "tea.v1.2.0"),
        ("stable", "cup.v1.0.0"),
        ("stable", "tea.v1.0.0"),
        ("stable", "tea.v1.1.0"),
        ("stable", "tea.v1.2.0"),
    ]
    assert (listed[-1]["replaces"], listed[-1]["skips"]) == ("tea.v1.0.0", ["tea.v1.1.0"])
    assert "csvJson" not in listed[-1]


def test_fbc_md_r368_a_bundle_without_image_is_listed_with_its_content(tmp_path: Path) -> None:
    documents = [{**one, "image": ""} if one["schema"] == "olm.bundle" else one for one in tea()]
    for client in client_of(tmp_path, *documents):
        listed = client.registry("ListBundles")
        assert [bool(one.get("csvJson")) for one in listed if one["csvName"] == "tea.v1.2.0"] == [True, True]


@pytest.mark.parametrize(
    ("method", "asked", "text"),
    [
        pytest.param("GetPackage", {"name": "x"}, 'package "x" not found', id="fbc.md R369: package"),
        pytest.param(
            "GetBundle",
            {"pkgName": "tea", "channelName": "x"},
            'package "tea", channel "x" not found',
            id="R369: channel",
        ),
        pytest.param(
            "GetBundle",
            {"pkgName": "tea", "channelName": "fast", "csvName": "x"},
            'package "tea", channel "fast", bundle "x" not found',
            id="fbc.md R369: bundle",
        ),
        pytest.param(
            "GetChannelEntriesThatReplace",
            {"csvName": "x"},
            "no channel entries found that replace x",
            id="fbc.md R369: nobody replaces",
        ),
        pytest.param(
            "GetBundleThatReplaces", {"pkgName": "x"}, "package x not found", id="fbc.md R369: without quotes"
        ),
        pytest.param(
            "GetBundleThatReplaces",
            {"pkgName": "tea", "channelName": "fast", "csvName": "x"},
            'no entry found for package "tea", channel "fast"',
            id="fbc.md R369: no successor",
        ),
        pytest.param(
            "GetLatestChannelEntriesThatProvide",
            {"group": "g", "version": "v", "kind": "k"},
            'no channel entries found that provide group:"g" version:"v" kind:"k"',
            id="fbc.md R369: nobody provides",
        ),
        pytest.param(
            "GetDefaultBundleThatProvides",
            {**POT, "kind": "Cup"},
            'no entry found that provides group:"tea.io" version:"v1" kind:"Cup"',
            id="fbc.md R366: only outside of default channels",
        ),
    ],
)
def test_what_is_not_found_is_reported_in_known_words(
    client: Client, method: str, asked: dict[str, str], text: str
) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.registry(method, **asked)
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.UNKNOWN, text)


def test_fbc_md_r379_two_metadata_are_refused_when_they_are_asked_for(tmp_path: Path) -> None:
    twice = [a_property("olm.csv.metadata", {"displayName": "Tea"})] * 2
    documents = [*tea()[:1], {**tea()[2], "name": "stable"}, a_bundle("1.2.0", *twice)]
    for client in client_of(tmp_path, *documents):
        with pytest.raises(grpc.RpcError) as caught:
            client.registry("GetBundleForChannel", pkgName="tea", channelName="stable")
        assert "expected at most 1 property" in caught.value.details()


ACKNOWLEDGED = (("x-acknowledge-experimental", "true"),)
_CUSTOM = "api.ExperimentalRegistry/ExperimentalListPackageCustomSchemas"


def test_fbc_md_r370_custom_schemas_of_a_package(client: Client) -> None:
    first, second = client.ask(_CUSTOM, ACKNOWLEDGED, schema="my-schema", packageName="cup")
    assert first == {
        "schema": "my-schema", "package": "cup", "name": "a", "n": 1.0, "f": 1.5, "l": [True, None, {"x": "y"}],
    }  # fmt: skip
    assert second["name"] == "b"


@pytest.mark.parametrize(
    ("asked", "count"),
    [
        pytest.param({"schema": "my-schema", "packageName": "tea"}, 0, id="fbc.md R371: another package"),
        pytest.param({"schema": "other", "packageName": "cup"}, 0, id="fbc.md R371: another schema"),
        pytest.param({"schema": "my-schema"}, 1, id="fbc.md R373: of no package"),
        pytest.param({"schema": "olm.bundle", "packageName": "tea"}, 0, id="fbc.md 15.4: never the core schemas"),
    ],
)
def test_custom_schemas_are_found_by_both_words(client: Client, asked: dict[str, str], count: int) -> None:
    assert len(client.ask(_CUSTOM, ACKNOWLEDGED, **asked)) == count


def test_fbc_md_r374_without_the_header_there_is_nothing(client: Client) -> None:
    assert client.ask(_CUSTOM, schema="my-schema", packageName="cup") == []
    assert client.ask(_CUSTOM, (("x-acknowledge-experimental", "yes"), *ACKNOWLEDGED), schema="my-schema") == []


_BAD = (
    "foo/bar",
    "foo\\bar",
    "..",
    "../foo",
    "..foo",
    ".",
    ".hidden",
    "-flag",
    "_private",
    "v1+beta",
    "custom:v1",
    "a b",
)


@pytest.mark.parametrize("name", [pytest.param(name, id=f"fbc.md R376: {name}") for name in _BAD])
def test_names_that_are_none(client: Client, name: str) -> None:
    for asked, what in (({"schema": name}, "schema"), ({"schema": "a", "packageName": name}, "packageName")):
        with pytest.raises(grpc.RpcError) as caught:
            client.ask(_CUSTOM, ACKNOWLEDGED, **asked)
        assert caught.value.code() == grpc.StatusCode.INVALID_ARGUMENT
        assert caught.value.details().startswith(f"invalid custom schema query: invalid {what} ")


@pytest.mark.parametrize("name", ["my-schema", "custom.operator.io", "foo..", "my_schema", "123"])
def test_fbc_md_r377_names_that_are_fine(client: Client, name: str) -> None:
    assert isinstance(client.ask(_CUSTOM, ACKNOWLEDGED, schema=name), list)


def test_fbc_md_r372_a_schema_is_required(client: Client) -> None:
    with pytest.raises(grpc.RpcError) as caught:
        client.ask(_CUSTOM, ACKNOWLEDGED)
    assert (caught.value.code(), caught.value.details()) == (grpc.StatusCode.INVALID_ARGUMENT, "schema is required")


def test_fbc_md_r393_health(client: Client) -> None:
    assert client.ask("grpc.health.v1.Health/Check", service="whatever") == {"status": "SERVING"}
    with pytest.raises(grpc.RpcError) as caught:
        client.ask("grpc.health.v1.Health/Watch", service="whatever")
    assert caught.value.code() == grpc.StatusCode.UNIMPLEMENTED


def test_reflection_answers_those_who_ask_its_first_version(tmp_path: Path) -> None:
    answers = Answers(snapshot_of(written(tmp_path / "catalog"), Store(tmp_path / "store")))
    with running(answers) as port, grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        send = channel.stream_stream(
            "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
            ServerReflectionRequest.SerializeToString,
            ServerReflectionResponse.FromString,
        )
        asked = [
            ServerReflectionRequest(list_services=""),
            ServerReflectionRequest(file_containing_symbol="api.Bundle"),
        ]
        listed, file = send(iter(asked), timeout=PATIENCE_SECONDS)
    names = [one.name for one in listed.list_services_response.service]
    assert names == ["api.ExperimentalRegistry", "api.Registry", "grpc.health.v1.Health"]
    described = map(FileDescriptorProto.FromString, file.file_descriptor_response.file_descriptor_proto)
    assert {one.package for one in described} == {"api", "google.protobuf"}


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), _JSON, max_size=4))
def test_a_struct_holds_any_document(value: dict[str, Any]) -> None:
    assert json_format.MessageToDict(Struct.FromString(struct_of(value).SerializeToString())) == value


def test_what_reflection_does_not_know(client: Client) -> None:
    with pytest.raises(KeyError):
        client.database.FindFileByName("none.proto")
    with pytest.raises(KeyError):
        client.database.FindFileContainingSymbol("none.Message")


def test_a_broken_package_is_left_out_and_its_siblings_are_served(tmp_path: Path) -> None:
    snapshot = snapshot_of(written(tmp_path / "catalog", *tea(), CUP[1]), Store(tmp_path / "store"))
    answers = Answers(snapshot)
    assert list(answers.sick) == ["cup"]
    assert list(answers.list_packages({})) == [{"name": "tea"}]


def test_a_port_that_is_taken_is_reported(tmp_path: Path) -> None:
    answers = Answers(snapshot_of(written(tmp_path / "catalog"), Store(tmp_path / "store")))
    with running(answers) as port, pytest.raises(PortTakenError):
        server_of(answers, f"127.0.0.1:{port}")
