"""Where pulls do not go, whatever a name, a redirect or a challenge says."""

from __future__ import annotations

import json
from collections.abc import Iterator
from ipaddress import ip_address

import pytest

from shared.adapters.oci.addresses import AddressRules, Entry, guessed_networks
from shared.adapters.oci.credentials import Credentials, Login
from shared.adapters.oci.dialing import Dial, RefusedAddress
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import in_memory, pull
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport
from tests.kit.image_registry import Answer, Request, ScriptedRegistry, a_file, a_layer, scripted_registry

_CLUSTER = AddressRules.parse((), ("10.96.0.0/12", "fd00:1::/64"), [("203.0.113.9", 6443)])
_HERE = AddressRules.parse(["127.0.0.0/8"])


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


@pytest.fixture
def other() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def refusal(registry: ScriptedRegistry, rules: AddressRules, credentials: Credentials | None = None) -> OciError:
    client = Registry(Transport(backoff_seconds=0.001, rules=rules), credentials or Credentials())
    with pytest.raises(OciError) as caught:
        pull(client, Reference.parse(f"{registry.address}/tea:1"), lambda _: ("",), in_memory)
    return caught.value


@pytest.mark.parametrize(
    ("address", "why"),
    [
        pytest.param("8.8.8.8", "", id="a public address"),
        pytest.param("10.1.2.3", "", id="a private network, where companies have their registries"),
        pytest.param("192.168.1.1", "", id="another private network"),
        pytest.param("127.0.0.1", "is this machine", id="loopback"),
        pytest.param("127.9.9.9", "is this machine", id="loopback, another address"),
        pytest.param("0.0.0.0", "means this machine", id="unspecified"),
        pytest.param("::", "means this machine", id="unspecified in IPv6"),
        pytest.param("::1", "is this machine", id="loopback in IPv6"),
        pytest.param("::ffff:127.0.0.1", "is this machine", id="loopback inside of IPv6"),
        pytest.param("64:ff9b::7f00:1", "is this machine", id="loopback behind a translator"),
        pytest.param("2002:7f00:1::", "is this machine", id="loopback in 6to4"),
        pytest.param("169.254.169.254", "is link-local", id="the metadata service of clouds"),
        pytest.param("fe80::1", "is link-local", id="link-local in IPv6"),
        pytest.param("fd00:ec2::254", "is the metadata service of a cloud", id="metadata in IPv6"),
        pytest.param("224.0.0.1", "is multicast", id="multicast"),
        pytest.param("255.255.255.255", "is reserved", id="broadcast"),
        pytest.param("10.96.0.1", "belongs to this cluster", id="a Service"),
        pytest.param("fd00:1::7", "belongs to this cluster", id="a Service in IPv6"),
        pytest.param("::ffff:10.96.0.1", "belongs to this cluster", id="a Service inside of IPv6"),
    ],
)
def test_addresses(address: str, why: str) -> None:
    assert _CLUSTER.why_not("registry.example", 443, ip_address(address)) == why


def test_the_api_server_is_refused_also_inside_of_an_allowed_network() -> None:
    rules = AddressRules.parse(["203.0.113.0/24"], (), [("203.0.113.9", 6443)])
    assert rules.why_not("a.example", 6443, ip_address("203.0.113.9")) == "is the API server or Redis"
    assert rules.why_not("a.example", 443, ip_address("203.0.113.9")) == ""
    named = AddressRules.parse(["203.0.113.9:6443"], (), [("203.0.113.9", 6443)])
    assert named.why_not("a.example", 6443, ip_address("203.0.113.9")) == ""


def test_a_server_of_the_registry_api_may_be_a_service_of_the_cluster() -> None:
    assert _CLUSTER.why_not("cat.olm.svc", 50051, ip_address("10.96.3.4"), is_server=True) == ""
    assert _CLUSTER.why_not("cat.olm.svc", 50051, ip_address("127.0.0.1"), is_server=True) == "is this machine"


@pytest.mark.parametrize(
    ("entry", "host", "port", "is_allowed"),
    [
        ("127.0.0.1", "127.0.0.1", 5000, True),
        ("127.0.0.1:5000", "127.0.0.1", 5000, True),
        ("127.0.0.1:5000", "127.0.0.1", 5001, False),
        ("[::1]:5000", "::1", 5000, True),
        ("::1", "[::1]", 5000, True),
        ("127.0.0.0/8", "127.1.1.1", 1, True),
        ("registry.example", "registry.example", 443, True),
        ("Registry.example:5000", "registry.example", 5000, True),
        ("registry.example:5000", "registry.example", 443, False),
        ("*.example", "a.b.example", 443, True),
        ("*.example", "example", 443, False),
        ("*.example", "notexample", 443, False),
    ],
)
def test_what_is_allowed(entry: str, host: str, port: int, is_allowed: bool) -> None:
    address = ip_address(host.strip("[]")) if ":" in host or host[0].isdigit() else ip_address("127.0.0.1")
    assert (AddressRules.parse([entry]).why_not(host, port, address) == "") == is_allowed


@pytest.mark.parametrize("text", ["", "a b", "10.0.0.0/99", "http://x", "a/b", "x:99999999"])
def test_a_setting_that_is_no_address_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="is no address of a registry"):
        Entry.parse(text)


def test_in_a_pod_the_networks_of_the_cluster_are_guessed() -> None:
    rules = AddressRules.parse((), guessed_networks({"KUBERNETES_SERVICE_HOST": "10.96.0.1"}, "10.244.0.7"))
    refused = {text for text in ("10.96.200.1", "10.244.0.200", "10.244.0.1", "10.97.0.1", "10.244.1.9")
               if rules.why_not("a", 443, ip_address(text))}  # fmt: skip
    assert refused == {"10.96.200.1", "10.244.0.200"}
    assert list(guessed_networks({}, "10.244.0.7")) == []
    assert "fd00:5::/112" in list(guessed_networks({"KUBERNETES_SERVICE_HOST": "fd00:5::1"}, "fd00:6::8"))


def test_this_machine_is_not_reached_through_an_image_name(registry: ScriptedRegistry) -> None:
    error = refusal(registry, AddressRules())
    assert error.reason == "Blocked"
    assert "which is this machine: pulls do not go there" in error.message
    assert "OLMF_ALLOWED_REGISTRY_ADDRESSES" in error.message
    assert registry.requests == []


def test_a_name_that_leads_to_this_machine_is_refused_by_its_address(registry: ScriptedRegistry) -> None:
    registry.address = registry.address.replace("127.0.0.1", "localhost")
    assert refusal(registry, AddressRules()).reason == "Blocked"
    registry.put("tea", "1", [])
    pull(Registry(Transport(rules=_HERE)), Reference.parse(f"{registry.address}/tea:1"), lambda _: ("",), in_memory)


def test_a_manifest_is_not_fetched_from_where_a_redirect_leads(
    registry: ScriptedRegistry, other: ScriptedRegistry
) -> None:
    registry.gate = lambda request: Answer(status=302, headers={"Location": f"http://{other.address}{request.path}"})
    other.put("tea", "1", [])
    error = refusal(registry, _HERE)
    assert error.reason == "Blocked"
    assert f"{registry.address} redirects us to {other.address}" in error.message
    assert other.requests == []


def test_a_redirect_to_a_host_that_the_administrator_names_is_followed(
    registry: ScriptedRegistry, other: ScriptedRegistry
) -> None:
    registry.gate = lambda request: Answer(status=302, headers={"Location": f"http://localhost:{port}{request.path}"})
    port = other.address.partition(":")[2]
    other.put("tea", "1", [a_layer(a_file("a", b"A"))])
    rules = AddressRules.parse(["127.0.0.0/8", f"localhost:{port}"])
    image = pull(
        Registry(Transport(rules=rules)), Reference.parse(f"{registry.address}/tea:1"), lambda _: ("",), in_memory
    )
    assert image.files == {"a": b"A"}


@pytest.mark.parametrize(
    ("follow", "target", "is_followed"),
    [
        pytest.param("any", "https://cdn.example/blob", True, id="a blob from another host"),
        pytest.param("any", "http://cdn.example/blob", False, id="a blob in plain text"),
        pytest.param("same", "https://cdn.example/manifest", False, id="a manifest from another host"),
        pytest.param("same", "https://quay.io:8443/manifest", True, id="a manifest from another port of the host"),
    ],
)
def test_blobs_may_come_from_other_hosts_by_https(follow: str, target: str, is_followed: bool) -> None:
    def judge() -> None:
        transport = Transport(rules=AddressRules())
        transport._check_redirect("https://quay.io/x", target, "quay.io/x:1", follow=follow)  # type: ignore[arg-type]

    if is_followed:
        judge()
    else:
        with pytest.raises(OciError, match="which is not followed"):
            judge()


def test_an_answer_of_an_internal_server_is_no_token(registry: ScriptedRegistry, other: ScriptedRegistry) -> None:
    other.answers["/internal/token"] = Answer(json.dumps({"token": "INTERNAL"}).encode())

    def gate(request: Request) -> Answer | None:
        if request.authorization:
            return None
        challenge = f'Bearer realm="http://{other.address}/internal/token"'
        return Answer(status=401, headers={"WWW-Authenticate": challenge})

    registry.gate = gate
    error = refusal(registry, _HERE)
    assert error.reason == "Unauthorized"
    assert other.requests == []
    assert not [one for one in registry.requests if one.authorization]


@pytest.mark.parametrize(("is_known", "sent"), [(False, ""), (True, Login("me", "secret").basic)])
def test_a_login_goes_only_to_a_token_service_that_it_names_or_the_registry_proves(
    registry: ScriptedRegistry, other: ScriptedRegistry, is_known: bool, sent: str
) -> None:
    me = Login("me", "secret")
    port = other.address.partition(":")[2]
    other.answers["/token"] = Answer(b'{"token": "T"}')
    realm = f'Bearer realm="http://localhost:{port}/token"'
    registry.gate = lambda one: None if one.authorization else Answer(status=401, headers={"WWW-Authenticate": realm})
    logins = {registry.address: me} | ({f"localhost:{port}": me} if is_known else {})
    refusal(registry, AddressRules.parse(["127.0.0.0/8", f"localhost:{port}"]), Credentials(logins))
    assert {request.authorization for request in other.requests} == {sent}


@pytest.mark.parametrize(
    ("host", "address", "is_refused"),
    [
        pytest.param("cdn.example", "10.0.0.5", True, id="a private network"),
        pytest.param("cdn.example", "8.8.4.4", False, id="a public one"),
        pytest.param("minio.corp.example", "10.0.0.5", False, id="a host that is named in the setting"),
    ],
)
def test_from_a_public_network_nobody_sends_us_into_a_private_one(host: str, address: str, is_refused: bool) -> None:
    dial = Dial(AddressRules.parse(["minio.corp.example"]), {}, must_be_public=True)
    found = [(2, ip_address(address))]
    if is_refused:
        with pytest.raises(RefusedAddress, match="while a host in a public one leads there"):
            dial._allowed(host, 443, found)  # type: ignore[arg-type]
    else:
        assert dial._allowed(host, 443, found) == found  # type: ignore[arg-type]


@pytest.mark.parametrize("addresses", [("8.8.4.4", "10.0.0.5"), ("10.0.0.5", "8.8.4.4")])
def test_a_name_that_leads_to_both_is_one_in_a_public_network(addresses: tuple[str, ...]) -> None:
    dial = Dial(AddressRules(), {})
    for address in addresses:
        dial._remember("evil.example", ip_address(address))
    assert dial.private == {"evil.example": False}


def test_a_registry_in_a_public_network_is_remembered_as_such() -> None:
    transport = Transport(rules=AddressRules())
    transport._private.update({"quay.io": False, "harbor.corp": True})
    assert transport._is_public("https://quay.io/", "https://token.corp/t")
    assert not transport._is_public("https://quay.io/", "https://quay.io/t")
    assert not transport._is_public("https://harbor.corp/", "https://token.corp/t")


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "redis", "redis.olm.svc", "x.cluster.local", "10.96.0.1"])
def test_what_a_proxy_would_be_asked_for_is_judged_by_its_name(host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _CLUSTER.why_not_by_name(host, 443)
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    if host not in ("127.0.0.1", "localhost"):  # those never go through a proxy
        with pytest.raises(OciError, match="pulls do not go there"):
            Transport(rules=_CLUSTER).request("GET", f"https://{host}/v2/", {}, "x")


def test_names_outside_may_go_through_a_proxy() -> None:
    assert _CLUSTER.why_not_by_name("quay.io", 443) == ""
    assert AddressRules.parse(["registry.olm.svc"]).why_not_by_name("registry.olm.svc", 443) == ""
