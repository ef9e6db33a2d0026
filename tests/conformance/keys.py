"""The certificates and keys of a control plane, made with openssl."""

from __future__ import annotations

import subprocess
from pathlib import Path

CURVE = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes")
SERVER_NAMES = (
    "DNS:kubernetes,DNS:kubernetes.default,DNS:kubernetes.default.svc,DNS:kubernetes.default.svc.cluster.local,"
    "DNS:localhost,IP:127.0.0.1,IP:10.0.0.1"
)


def make_keys(folder: Path) -> None:
    """The cluster's authority, that of the front proxy, a certificate below each, and the key of ServiceAccounts."""
    folder.mkdir()
    make_server_keys(folder)
    make_authority(folder, "front-ca")
    leaf(folder, "front-ca", "front-proxy", "extendedKeyUsage=clientAuth")
    openssl(folder, "genrsa", "-out", "sa.key", "2048")
    openssl(folder, "rsa", "-in", "sa.key", "-pubout", "-out", "sa.pub")


def make_server_keys(folder: Path) -> None:
    """The cluster's authority, and the certificate of its API server."""
    make_authority(folder, "ca")
    leaf(folder, "ca", "apiserver", f"subjectAltName={SERVER_NAMES}", "extendedKeyUsage=serverAuth")


def make_authority(folder: Path, name: str) -> None:
    """A certificate that signs others, and its key."""
    openssl(
        folder, "req", "-x509", *CURVE, "-keyout", f"{name}.key", "-out", f"{name}.crt", "-days", "30",
        "-subj", f"/CN=conformance-{name}", "-addext", "basicConstraints=critical,CA:TRUE",
        "-addext", "keyUsage=critical,keyCertSign,cRLSign",
    )  # fmt: skip


def leaf(folder: Path, authority: str, name: str, *extensions: str) -> None:
    """A certificate for the subject `name`, with its key."""
    (folder / f"{name}.ext").write_text("\n".join(("basicConstraints=CA:FALSE", *extensions)))
    openssl(folder, "req", "-new", *CURVE, "-keyout", f"{name}.key", "-out", f"{name}.csr", "-subj", f"/CN={name}")
    openssl(
        folder, "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.crt", "-CAkey", f"{authority}.key",
        "-CAcreateserial", "-days", "30", "-extfile", f"{name}.ext", "-out", f"{name}.crt",
    )  # fmt: skip


def openssl(folder: Path, *words: str) -> None:
    """Run openssl in the folder."""
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)
