"""An operator with webhooks and an aggregated API: what it serves works, is repaired, upgraded, and goes with it."""

from __future__ import annotations

import base64
import json
import subprocess
import tarfile
import threading
import zlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import redis
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from eventing.local.kubelet.sample_operator import COLOR, MOST_LUMENS
from shared.kinds import (
    SUBSCRIPTION,
    Ref,
)
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.lifecycle.lamps import (
    DEFINITION,
    DENIED,
    FIRST,
    MEASURES,
    NEXT,
    OTHER_DEPLOYMENT,
    RENAMED,
    Lamps,
    installed,
    is_gone,
    is_whole,
    three_versions,
)
from tests.conformance.targets import running
from tests.kit.installation import Installation, condition
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import make_authority


@pytest.fixture(scope="module", params=TARGETS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("lamps")
    with running(request.param, folder, "--bundles", str(three_versions(folder / "bundles"))) as found:
        yield found


@pytest.fixture(scope="module")
def kept(host: Installation) -> Lamps:
    """The operator that most tests look at."""
    return installed(host, "lampland")


def test_objects_are_checked_completed_and_converted(kept: Lamps) -> None:
    """csv.md 7.6."""
    assert kept.create("a", lumens=MOST_LUMENS) == {"lumens": MOST_LUMENS, "color": COLOR}
    assert DENIED in kept.refusal()
    assert kept.read("a", "v1alpha1") == {"brightness": MOST_LUMENS, "color": COLOR}
    assert kept.create("b", "v1alpha1", brightness=7) == {"brightness": 7, "color": COLOR}
    assert kept.read("b", "v1") == {"lumens": 7, "color": COLOR}


def test_the_aggregated_api_is_available(kept: Lamps) -> None:
    """csv.md 7.4, 7.5."""
    found = kept.host.until(MEASURES, lambda one: condition(one, "Available").get("status") == "True", "Available")
    assert found["spec"]["service"] == {"namespace": kept.namespace, "name": kept.service.name, "port": 9443}
    assert (found["spec"]["groupPriorityMinimum"], found["spec"]["versionPriority"]) == (2000, 15)
    names = [one["metadata"]["name"] for one in kept.host.cluster.request(
        "GET", "/apis/measures.samples.olmf.io/v1/measures")["items"]]  # fmt: skip
    assert "lumen" in names


def openssl(*words: str, stdin: bytes = b"") -> str:
    done = subprocess.run(["openssl", *words], input=stdin, capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, f"openssl {' '.join(words)}: {done.stdout!r}{done.stderr!r}"
    return done.stdout.decode()


def test_openssl_accepts_the_certificates(kept: Lamps, tmp_path: Path) -> None:
    """csv.md 7.2: chain, names, key usage, curve; and the CA is the one that the API server was told."""
    secret = kept.host.cluster.get(kept.secret)
    assert secret
    assert secret["type"] == "kubernetes.io/tls"
    data = {key: base64.b64decode(value) for key, value in secret["data"].items()}
    assert kept.authorities() == {base64.b64encode(data["olmCAKey"]).decode()}
    authority, leaf = tmp_path / "ca.crt", tmp_path / "tls.crt"
    authority.write_bytes(data["olmCAKey"])
    leaf.write_bytes(data["tls.crt"])
    names = [f"{kept.service.name}.{kept.namespace}{suffix}" for suffix in ("", ".svc", ".svc.cluster.local")]
    for name in names:
        checks = ("-purpose", "sslserver", "-x509_strict", "-verify_hostname", name)
        assert "OK" in openssl("verify", "-CAfile", str(authority), *checks, str(leaf))
    reported = openssl("x509", "-in", str(leaf), "-noout", "-text")
    for words in (f"CN = {names[0]}", "TLS Web Server Authentication", "CA:FALSE", "NIST CURVE: P-256"):
        assert words in reported or words.replace(" = ", "=") in reported
    for name in names:
        assert f"DNS:{name}" in reported
    above = openssl("x509", "-in", str(authority), "-noout", "-text")
    assert all(words in above for words in ("CA:TRUE", "Certificate Sign", "olm-selfsigned-", "Red Hat, Inc."))
    of_key = openssl("pkey", "-pubout", stdin=data["tls.key"])
    assert of_key == openssl("x509", "-in", str(leaf), "-noout", "-pubkey")


def traces_of(key: bytes) -> dict[str, bytes]:
    """What would show that a private key, PEM, was kept somewhere: none of it is in a certificate."""
    read = load_pem_private_key(key, None)
    assert isinstance(read, EllipticCurvePrivateKey)
    number = read.private_numbers().private_value.to_bytes(32, "big")
    der = read.private_bytes(Encoding.DER, PrivateFormat.TraditionalOpenSSL, NoEncryption())
    lines = [line for line in key.splitlines() if not line.startswith(b"-")]
    return {
        "as text": lines[0], "in base64": base64.b64encode(key)[60:180], "in DER": number,
        "DER in base64": base64.b64encode(der)[:60], "as a number": str(int.from_bytes(number, "big")).encode(),
        "in hex": number.hex().encode(),
    }  # fmt: skip


def everything_kept(host: Installation, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Name and content of all that queue, journal, logs and a capture hold; not the store of the API server itself."""
    addresses = json.loads((host.state / "olmf.json").read_text())
    with redis.Redis.from_url(addresses["redis"]) as client:
        for key in client.scan_iter():
            for value in _values_of(client, key):
                yield f"redis {key!r}", value
                yield f"redis {key!r}", _inflated(value)
    bundle = folder / "capture.tar"
    host.olmf("capture", "-o", str(bundle))
    with tarfile.open(bundle) as archive:
        for member in archive:
            if locked := archive.extractfile(member):
                yield f"capture {member.name}", locked.read()
    for path in host.state.rglob("*"):
        if path.is_file() and path.name != "objects.jsonl":
            yield str(path), path.read_bytes()


def _values_of(client: Any, key: bytes) -> Iterator[bytes]:
    match client.type(key):
        case b"string":
            yield client.get(key) or b""
        case b"hash":
            yield from (one for pair in client.hgetall(key).items() for one in pair)
        case b"list":
            yield from client.lrange(key, 0, -1)
        case b"set":
            yield from client.smembers(key)
        case b"zset":
            yield from client.zrange(key, 0, -1)
        case b"stream":
            yield from (one for _, entry in client.xrange(key) for pair in entry.items() for one in pair)
        case b"none":
            pass  # it has ended since the scan
        case other:
            raise AssertionError(f"{key!r} is a {other!r}: nobody looked into it")


def _inflated(value: bytes) -> bytes:
    try:
        return zlib.decompress(value)
    except zlib.error:
        return b""


def test_a_private_key_is_in_its_secret_alone(kept: Lamps, tmp_path: Path) -> None:
    """csv.md 7.1: not in queue, journal, logs or captures, as text, base64 or DER."""
    secret = kept.host.cluster.get(kept.secret)
    assert secret
    traces = traces_of(base64.b64decode(secret["data"]["tls.key"]))
    found, is_secret_named = [], False
    for name, content in everything_kept(kept.host, tmp_path):
        is_secret_named = is_secret_named or kept.secret.name.encode() in content
        found += [f"{name}: {how}" for how, trace in traces.items() if trace in content]
    assert is_secret_named, "the search saw nothing of the Secret at all"
    assert found == []


def delete_secret(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.delete(lamps.secret)


def edit_secret(lamps: Lamps, other: str) -> None:
    lamps.host.cluster.merge(lamps.secret, {"data": {"tls.crt": other}})


def empty_secret(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.merge(lamps.secret, {"data": {"olmCAKey": None}})


def delete_service(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.delete(lamps.service)


def lead_elsewhere(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.merge(lamps.service, {"spec": {"selector": {"app": "nobody"}}})


def lead_nowhere(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.merge(lamps.service, {"spec": {"selector": {"stale": "x"}}})


def delete_configurations(lamps: Lamps, _: str) -> None:
    for one in lamps.configurations():
        lamps.host.cluster.delete(Ref.of(one))


def edit_authority(lamps: Lamps, other: str) -> None:
    for one in lamps.configurations():
        [hook] = one["webhooks"]
        changed = {**hook, "clientConfig": {**hook["clientConfig"], "caBundle": other}}
        lamps.host.cluster.merge(Ref.of(one), {"webhooks": [changed]})


def edit_conversion(lamps: Lamps, other: str) -> None:
    client = {"webhook": {"clientConfig": {"caBundle": other}}}
    lamps.host.cluster.merge(DEFINITION, {"spec": {"conversion": client}})


def end_conversion(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.merge(DEFINITION, {"spec": {"conversion": {"strategy": "None", "webhook": None}}})


def convert_by_url(lamps: Lamps, _: str) -> None:
    client = {"service": None, "url": "https://nobody.example.com"}
    lamps.host.cluster.merge(DEFINITION, {"spec": {"conversion": {"webhook": {"clientConfig": client}}}})


def delete_api(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.delete(MEASURES)


def edit_api(lamps: Lamps, other: str) -> None:
    lamps.host.cluster.merge(MEASURES, {"spec": {"caBundle": other}})


def trust_blindly(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.merge(MEASURES, {"spec": {"caBundle": None, "insecureSkipTLSVerify": True}})


HARM = [
    pytest.param(delete_secret, id="the Secret is deleted"),
    pytest.param(edit_secret, id="the Secret is edited"),
    pytest.param(empty_secret, id="the Secret has no CA"),
    pytest.param(delete_service, id="the Service is deleted"),
    pytest.param(lead_elsewhere, id="the Service leads elsewhere"),
    pytest.param(lead_nowhere, id="the Service leads nowhere: its selector has a label more"),
    pytest.param(delete_configurations, id="the configurations are deleted"),
    pytest.param(edit_authority, id="the configurations have another CA"),
    pytest.param(edit_conversion, id="the conversion has another CA"),
    pytest.param(end_conversion, id="the conversion is ended"),
    pytest.param(convert_by_url, id="the conversion leads to a URL"),
    pytest.param(delete_api, id="the APIService is deleted"),
    pytest.param(edit_api, id="the APIService has another CA"),
    pytest.param(trust_blindly, id="the APIService trusts whoever answers"),
]


@pytest.mark.parametrize("harm", HARM)
def test_what_was_harmed_is_repaired(kept: Lamps, harm: Callable[[Lamps, str], None], tmp_path: Path) -> None:
    """csv.md 4.5, 4.6, 7.5, 7.6, 7.8."""
    authority = make_authority(tmp_path / "other", f"DNS:{kept.service.name}.{kept.namespace}.svc") / "ca.crt"
    harm(kept, base64.b64encode(authority.read_bytes()).decode())
    wait_for(lambda: is_whole(kept), "everything as it was")
    kept.host.until_phase(f"lamps.v{FIRST}", kept.namespace)


def test_a_repair_is_the_last_write(kept: Lamps) -> None:
    """Nothing that was repaired above is repaired again and again."""
    kept.host.until_it_rests()
    assert is_whole(kept)


class Caller(threading.Thread):
    """Calls all that an operator serves until it is stopped."""

    def __init__(self, lamps: Lamps) -> None:
        super().__init__(daemon=True)
        self._lamps, self._is_over = lamps, threading.Event()
        self.calls, self.complaints = 0, list[str]()

    def run(self) -> None:
        while not self._is_over.is_set():
            self.calls += 1
            if complaint := self._lamps.complaint():
                self.complaints.append(complaint)

    def __enter__(self) -> Caller:
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self.join()


def owners(lamps: Lamps) -> set[str]:
    return {one["metadata"]["labels"]["olm.owner"] for one in lamps.configurations()}


def test_no_call_fails_during_an_upgrade(kept: Lamps) -> None:
    """csv.md 4.7, 4.8: the configurations of both versions live for a while, and lead to one Service."""
    own = kept.host.cluster.get(kept.secret)
    assert own
    with Caller(kept) as caller:
        kept.approve(NEXT)
        kept.host.until_gone(kept.ref(FIRST))
        called = caller.calls
        wait_for(lambda: caller.calls > called + 1, "calls of the new version")
    assert caller.complaints == []
    kept.host.until_it_rests()
    assert is_whole(kept)
    assert owners(kept) == {f"lamps.v{NEXT}"}
    assert (kept.host.cluster.get(kept.secret) or {})["data"] == own["data"]


def test_the_operator_is_upgraded_to_another_deployment_and_gone(kept: Lamps) -> None:
    """csv.md 4.7, 4.8: the old version takes nothing away that is the new one's; the last one leaves nothing.

    The last test of this operator.
    """
    host, renamed = kept.host, replace(kept, deployment=OTHER_DEPLOYMENT)
    kept.approve(RENAMED)
    host.until_gone(kept.ref(NEXT))
    wait_for(renamed.works, "answers of the new version")
    for ref in (kept.secret, kept.service):
        host.until_gone(ref)
    host.until_it_rests()
    assert is_whole(renamed)
    assert owners(renamed) == {f"lamps.v{RENAMED}"}
    host.olmf("uninstall", "lamps", "-n", kept.namespace)
    host.until_gone(kept.ref(RENAMED))
    wait_for(lambda: is_gone(renamed) and is_gone(kept), "the end of all that led to it")
    host.until_it_rests()
    assert host.cluster.get(SUBSCRIPTION.ref("lamps", kept.namespace)) is None
