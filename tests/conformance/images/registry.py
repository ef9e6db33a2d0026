"""The registry that Debian ships, on loopback: plain, with TLS, or with TLS and a login."""

from __future__ import annotations

import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from eventing.local.ports import free_port
from tests.kit.waiting import PATIENCE_SECONDS

USER, PASSWORD = "tester", "secret"
_HASH = "$2b$04$4zHroqyLcllSLA.eTv2Q2edcS/WYrrzvGCK5xCfaSIbbyewXhXL9S"
"""Of the password, as htpasswd keeps it."""
_BLOB = re.compile(r'"GET /v2/[^ ]*/blobs/(sha256:[0-9a-f]{64}) HTTP/1.1"')
_SECONDS = 60.0


@dataclass(frozen=True)
class Running:
    """A registry that answers."""

    host: str
    certs: Path
    """A folder per host with its certificate authority, as Docker has them."""
    has_login: bool
    log: Path = Path("/dev/null")
    """Where it notes each request."""

    def blobs_asked(self) -> list[str]:
        """The digest of each blob that was asked for, as often as it was, in the order in which the requests ended."""
        return _BLOB.findall(self.log.read_text())

    def reference(self, name: str) -> str:
        return f"{self.host}/{name}"


def skopeo(*words: str) -> str:
    """What skopeo prints; it is not asked about signatures."""
    command = ["skopeo", "--insecure-policy", *words]
    run = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS, check=False)
    assert run.returncode == 0, run.stderr
    return run.stdout


def required(program: str) -> None:
    """Skip where a program of Debian is not installed."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: apt-get install {program}")


@contextmanager
def running(folder: Path, *, has_tls: bool, has_login: bool) -> Iterator[Running]:
    required("docker-registry")
    port = free_port()
    host = f"127.0.0.1:{port}"
    certs = folder / "certs.d"
    (certs / host).mkdir(parents=True)
    lines = ["version: 0.1", "log: {level: error}", f"storage: {{filesystem: {{rootdirectory: {folder / 'data'}}}}}"]
    lines += ["http:", f"  addr: {host}"]
    if has_tls:
        _certificate(folder, certs / host / "ca.crt")
        lines += ["  tls:", f"    certificate: {certs / host / 'ca.crt'}", f"    key: {folder / 'key.pem'}"]
    if has_login:
        (folder / "htpasswd").write_text(f"{USER}:{_HASH}\n")
        lines += ["auth:", "  htpasswd:", "    realm: tests", f"    path: {folder / 'htpasswd'}"]
    (folder / "config.yml").write_text("\n".join(lines) + "\n")
    with (folder / "log").open("wb") as log:
        program = subprocess.Popen(["docker-registry", "serve", str(folder / "config.yml")], stdout=log, stderr=log)
    try:
        _wait(port, program, folder / "log")
        yield Running(host, certs, has_login, folder / "log")
    finally:
        program.terminate()
        program.wait()


def _certificate(folder: Path, certificate: Path) -> None:
    names = ["-subj", "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1"]
    kind = ["-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "30"]
    written = ["-keyout", str(folder / "key.pem"), "-out", str(certificate)]
    subprocess.run(["openssl", "req", *kind, *names, *written], check=True, capture_output=True)


def _wait(port: int, program: subprocess.Popen[bytes], log: Path) -> None:
    ends = time.monotonic() + _SECONDS
    while True:
        try:
            socket.create_connection(("127.0.0.1", port), timeout=1).close()
        except OSError:
            assert program.poll() is None, log.read_text()
            assert time.monotonic() < ends, log.read_text()
            time.sleep(0.05)
        else:
            return
