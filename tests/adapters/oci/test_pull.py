from __future__ import annotations

import gzip
import io
import json
import tarfile
import time
import tracemalloc
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pytest
from urllib3 import HTTPResponse
from urllib3.connection import HTTPConnection
from urllib3.connectionpool import HTTPConnectionPool
from urllib3.exceptions import MaxRetryError, NameResolutionError, SSLError

from shared.adapters.oci.authorization import Authorizer
from shared.adapters.oci.credentials import ANONYMOUS, Credentials, Login
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.exchange import Exchange
from shared.adapters.oci.image import Image, in_memory, pull
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.mirrors import Location
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.registry import Registry
from shared.adapters.oci.transport import Transport, unreachable
from tests.kit.image_registry import (
    Answer,
    Entry,
    Request,
    ScriptedRegistry,
    a_device,
    a_file,
    a_layer,
    a_link,
    digest_of,
    in_zstd,
    scripted_registry,
)

_FAST = Transport(backoff_seconds=0.001)


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    with scripted_registry() as scripted:
        yield scripted


def pulled(
    registry: ScriptedRegistry, tag: str = "1", *, credentials: Credentials = ANONYMOUS, limits: Limits | None = None
) -> Image[bytes]:
    client = Registry(replace(_FAST), credentials, limits)
    reference = Reference.parse(f"{registry.address}/tea:{tag}")
    return pull(client, reference, lambda _: ("manifests",), in_memory)


def refusal(registry: ScriptedRegistry, **how: Any) -> OciError:
    with pytest.raises(OciError) as caught:
        pulled(registry, **how)
    assert f"{registry.address}/tea" in caught.value.message
    return caught.value


def test_an_image_has_labels_and_the_files_below_the_chosen_directories(registry: ScriptedRegistry) -> None:
    digest = registry.put("tea", "1", [a_layer(a_file("manifests/a", b"A"), a_file("etc/passwd", b"x"))], {"l": "v"})
    image = pulled(registry)
    assert image.files == {"manifests/a": b"A"}
    assert image.labels == {"l": "v"}
    assert str(image.reference) == f"{registry.address}/tea@{digest}"


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(a_layer(a_file("./manifests/a", b"A")), id="in gzip"),
        pytest.param(a_layer(a_file("manifests/a", b"A"), compressed=False), id="not compressed"),
        pytest.param(in_zstd(a_layer(a_file("manifests/a", b"A"), compressed=False)), id="in zstd"),
    ],
)
def test_layers_may_be_compressed_or_not(registry: ScriptedRegistry, layer: bytes) -> None:
    registry.put("tea", "1", [layer])
    assert pulled(registry).files == {"manifests/a": b"A"}


@pytest.mark.parametrize("cut", [5, 40, -1])
def test_a_broken_layer_in_zstd_is_no_archive(registry: ScriptedRegistry, cut: int) -> None:
    registry.put("tea", "1", [in_zstd(a_layer(a_file("manifests/a", b"A" * 5000), compressed=False))[:cut]])
    assert refusal(registry).reason == "Malformed"


def test_a_layer_in_zstd_may_not_unpack_to_any_size(registry: ScriptedRegistry) -> None:
    registry.put("tea", "1", [in_zstd(a_layer(a_file("manifests/a", b"A" * 500_000), compressed=False))])
    assert refusal(registry, limits=Limits(unpacked_bytes=100_000)).reason == "TooLarge"


def test_of_an_index_the_image_of_our_platform_is_taken(registry: ScriptedRegistry) -> None:
    digests = {}
    for machine in ("arm64", "amd64"):
        digests[machine] = registry.put("tea", machine, [a_layer(a_file("manifests/a", machine.encode()))])
    entries: list[dict[str, Any]] = [
        {"digest": digest, "size": 1, "platform": {"os": "linux", "architecture": machine}}
        for machine, digest in digests.items()
    ]
    index = registry.manifest("tea", "1", {"schemaVersion": 2, "manifests": entries})
    image = pulled(registry)
    assert image.files == {"manifests/a": b"amd64"}
    assert image.reference.digest == index


def test_an_index_without_linux_or_of_indexes_is_refused(registry: ScriptedRegistry) -> None:
    windows = {"digest": digest_of(b""), "size": 1, "platform": {"os": "windows", "architecture": "amd64"}}
    inner = registry.manifest("tea", "1", {"schemaVersion": 2, "manifests": [windows]})
    assert "names no image for linux/amd64" in refusal(registry).message
    registry.manifest("tea", "2", {"schemaVersion": 2, "manifests": [{"digest": inner, "size": 1}]})
    assert "holds another index" in refusal(registry, tag="2").message


@pytest.mark.parametrize(
    ("above", "left"),
    [
        pytest.param([a_file("manifests/.wh.a")], {"manifests/d/c"}, id="a whiteout hides a file"),
        pytest.param([a_file("manifests/.wh.d")], {"manifests/a"}, id="a whiteout hides a directory"),
        pytest.param([a_file(".wh.manifests")], set(), id="a whiteout hides all"),
        pytest.param(
            [a_file("manifests/new"), a_file("manifests/.wh..wh..opq")], {"manifests/new"}, id="an opaque directory"
        ),
        pytest.param(
            [a_file("manifests/.wh.a"), a_file("manifests/a")], {"manifests/a", "manifests/d/c"}, id="re-made"
        ),
    ],
)
def test_upper_layers_hide_what_lies_below(registry: ScriptedRegistry, above: list[Entry], left: set[str]) -> None:
    registry.put("tea", "1", [a_layer(a_file("manifests/a"), a_file("manifests/d/c")), a_layer(*above)])
    assert set(pulled(registry).files) == left


def test_links_inside_are_followed(registry: ScriptedRegistry) -> None:
    registry.put(
        "tea",
        "1",
        [
            a_layer(
                a_file("manifests/a", b"A"),
                a_link("manifests/b", "a"),
                a_link("manifests/c", "/manifests/b"),
                a_link("manifests/d", "manifests/a", hard=True),
                a_link("elsewhere", "../../etc/passwd"),
            )
        ],
    )
    assert pulled(registry).files == {f"manifests/{name}": b"A" for name in "abcd"}


@pytest.mark.parametrize(
    ("entry", "words"),
    [
        pytest.param(a_file("../evil"), "'../evil', which points outside", id="issue 3 §3: ../"),
        pytest.param(a_file("manifests/../../evil"), "points outside", id="issue 3 §3: ../ in the middle"),
        pytest.param(a_file("/manifests/evil"), "points outside", id="issue 3 §3: an absolute path"),
        pytest.param(a_link("manifests/x", "../../etc/passwd"), "points outside", id="issue 3 §3: a link that climbs"),
        pytest.param(a_link("manifests/x", "/etc/passwd"), "leads out of manifests", id="issue 3 §3: a link out"),
        pytest.param(a_link("manifests/x", "x"), "in a circle", id="a link to itself"),
        pytest.param(a_link("manifests/x", "../e", hard=True), "points outside", id="a hard link that climbs"),
        pytest.param(a_link("manifests/x", "etc/passwd", hard=True), "leads out", id="a hard link out"),
        pytest.param(a_device("manifests/null"), "is a device", id="a device"),
    ],
)
def test_nothing_points_outside(registry: ScriptedRegistry, entry: Entry, words: str) -> None:
    registry.put("tea", "1", [a_layer(a_file("manifests/a"), entry)])
    error = refusal(registry)
    assert error.reason == "Malformed"
    assert words in error.message


def test_issue_3_3_a_registry_that_lies_about_a_blob_is_found_out(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_file("manifests/a", b"A"))
    registry.put("tea", "1", [layer])
    registry.answers[f"/v2/tea/blobs/{digest_of(layer)}"].body = bytes(reversed(layer))
    assert refusal(registry).reason == "DigestMismatch"


def test_issue_3_3_a_registry_that_lies_about_a_manifest_is_found_out(registry: ScriptedRegistry) -> None:
    digest = registry.put("tea", "1", [a_layer(a_file("manifests/a"))])
    registry.answers[f"/v2/tea/manifests/{digest}"].body = b'{"schemaVersion": 2}'
    with pytest.raises(OciError) as caught:
        Registry(replace(_FAST)).manifest(Reference.parse(f"{registry.address}/tea@{digest}"))
    assert caught.value.reason == "DigestMismatch"


def test_a_body_longer_than_stated_is_cut_off(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_file("manifests/a"))
    registry.put("tea", "1", [layer])
    registry.answers[f"/v2/tea/blobs/{digest_of(layer)}"].body = layer + b"more"
    assert refusal(registry).reason == "TooLarge"


def test_issue_3_3_a_layer_of_3_gb_is_refused_before_it_is_asked_for(registry: ScriptedRegistry) -> None:
    huge: dict[str, Any] = {"digest": digest_of(b"huge"), "size": 3 * 1024**3}
    registry.manifest("tea", "1", {"schemaVersion": 2, "config": registry.blob("tea", b"{}"), "layers": [huge]})
    error = refusal(registry)
    assert error.reason == "TooLarge"
    assert str(3 * 1024**3) in error.message
    assert not any(huge["digest"] in request.path for request in registry.requests)


@pytest.mark.parametrize(
    ("limits", "entries"),
    [
        pytest.param(Limits(unpacked_bytes=100_000), [a_file("other", b"\0" * 10_000_000)], id="a compression bomb"),
        pytest.param(Limits(kept_bytes=10), [a_file("manifests/a", b"x" * 11)], id="too many bytes"),
        pytest.param(Limits(files=1), [a_file("manifests/a"), a_file("manifests/b")], id="too many files"),
        pytest.param(Limits(manifest_bytes=100), [a_file("manifests/a")], id="a large manifest"),
        pytest.param(Limits(depth=2), [a_file("manifests/a/b/c")], id="a deep path"),
        pytest.param(Limits(names_bytes=20), [a_file("manifests/a/b/c")], id="folders with long paths"),
        pytest.param(Limits(names_bytes=20), [a_link("manifests/a", "manifests/bcd")], id="a link with a long target"),
    ],
)
def test_every_size_is_bounded(registry: ScriptedRegistry, limits: Limits, entries: list[Entry]) -> None:
    registry.put("tea", "1", [a_layer(*entries)])
    assert refusal(registry, limits=limits).reason == "TooLarge"


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param({"schemaVersion": 1, "fsLayers": []}, id="the first manifest version"),
        pytest.param({"schemaVersion": 2, "config": 3, "layers": []}, id="a configuration without digest"),
        pytest.param({"schemaVersion": 2, "config": {"digest": "md5:x", "size": 1}, "layers": []}, id="an old digest"),
        pytest.param({"manifests": [{"digest": "../../x", "size": 1}]}, id="an index with a path for a digest"),
        pytest.param({"manifests": None}, id="an empty index"),
        pytest.param({"manifests": 3}, id="an index that is a number"),
        pytest.param({"manifests": [3, {"platform": "linux", "digest": 3}]}, id="an index of the wrong types"),
        pytest.param({"schemaVersion": 2, "config": {}, "layers": {}}, id="no list of layers"),
    ],
)
def test_a_manifest_that_is_none_is_refused(registry: ScriptedRegistry, manifest: dict[str, Any]) -> None:
    registry.manifest("tea", "1", manifest)
    assert refusal(registry).reason == "Malformed"


@pytest.mark.parametrize(
    "layer",
    [
        b"no archive at all, but long enough to be one" * 20,
        gzip.compress(b"neither" * 200),
        a_layer(a_file("manifests/a", bytes(range(256)) * 9))[:150],
    ],
    ids=["text", "compressed text", "cut off"],
)
def test_a_layer_that_is_no_archive_is_refused(registry: ScriptedRegistry, layer: bytes) -> None:
    registry.put("tea", "1", [layer])
    assert refusal(registry).reason == "Malformed"


def test_issue_3_3_an_image_that_does_not_exist_reports_it(registry: ScriptedRegistry) -> None:
    error = refusal(registry)
    assert error.reason == "NotFound"
    assert "check its name and tag" in error.message


def _locked(scheme: str, opens: str) -> Any:
    def gate(request: Request) -> Answer | None:
        if request.path.startswith("/token") or request.authorization == opens:
            return None
        return Answer(status=401, headers={"WWW-Authenticate": scheme})

    return gate


_ME = Login("me", "secret")


def test_issue_3_3_a_registry_that_answers_401_says_what_to_do(registry: ScriptedRegistry) -> None:
    registry.put("tea", "1", [])
    registry.gate = _locked("Basic realm=x", "never")
    anonymous = refusal(registry)
    assert anonymous.reason == "Unauthorized"
    assert "without a login" in anonymous.message
    assert "spec.secrets" in anonymous.message
    wrong = refusal(registry, credentials=Credentials({registry.address: _ME}))
    assert "as 'me'" in wrong.message


def test_a_login_opens_a_registry_that_asks_for_it(registry: ScriptedRegistry) -> None:
    registry.put("tea", "1", [])
    registry.gate = _locked("Basic realm=x", _ME.basic)
    assert pulled(registry, credentials=Credentials({registry.address: _ME})).files == {}


@pytest.mark.parametrize("login", [None, _ME], ids=["anonymous", "with a login"])
def test_a_token_is_bought_once(registry: ScriptedRegistry, login: Login | None) -> None:
    registry.put("tea", "1", [])
    registry.answers["/token"] = Answer(json.dumps({"token": "T"}).encode())
    challenge = f'Bearer realm="http://{registry.address}/token",service="s",scope="repository:tea:pull"'
    registry.gate = _locked(challenge, "Bearer T")
    pulled(registry, credentials=Credentials({registry.address: login} if login else {}))
    (bought,) = [request for request in registry.requests if request.path.startswith("/token")]
    assert bought.path == "/token?scope=repository%3Atea%3Apull&service=s"
    assert bought.authorization == (login.basic if login else "")


@pytest.mark.parametrize("answer", [b"{}", b"no JSON", b'{"token": 3}', rb'{"token": "s3cr\net"}'])
def test_a_token_service_without_a_token_is_reported(registry: ScriptedRegistry, answer: bytes) -> None:
    registry.put("tea", "1", [])
    registry.answers["/token"] = Answer(answer)
    registry.gate = _locked(f'Bearer realm="http://{registry.address}/token"', "Bearer T")
    error = refusal(registry)
    assert error.reason == "Unauthorized"
    assert "s3cr" not in error.message


@pytest.mark.parametrize(
    ("realm", "reason"),
    [
        ("http://[", "Unreachable"),
        ("http://127.0.0.1:x/", "Unreachable"),
        ("file:///etc/passwd", "Unauthorized"),
        ("", "Unauthorized"),
    ],
)
def test_a_challenge_that_leads_nowhere_is_reported(registry: ScriptedRegistry, realm: str, reason: str) -> None:
    registry.gate = _locked(f'Bearer realm="{realm}"', "never")
    assert refusal(registry).reason == reason


def test_a_redirect_that_leads_nowhere_is_reported(registry: ScriptedRegistry) -> None:
    registry.gate = lambda _: Answer(status=302, headers={"Location": "http://["})
    assert refusal(registry).reason == "Unreachable"


def test_a_registry_that_redirects_for_ever_is_reported(registry: ScriptedRegistry) -> None:
    registry.gate = lambda request: Answer(status=302, headers={"Location": request.path})
    error = refusal(registry)
    assert error.reason == "Unreachable"
    assert "redirects more than" in error.message


def test_a_login_is_never_sent_in_the_clear_to_another_machine() -> None:
    authorizer = Authorizer(Credentials({"quay.io": _ME}))
    with pytest.raises(OciError, match="wanted https"):
        authorizer.answer(Location(Reference.parse("quay.io/a")), 'Bearer realm="http://quay.io/token"', replace(_FAST))


@dataclass
class _Heard(Transport):
    """Sends nothing; answers with a challenge until a request has a login."""

    heard: list[tuple[str, str]] = field(default_factory=list)

    def request(self, method: str, url: str, headers: Mapping[str, str], *_: Any, **__: Any) -> HTTPResponse:
        self.heard.append((url, headers.get("Authorization", "")))
        is_known = "Authorization" in headers
        challenge = {} if is_known else {"WWW-Authenticate": "Basic realm=x"}
        return HTTPResponse(b"", challenge, 200 if is_known else 401, preload_content=False, request_url=url)


def test_a_login_is_never_sent_in_the_clear_where_the_registry_points_to() -> None:
    transport = _Heard()
    exchange = Exchange(transport, Credentials({"quay.io": _ME}))
    location = Location(Reference.parse("quay.io/a"))
    with exchange.open("GET", location, "https://quay.io/v2/a/blobs/uploads/1"):
        pass
    for elsewhere in ("http://quay.io/v2/a/blobs/uploads/1", "https://quay.io.evil.example/v2/"):
        with pytest.raises(OciError, match="refuses access"), exchange.open("PUT", location, elsewhere):
            pass
    assert {url for url, login in transport.heard if login} == {"https://quay.io/v2/a/blobs/uploads/1"}


@pytest.mark.parametrize("is_insecure", [False, True])
def test_a_token_is_bought_with_the_trust_that_the_registry_has(is_insecure: bool) -> None:
    """`--skip-tls-verify` and `--use-http` are about the token service of the registry, too."""
    asked: list[tuple[bool, str]] = []

    @dataclass
    class Service(Transport):
        def request(self, method: str, url: str, headers: Mapping[str, str], *_: Any, **__: Any) -> HTTPResponse:
            asked.append((self.is_insecure, url))
            if "/token" in url:
                return HTTPResponse(io.BytesIO(b'{"token": "T"}'), status=200, preload_content=False)
            challenge = {"WWW-Authenticate": 'Bearer realm="https://quay.io/token?account=x"'}
            is_known = "Authorization" in headers
            return HTTPResponse(b"", challenge, 200 if is_known else 401, preload_content=False, request_url=url)

    with Exchange(Service(), ANONYMOUS).open("GET", Location(Reference.parse("quay.io/a"), is_insecure), "tags/list"):
        pass
    bought = "https://quay.io/token?account=x&scope=repository%3Aa%3Apull"
    assert asked[1] == (is_insecure, bought)


def test_a_token_of_ours_does_not_follow_a_redirect_to_another_host(registry: ScriptedRegistry) -> None:
    with scripted_registry() as other:
        registry.answers["/token"] = Answer(status=307, headers={"Location": f"http://{other.address}/token"})
        registry.gate = _locked(f'Bearer realm="http://{registry.address}/token"', "Bearer T")
        error = refusal(registry, credentials=Credentials({registry.address: Login("", "", "mine")}))
        assert other.requests == []
    assert (error.reason, other.address in error.message) == ("Unreachable", True)


def test_a_token_service_that_hangs_up_is_unreachable(registry: ScriptedRegistry) -> None:
    registry.answers["/token"] = Answer(b'{"token": "T"}', cut_to=3)
    registry.gate = _locked(f'Bearer realm="http://{registry.address}/token"', "Bearer T")
    assert refusal(registry).reason == "Unreachable"


def test_a_registry_that_stumbles_is_asked_again(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_file("manifests/a", b"A"))
    registry.put("tea", "1", [layer])
    failures = iter([Answer(status=503), Answer(status=429)])
    registry.gate = lambda _: next(failures, None)
    assert pulled(registry).files == {"manifests/a": b"A"}


def test_a_connection_that_breaks_in_the_middle_is_made_again(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_file("manifests/a", b"A" * 1000))
    registry.put("tea", "1", [layer])
    broken = iter([Answer(layer, cut_to=10)])
    registry.gate = lambda request: next(broken, None) if digest_of(layer) in request.path else None
    assert pulled(registry).files == {"manifests/a": b"A" * 1000}


def test_a_registry_that_fails_for_ever_is_unreachable(registry: ScriptedRegistry) -> None:
    registry.gate = lambda _: Answer(status=500)
    error = refusal(registry)
    assert error.reason == "Unreachable"
    assert "answered 500" in error.message
    assert len(registry.requests) == _FAST.attempts


def test_a_registry_that_is_not_there_is_unreachable() -> None:
    with scripted_registry() as gone:
        pass
    error = refusal(gone)
    assert error.reason == "Unreachable"
    assert f"{gone.address} does not answer: Failed to establish" in error.message


def test_a_name_that_cannot_be_resolved_and_a_bad_certificate_have_their_own_reasons() -> None:
    pool = HTTPConnectionPool("r.invalid")
    dns = NameResolutionError("r.invalid", HTTPConnection("r.invalid"), OSError("x"))  # type: ignore[arg-type]
    assert unreachable(MaxRetryError(pool, "/", dns), "https://r.invalid/v2/", "r.invalid/a").reason == "DNS"
    tls = unreachable(MaxRetryError(pool, "/", SSLError("self-signed")), "https://r.invalid/v2/", "r.invalid/a")
    assert tls.reason == "TLS"
    assert "self-signed" in tls.message


def test_a_login_does_not_follow_a_redirect_to_another_host(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_file("manifests/a", b"A"))
    registry.put("tea", "1", [layer])
    registry.gate = _locked("Basic realm=x", _ME.basic)
    with scripted_registry() as storage:
        storage.answers["/elsewhere"] = Answer(layer)
        location = {"Location": f"http://{storage.address}/elsewhere"}
        registry.answers[f"/v2/tea/blobs/{digest_of(layer)}"] = Answer(status=307, headers=location)
        image = pulled(registry, credentials=Credentials({registry.address: _ME}))
        assert [request.authorization for request in storage.requests] == [""]
    assert image.files == {"manifests/a": b"A"}


@pytest.mark.parametrize("scheme", ["Basic realm=x", 'Bearer realm="http://{evil}/token"'])
def test_a_challenge_of_a_host_that_a_redirect_leads_to_is_not_answered(
    registry: ScriptedRegistry, scheme: str
) -> None:
    layer = a_layer(a_file("manifests/a", b"A"))
    registry.put("tea", "1", [layer])
    with scripted_registry() as evil:
        logins = {registry.address: _ME, evil.address: Login("other", "secret")}
        evil.gate = _locked(scheme.format(evil=evil.address), "never")
        location = {"Location": f"http://{evil.address}/blob"}
        registry.answers[f"/v2/tea/blobs/{digest_of(layer)}"] = Answer(status=307, headers=location)
        error = refusal(registry, credentials=Credentials(logins))
        assert {(request.path, request.authorization) for request in evil.requests} == {("/blob", "")}
    assert error.reason == "Unauthorized"
    assert f"sends us to {evil.address}, which refuses access" in error.message


def test_no_proxy_stands_between_us_and_this_machine(
    registry: ScriptedRegistry, monkeypatch: pytest.MonkeyPatch
) -> None:
    registry.put("tea", "1", [])
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    assert pulled(registry).files == {}


def test_attributes_of_a_file_are_bounded(registry: ScriptedRegistry) -> None:
    member, content = a_file("manifests/a")
    member.pax_headers = {"comment": "x" * 2_000_000}
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        archive.addfile(member, io.BytesIO(content))
    registry.put("tea", "1", [buffer.getvalue()])
    error = refusal(registry)
    assert error.reason == "TooLarge"
    assert "describes a file" in error.message


def in_pax(*members: tuple[str, dict[str, str]], content: bytes = b"") -> bytes:
    """A layer of files with such attributes."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w", format=tarfile.PAX_FORMAT) as archive:
        for name, attributes in members:
            member = tarfile.TarInfo(name)
            member.pax_headers, member.size = attributes, len(content)
            archive.addfile(member, io.BytesIO(content))
    return gzip.compress(buffer.getvalue())


def of_holes() -> bytes:
    member, _ = a_file("elsewhere")
    member.type = tarfile.GNUTYPE_SPARSE
    extended = member.tobuf(tarfile.GNU_FORMAT)[:482] + b"\1" + bytes(29)
    more = (b"%011o\0" % 1 * 42).ljust(504, b"\0") + b"\1" + bytes(7)
    checked = extended[:148] + b" " * 8 + extended[156:]
    return gzip.compress(checked[:148] + b"%06o\0 " % sum(checked) + checked[156:] + more * 1000)


@pytest.mark.parametrize(
    "layer",
    [
        pytest.param(
            in_pax(
                ("elsewhere", {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}), content=b"9000\n" + b"0\n" * 18000
            ),
            id="as newer archives have them",
        ),
        pytest.param(in_pax(("elsewhere", {"GNU.sparse.map": "0,1" * 9000})), id="in one attribute"),
        pytest.param(in_pax(("elsewhere", {"GNU.sparse.size": "3"})), id="in many attributes"),
        pytest.param(of_holes(), id="as old archives have them"),
    ],
)
def test_maps_of_holes_are_not_read(registry: ScriptedRegistry, layer: bytes) -> None:
    registry.put("tea", "1", [layer])
    error = refusal(registry)
    assert (error.reason, "a sparse file, which no image builder makes" in error.message) == ("Malformed", True)


def test_what_describes_a_description_is_bounded_with_it(registry: ScriptedRegistry) -> None:
    member = tarfile.TarInfo("././@LongLink")
    member.type, member.size = tarfile.GNUTYPE_LONGNAME, 300_000
    chained = (member.tobuf(tarfile.GNU_FORMAT) + b"x" * 300_032) * 4
    registry.put("tea", "1", [gzip.compress(chained)])
    assert "describes a file with 1200000 bytes" in refusal(registry).message
    member.size = -(2**40)
    registry.put("tea", "3", [gzip.compress(member.tobuf(tarfile.GNU_FORMAT))])
    assert "describes a file with -1099511627776 bytes" in refusal(registry, tag="3").message
    member.size = 0
    registry.put("tea", "2", [gzip.compress(member.tobuf(tarfile.GNU_FORMAT) * 5000)])
    assert refusal(registry, tag="2").reason == "Malformed"


@pytest.mark.parametrize(
    "attributes",
    [
        pytest.param(b"1" * 500_000, id="many digits"),
        pytest.param(b"2 " * 250_000 + b"=", id="lengths that lie"),
        pytest.param(b"9 a=b\n", id="a length beyond the end"),
        pytest.param(b"6 abc\n", id="no value"),
        pytest.param(b"a=b\n", id="no length"),
    ],
)
def test_attributes_that_are_none_cost_nothing(registry: ScriptedRegistry, attributes: bytes) -> None:
    registry.put("tea", "1", [of_attributes(tarfile.XHDTYPE, attributes)])
    begun = time.process_time()
    assert "the attributes of a file cannot be read" in refusal(registry).message
    assert time.process_time() - begun < 1


def of_attributes(kind: bytes, *attributes: bytes) -> bytes:
    """A layer of files that are described so."""
    content = b""
    for one in attributes:
        member = tarfile.TarInfo("attributes")
        member.type, member.size = kind, len(one)
        content += member.tobuf(tarfile.USTAR_FORMAT) + one + bytes(-len(one) % 512)
        content += tarfile.TarInfo("elsewhere").tobuf()
    return gzip.compress(content + bytes(1024))


def test_attributes_for_all_files_do_not_pile_up(registry: ScriptedRegistry) -> None:
    many = [b"200012 k%d=%s\n" % (n, b"x" * 200_000) for n in range(10, 99)]
    registry.put("tea", "1", [of_attributes(tarfile.XGLTYPE, *many)])
    tracemalloc.start()
    try:
        assert pulled(registry).files == {}
        assert tracemalloc.get_traced_memory()[1] < len(many) * 100_000
    finally:
        tracemalloc.stop()


def test_of_an_entry_that_was_read_nothing_stays(registry: ScriptedRegistry) -> None:
    many = 100
    registry.put("tea", "1", [in_pax(*((f"e{n}", {"comment": chr(65 + n % 26) * 200_000}) for n in range(many)))])
    tracemalloc.start()
    try:
        assert pulled(registry).files == {}
        assert tracemalloc.get_traced_memory()[1] < many * 100_000
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize(
    ("size", "reason"),
    [
        pytest.param(2**40, "TooLarge", id="more than is unpacked"),
        pytest.param(2**32, "Malformed", id="more than is there"),
    ],
)
def test_a_size_without_content_costs_nothing(registry: ScriptedRegistry, size: int, reason: str) -> None:
    member, _ = a_file("elsewhere")
    member.size = size
    registry.put("tea", "1", [gzip.compress(member.tobuf(tarfile.GNU_FORMAT))])
    begun = time.process_time()
    assert refusal(registry).reason == reason
    assert time.process_time() - begun < 1


def test_a_digest_costs_one_head(registry: ScriptedRegistry) -> None:
    digest = registry.put("tea", "1", [])
    client = Registry(replace(_FAST))
    assert client.digest(Reference.parse(f"{registry.address}/tea:1")) == digest
    assert client.digest(Reference.parse(f"{registry.address}/tea@{digest}")) == digest
    assert [request.method for request in registry.requests] == ["HEAD"]


def test_a_registry_that_does_not_state_the_digest_is_asked_for_the_manifest(registry: ScriptedRegistry) -> None:
    digest = registry.put("tea", "1", [])
    registry.answers["/v2/tea/manifests/1"].headers = {}
    assert Registry(replace(_FAST)).digest(Reference.parse(f"{registry.address}/tea:1")) == digest


def test_a_large_layer_goes_through_a_file(registry: ScriptedRegistry) -> None:
    registry.put("tea", "1", [a_layer(a_file("manifests/a", bytes(range(256)) * 100))])
    assert pulled(registry, limits=Limits(memory_bytes=64)).files["manifests/a"] == bytes(range(256)) * 100


def test_files_are_kept_as_the_caller_wishes(registry: ScriptedRegistry) -> None:
    registry.put("tea", "1", [a_layer(a_file("manifests/a", b"four"))])
    reference = Reference.parse(f"{registry.address}/tea:1")
    image = pull(
        Registry(replace(_FAST)), reference, lambda _: ("",), lambda stream: len(io.BytesIO(stream.read()).read())
    )
    assert image.files == {"manifests/a": 4}


def test_a_download_goes_on_where_the_connection_broke(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_file("manifests/a", bytes(range(256)) * 40), compressed=False)
    digest = registry.put("tea", "1", [layer])
    assert digest
    spans = []

    def gate(request: Request) -> Answer | None:
        if digest_of(layer) not in request.path:
            return None
        spans.append(request.span)
        if not request.span:
            return Answer(layer, cut_to=1000)
        start = int(request.span.removeprefix("bytes=").removesuffix("-"))
        end = start + 2000 if len(spans) == 2 else len(layer)
        headers = {"Content-Range": f"bytes {start}-{len(layer) - 1}/{len(layer)}"}
        return Answer(layer[start:], 206, headers, cut_to=end - start)

    registry.gate = gate
    assert pulled(registry).files == {"manifests/a": bytes(range(256)) * 40}
    assert spans == ["", "bytes=1000-", "bytes=3000-"]


@pytest.mark.parametrize(
    "second",
    [
        pytest.param(lambda layer: Answer(layer), id="all of it again"),
        pytest.param(lambda layer: Answer(layer, 206, {"Content-Range": "bytes 0-9/10"}), id="another part"),
    ],
)
def test_a_registry_that_does_not_go_on_is_read_from_the_start(registry: ScriptedRegistry, second: Any) -> None:
    layer = a_layer(a_file("manifests/a", b"A" * 5000), compressed=False)
    registry.put("tea", "1", [layer])
    answers = iter([Answer(layer, cut_to=1000), second(layer)])
    registry.gate = lambda request: next(answers, None) if digest_of(layer) in request.path else None
    assert pulled(registry).files == {"manifests/a": b"A" * 5000}


def test_a_token_of_ours_buys_one_of_theirs(registry: ScriptedRegistry) -> None:
    registry.put("tea", "1", [])
    registry.answers["/token"] = Answer(json.dumps({"access_token": "T"}).encode())
    registry.gate = _locked(f'Bearer realm="http://{registry.address}/token"', "Bearer T")
    pulled(registry, credentials=Credentials({registry.address: Login("", "", "mine")}))
    (bought,) = [request for request in registry.requests if request.path.startswith("/token")]
    assert (bought.method, bought.authorization) == ("POST", "")


def test_a_hard_link_keeps_what_it_was_made_of(registry: ScriptedRegistry) -> None:
    lower = a_layer(a_file("manifests/a", b"old"), a_link("manifests/b", "manifests/a", hard=True))
    registry.put("tea", "1", [lower, a_layer(a_file("manifests/a", b"new"))])
    assert pulled(registry).files == {"manifests/a": b"new", "manifests/b": b"old"}


def test_a_file_and_a_folder_take_each_others_place(registry: ScriptedRegistry) -> None:
    registry.put("tea", "1", [a_layer(a_file("manifests/a/b", b"1")), a_layer(a_file("manifests/a", b"2"))])
    assert pulled(registry).files == {"manifests/a": b"2"}
    registry.put("tea", "2", [a_layer(a_file("manifests/a", b"1")), a_layer(a_file("manifests/a/b", b"2"))])
    assert pulled(registry, tag="2").files == {"manifests/a/b": b"2"}


def test_files_below_a_link_land_where_it_leads(registry: ScriptedRegistry) -> None:
    lower = a_layer(a_file("manifests/real/a", b"1"), a_link("manifests/link", "real"))
    registry.put("tea", "1", [lower, a_layer(a_file("manifests/link/b", b"2"))])
    assert pulled(registry).files == {"manifests/real/a": b"1", "manifests/real/b": b"2"}


def test_folders_that_are_links_in_a_circle_are_refused(registry: ScriptedRegistry) -> None:
    layer = a_layer(a_link("manifests/a", "b"), a_link("manifests/b", "a"), a_file("manifests/a/c"))
    registry.put("tea", "1", [layer])
    assert "in a circle" in refusal(registry).message
