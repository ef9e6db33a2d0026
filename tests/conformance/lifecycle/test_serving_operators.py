"""An operator with webhooks and an aggregated API: what it serves works, is repaired, upgraded, and goes with it."""

from __future__ import annotations

import base64
import json
import shutil
import subprocess
import tarfile
import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import redis
from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, load_pem_private_key

from eventing.local.kubelet.sample_operator import COLOR, MOST_LUMENS
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    INSTALL_PLAN,
    MUTATING_WEBHOOKS,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    SUBSCRIPTION,
    VALIDATING_WEBHOOKS,
    Ref,
)
from tests.conformance.lifecycle.conftest import TARGETS
from tests.conformance.targets import running
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group, condition
from tests.kit.waiting import wait_for
from tests.kit.webhook_server import make_authority

LAMPS = SAMPLES.parent / "webhooks" / "lamps" / "1.0.0"
FIRST, NEXT = "1.0.0", "1.1.0"
DEFINITION = CUSTOM_RESOURCE_DEFINITION.ref("lamps.samples.olmf.io")
MEASURES = API_SERVICE.ref("v1.measures.samples.olmf.io")
DEPLOYMENT = "lamps-controller"
DENIED = "denied the request: 1001 lumens blind"


def two_versions(folder: Path) -> Path:
    """The sample operator, and a version that replaces it."""
    for version in (FIRST, NEXT):
        shutil.copytree(LAMPS, folder / "lamps" / version)
    [csv] = (folder / "lamps" / NEXT / "manifests").glob("*clusterserviceversion.yaml")
    text = csv.read_text().replace(FIRST, NEXT)
    csv.write_text(text.replace("  maturity:", f"  replaces: lamps.v{FIRST}\n  maturity:"))
    return folder


@dataclass(frozen=True)
class Lamps:
    """The sample operator in a namespace."""

    host: Installation
    namespace: str

    def ref(self, version: str = FIRST) -> Ref:
        return CLUSTER_SERVICE_VERSION.ref(f"lamps.v{version}", self.namespace)

    @property
    def secret(self) -> Ref:
        return SECRET.ref(f"{DEPLOYMENT}-service-cert", self.namespace)

    @property
    def service(self) -> Ref:
        return SERVICE.ref(f"{DEPLOYMENT}-service", self.namespace)

    def approve(self, version: str) -> None:
        """Wait for the plan of a version, and let it be carried out."""
        wanted = [self.ref(version).name]

        def waiting() -> list[Manifest]:
            plans = self.host.cluster.list(INSTALL_PLAN, self.namespace)
            asking = [one for one in plans if (one.get("status") or {}).get("phase") == "RequiresApproval"]
            return [one for one in asking if one["spec"]["clusterServiceVersionNames"] == wanted]

        [plan] = wait_for(waiting, f"a plan of {wanted}")
        self.host.cluster.merge(Ref.of(plan), {"spec": {"approved": True}})
        self.host.until_phase(wanted[0], self.namespace)

    def create(self, name: str, version: str = "v1", *, is_dry_run: bool = False, **spec: Any) -> Any:
        """The spec of a new Lamp. ApiError."""
        meta = {"name": name, "namespace": self.namespace}
        manifest = {"apiVersion": f"samples.olmf.io/{version}", "kind": "Lamp", "metadata": meta, "spec": spec}
        path = f"/apis/samples.olmf.io/{version}/namespaces/{self.namespace}/lamps"
        return self.host.cluster.request("POST", path + ("?dryRun=All" if is_dry_run else ""), manifest)["spec"]

    def read(self, name: str, version: str) -> Any:
        path = f"/apis/samples.olmf.io/{version}/namespaces/{self.namespace}/lamps/{name}"
        return self.host.cluster.request("GET", path)["spec"]

    def refusal(self) -> str:
        """What is said of a Lamp that is too bright; empty when it is taken."""
        try:
            self.create("blinding", is_dry_run=True, lumens=MOST_LUMENS + 1)
        except ApiError as error:
            return str(error)
        return ""

    def works(self) -> bool:
        """Whether the webhooks and the aggregated API answer, now."""
        try:
            completed = self.create("dim", is_dry_run=True, lumens=1).get("color") == COLOR
            converted = self.create("old", "v1alpha1", is_dry_run=True, brightness=1).get("brightness") == 1
            served = self.host.cluster.request("GET", "/apis/measures.samples.olmf.io/v1/measures/lux")
        except ApiError:
            return False
        return completed and converted and served["quantity"] == "illuminance" and DENIED in self.refusal()

    def configurations(self) -> list[Manifest]:
        found = [one for kind in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS) for one in self.host.cluster.list(kind)]
        return [one for one in found if one["webhooks"][0]["name"].endswith("lamps.samples.olmf.io")]

    def authorities(self) -> set[str]:
        """Every `caBundle` by which the API server knows the operator, base64."""
        clients = [one["webhooks"][0]["clientConfig"] for one in self.configurations()]
        definition, api = self.host.cluster.get(DEFINITION), self.host.cluster.get(MEASURES)
        assert definition
        assert api
        clients += [definition["spec"]["conversion"]["webhook"]["clientConfig"], api["spec"]]
        return {str(one.get("caBundle")) for one in clients}


@pytest.fixture(scope="module", params=TARGETS)
def host(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("lamps")
    with running(request.param, folder, "--bundles", str(two_versions(folder / "bundles"))) as found:
        yield found


@pytest.fixture(scope="module")
def kept(host: Installation) -> Lamps:
    """The operator that most tests look at."""
    return installed(host, "lampland")


def installed(host: Installation, namespace: str) -> Lamps:
    """The first version, when everything that it serves answers."""
    spec = {"startingCSV": f"lamps.v{FIRST}", "installPlanApproval": "Manual"}
    host.apply(a_namespace(namespace), an_operator_group(namespace), a_subscription("lamps", namespace, **spec))
    lamps = Lamps(host, namespace)
    lamps.approve(FIRST)
    wait_for(lamps.works, "answers of the operator")
    return lamps


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
    told = openssl("x509", "-in", str(leaf), "-noout", "-text")
    for words in (f"CN = {names[0]}", "TLS Web Server Authentication", "CA:FALSE", "NIST CURVE: P-256"):
        assert words in told or words.replace(" = ", "=") in told
    for name in names:
        assert f"DNS:{name}" in told
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
    client = redis.Redis.from_url(addresses["redis"])
    for key in client.scan_iter():
        for value in _values_of(client, key):
            yield f"redis {key!r}", value
            yield f"redis {key!r}", _inflated(value)
    bundle = folder / "capture.tar"
    host.olmf("capture", "-o", str(bundle))
    with tarfile.open(bundle) as archive:
        for member in archive:
            if held := archive.extractfile(member):
                yield f"capture {member.name}", held.read()
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


def look(lamps: Lamps) -> None:
    """Let the version be looked at: nobody may watch Secrets, so only another event, or half a day, shows the harm."""
    lamps.host.olmf("events", "send", f"csv/lamps.v{FIRST}", "-n", lamps.namespace)


def delete_secret(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.delete(lamps.secret)
    look(lamps)


def edit_secret(lamps: Lamps, other: str) -> None:
    lamps.host.cluster.merge(lamps.secret, {"data": {"tls.crt": other}})
    look(lamps)


def empty_secret(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.merge(lamps.secret, {"data": {"olmCAKey": None}})
    look(lamps)


def delete_service(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.delete(lamps.service)


def lead_elsewhere(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.merge(lamps.service, {"spec": {"selector": {"app": "nobody"}}})


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


def delete_api(lamps: Lamps, _: str) -> None:
    lamps.host.cluster.delete(MEASURES)


def edit_api(lamps: Lamps, other: str) -> None:
    lamps.host.cluster.merge(MEASURES, {"spec": {"caBundle": other}})


HARM = [
    pytest.param(delete_secret, id="the Secret is deleted"),
    pytest.param(edit_secret, id="the Secret is edited"),
    pytest.param(empty_secret, id="the Secret has no CA"),
    pytest.param(delete_service, id="the Service is deleted"),
    pytest.param(lead_elsewhere, id="the Service leads elsewhere"),
    pytest.param(delete_configurations, id="the configurations are deleted"),
    pytest.param(edit_authority, id="the configurations have another CA"),
    pytest.param(edit_conversion, id="the conversion has another CA"),
    pytest.param(end_conversion, id="the conversion is ended"),
    pytest.param(delete_api, id="the APIService is deleted"),
    pytest.param(edit_api, id="the APIService has another CA"),
]


@pytest.mark.parametrize("harm", HARM)
def test_what_was_harmed_is_repaired(kept: Lamps, harm: Callable[[Lamps, str], None], tmp_path: Path) -> None:
    """csv.md 4.5, 4.6, 7.5, 7.6, 7.8."""
    authority = make_authority(tmp_path / "other", f"DNS:{kept.service.name}.{kept.namespace}.svc") / "ca.crt"
    harm(kept, base64.b64encode(authority.read_bytes()).decode())
    wait_for(lambda: is_whole(kept), "everything as it was")
    kept.host.until_phase(f"lamps.v{FIRST}", kept.namespace)
    kept.host.until_it_rests()
    assert is_whole(kept)


def is_whole(lamps: Lamps) -> bool:
    """Whether everything is there, and trusts the CA of the Secret."""
    secret, parts = lamps.host.cluster.get(lamps.secret), (lamps.service, DEFINITION, MEASURES)
    if secret is None or any(lamps.host.cluster.get(one) is None for one in parts) or len(lamps.configurations()) != 2:
        return False
    if (lamps.host.cluster.get(DEFINITION) or {})["spec"]["conversion"]["strategy"] != "Webhook":
        return False
    return lamps.authorities() == {secret["data"].get("olmCAKey")} and lamps.works()


def test_the_operator_is_upgraded_and_gone(kept: Lamps) -> None:
    """csv.md 4.7, 4.8: the old version takes nothing away that is the new one's; the last one leaves nothing.

    The last test of this operator.
    """
    host = kept.host
    kept.approve(NEXT)
    host.until_gone(kept.ref(FIRST))
    wait_for(kept.works, "answers of the new version")
    host.until_it_rests()
    assert is_whole(kept)
    owners = {one["metadata"]["labels"]["olm.owner"] for one in kept.configurations()}
    assert owners == {f"lamps.v{NEXT}"}
    host.olmf("uninstall", "lamps", "-n", kept.namespace)
    host.until_gone(kept.ref(NEXT))
    for ref in (MEASURES, kept.secret, kept.service):
        host.until_gone(ref)
    wait_for(lambda: not kept.configurations(), "the end of the configurations")
    host.until_it_rests()
    bindings = [*host.cluster.list(CLUSTER_ROLE_BINDING), *host.cluster.list(ROLE_BINDING, "kube-system")]
    assert [one["metadata"]["name"] for one in bindings if DEPLOYMENT in one["metadata"]["name"]] == []
    assert (host.cluster.get(DEFINITION) or {})["spec"]["conversion"] == {"strategy": "None"}
    assert host.cluster.get(SUBSCRIPTION.ref("lamps", kept.namespace)) is None
