"""Nothing that is secret in a bundle or a Subscription is found in journal, capture or logs, in whatever form."""

from __future__ import annotations

import base64
import gzip
import re
import tarfile
import zlib
from collections.abc import Iterator
from pathlib import Path

from eventing.cli.demo.play import publish
from eventing.diagnosis.replay import replay
from eventing.journal import STREAM
from eventing.journal.records import inflated
from eventing.workqueue import connect
from shared.kinds import CONFIG_MAP, SECRET, SUBSCRIPTION
from tests.kit.installation import Installation, a_namespace, a_subscription, an_operator_group, installed

MARKER = "hunter2-Kz81xQw-marker"
TYPED = "typed-9Lm3-marker"
MANIFEST = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: shipped\nstringData:\n  password: " + MARKER + "\n"


def forms(marker: str) -> set[str]:
    """The marker as text, in hexadecimal, and in base64 wherever it begins."""
    found = {marker, marker.encode().hex()}
    for before in range(3):
        found.add(base64.b64encode(b"\0" * before + marker.encode()).decode()[4 if before else 0 : -4])
    return found


def layers(text: str, depth: int = 6) -> Iterator[str]:
    """The text, and what is inside base64 and gzip in it."""
    yield text
    for run in re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", text) if depth else ():
        try:
            data = base64.b64decode(run + "=" * (-len(run) % 4))
            data = gzip.decompress(data) if data.startswith(b"\x1f\x8b") else data
        except (ValueError, OSError, EOFError, zlib.error):
            continue
        yield from layers(data.decode("latin-1"), depth - 1)


def is_reported(data: bytes) -> bool:
    desired = forms(MARKER) | forms(TYPED)
    return any(form in text for text in layers(data.decode("latin-1")) for form in desired)


def test_what_is_secret_is_kept_nowhere(tmp_path: Path) -> None:
    bundles = tmp_path / "bundles"
    publish(bundles, "beacon/1.0.0")
    (bundles / "beacon/1.0.0/manifests/secret.yaml").write_text(MANIFEST)
    with installed(tmp_path / "state", "--bundles", str(bundles)) as found:
        config = {"env": [{"name": "DB_PASSWORD", "value": TYPED}]}
        found.apply(a_namespace("one"), an_operator_group("one"), a_subscription("beacon", "one", config=config))
        found.until_phase("beacon.v1.0.0", "one")
        found.until_it_rests()
        _check(found, tmp_path / "capture.tar")


def _check(found: Installation, capture: Path) -> None:
    made = found.until(SECRET.ref("shipped", "one"), lambda one: one)
    assert base64.b64decode(made["data"]["password"]).decode() == MARKER
    present = [*found.cluster.list(CONFIG_MAP, "olm"), found.until(SUBSCRIPTION.ref("beacon", "one"), lambda one: one)]
    assert any(is_reported(str(one).encode()) for one in present), "the search finds it in the cluster"
    with connect(str(found.status()["redis"])) as client:
        entries = [value for _, fields in client.xrange(STREAM) for value in fields.values()]
    assert len(entries) > 50
    assert [entry for entry in entries if is_reported(inflated(entry))] == []
    logs = [path for path in (found.state / "logs").iterdir() if is_reported(path.read_bytes())]
    assert logs == []
    found.olmf("capture", "-o", str(capture))
    with tarfile.open(capture) as tar:
        members = {name: tar.extractfile(name) for name in tar.getnames()}
        assert [name for name, member in members.items() if member and is_reported(member.read())] == []
    report = replay(capture)
    assert [each.detail for each in report.replayed if each.result == "different"] == []
    hashing = ("install_plan/execute_install_plan", "cluster_service_version/install_operator")
    steps = {each.run.step for each in report.replayed if each.result == "skipped"}
    assert steps <= {*hashing, "cluster_service_version/probe_operator"}
    assert report.count("same") > 50
