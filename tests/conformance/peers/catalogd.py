"""Our server of catalogs over TLS in place of the Pods of catalogd, with what their container says of TLS."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from eventing.local.ports import free_port
from shared.api.manifest import labels_of, uid_of
from tests.conformance.keys import leaf, openssl
from tests.kit.waiting import wait_for

APP, PORT = "catalogd", 443


@dataclass
class Catalogd:
    """The server of one cluster: that of the Pod which was asked last."""

    folder: Path
    kubeconfig: Path
    environ: Mapping[str, str]
    lock: threading.Lock = field(default_factory=threading.Lock)
    serves: str = ""
    """The uid of its Pod."""
    listens: int = 0
    process: subprocess.Popen[bytes] | None = None

    def port(self, pod: Any, port: int) -> int:
        """Where it listens in place of a Pod; 0 for other Pods, and other ports."""
        if labels_of(pod).get("app") != APP or port != PORT:
            return 0
        with self.lock:
            if self.serves != uid_of(pod):
                self.close()
                self.serves, self.listens = uid_of(pod), free_port()
                self._start([word for word in pod["spec"]["containers"][0]["args"] if word.startswith("--tls-")])
        return self.listens

    def close(self) -> None:
        """End it."""
        if self.process:
            self.process.terminate()
            self.process.wait()

    def _start(self, words: list[str]) -> None:
        folder = self.folder / "catalogd"
        if not folder.exists():
            folder.mkdir()
            made = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
            openssl(folder, "req", "-x509", *made, "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=catalogd-ca")
            leaf(folder, "ca", "server", "subjectAltName=DNS:localhost,IP:127.0.0.1")
        command = [
            sys.executable, "-m", "eventing.cli.main", "run", "catalogs",
            f"--tls-cert={folder / 'server.crt'}", f"--tls-key={folder / 'server.key'}", *words,
        ]  # fmt: skip
        environ = {
            **os.environ, **self.environ, "OLMF_KUBECONFIG": str(self.kubeconfig), "OLMF_PORT": str(self.listens),
            "OLMF_REGISTRY_PORT": str(free_port()), "OLMF_CONTENT": str(folder / "content"),
            "OLMF_ALLOWED_REGISTRY_ADDRESSES": "127.0.0.0/8",
        }  # fmt: skip
        with (folder / "log").open("ab") as log:
            self.process = subprocess.Popen(command, stdout=log, stderr=log, env=environ)
        wait_for(self._is_there, "the server in place of catalogd")

    def _is_there(self) -> bool:
        assert self.process is None or self.process.poll() is None, (self.folder / "catalogd" / "log").read_text()
        with socket.socket() as client:
            return client.connect_ex(("127.0.0.1", self.listens)) == 0
