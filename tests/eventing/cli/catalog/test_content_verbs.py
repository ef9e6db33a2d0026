"""`olmf catalog build`, `cache` and `serve` as people and scripts run them."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest

from shared.adapters.catalog_client.methods import REGISTRY, caller
from shared.adapters.catalog_client.registry_pb2 import ListPackageRequest, PackageName
from shared.adapters.images import folder_of
from tests.kit import verbs
from tests.kit.catalogs import a_bundle, tea, written
from tests.kit.waiting import PATIENCE_SECONDS


def olmf(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return verbs.olmf("catalog", *words, environ=environment(folder))


def anew(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """The same in a new interpreter: gRPC reads how much it logs when it is imported."""
    program = [sys.executable, "-m", "eventing.cli.main", "catalog", *words]
    environ = environment(folder)
    return subprocess.run(program, env=environ, capture_output=True, text=True, timeout=PATIENCE_SECONDS)


def environment(folder: Path) -> dict[str, str]:
    return {**os.environ, "OLMF_CONTENT": str(folder / "content")}


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    return written(tmp_path / "catalog", *tea())


def test_a_catalog_becomes_an_image_that_is_the_same_when_built_again(tmp_path: Path, catalog: Path) -> None:
    first, second = (
        olmf(tmp_path, "build", str(catalog), f"oci:{tmp_path}/layout:{tag}", "-l", "a=b") for tag in ("1", "2")
    )
    assert (first.returncode, first.stdout) == (0, second.stdout)
    with folder_of(first.stdout.strip()) as folder:
        assert (folder / "catalog.json").read_bytes() == (catalog / "catalog.json").read_bytes()


def test_a_catalog_that_is_not_valid_is_not_built_unasked(tmp_path: Path) -> None:
    broken = str(written(tmp_path / "catalog", *tea()[1:]))
    refused = olmf(tmp_path, "build", broken, f"oci:{tmp_path}/layout")
    assert refused.returncode == 1
    assert "build with --no-validate" in refused.stderr
    assert olmf(tmp_path, "build", broken, f"oci:{tmp_path}/layout", "--no-validate").returncode == 0


@pytest.mark.parametrize(
    ("words", "code", "output"),
    [
        pytest.param(["{here}/none", "oci:x"], 2, 'none" is not a directory', id="no folder"),
        pytest.param(["{here}/catalog", "oci:x", "-l", "word"], 2, 'invalid label "word"', id="fbc.md 13.10: no label"),
        pytest.param(["{here}/catalog", "UPPER"], 2, "not an image reference", id="no image"),
    ],
)
def test_what_cannot_be_built_is_reported(
    tmp_path: Path, catalog: Path, words: list[str], code: int, output: str
) -> None:
    assert catalog.is_dir()
    done = olmf(tmp_path, "build", *(word.format(here=tmp_path) for word in words))
    assert (done.returncode, done.stdout) == (code, "")
    assert output in done.stderr


def test_what_is_kept_is_listed_and_forgotten(tmp_path: Path, catalog: Path) -> None:
    filled = olmf(tmp_path, "cache", "fill", str(catalog))
    assert (filled.returncode, filled.stdout.partition(",")[0]) == (0, f"{catalog}: 1 packages")
    (row,) = json.loads(olmf(tmp_path, "cache", "list", "-o", "json").stdout)
    assert (row["catalog"], row["packages"]) == (str(catalog), 1)
    (folder,) = {path.parent for path in tmp_path.rglob(row["keptAs"])}
    for name in ("grant-salt", "grant-1", ".blob-1"):
        (folder / name).write_bytes(b"x" * 100)
    cleared = olmf(tmp_path, "cache", "clear").stdout
    assert re.fullmatch(rf"[1-9]\d* kB freed in {re.escape(str(folder))}\n", cleared), cleared
    assert [*folder.iterdir()] == []
    assert json.loads(olmf(tmp_path, "cache", "list", "-o", "json").stdout) == []
    assert olmf(tmp_path, "cache", "clear").stdout.startswith("0 kB freed")


@pytest.mark.parametrize(
    ("path", "code"),
    [pytest.param("{here}/none", 2, id="nothing"), pytest.param("{here}/catalog/c", 1, id="no catalog")],
)
def test_what_cannot_be_kept_is_reported(tmp_path: Path, catalog: Path, path: str, code: int) -> None:
    (catalog / "c").write_text("- 1")
    done = olmf(tmp_path, "cache", "fill", path.format(here=tmp_path))
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@contextmanager
def serving(folder: Path, *words: str) -> Iterator[list[int]]:
    """The ports that a server tells, gRPC first; it is asked to end afterwards, and does well."""
    command = [sys.executable, "-m", "eventing.cli.main", "catalog", "serve", *words, "-p", "0"]
    with subprocess.Popen(command, env=environment(folder), stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        output = next((line for line in program.stderr if line.startswith("serving ")), "")
        try:
            yield [int(word.rstrip(",")) for word in output.split() if word.rstrip(",").isdecimal()]
        finally:
            program.send_signal(signal.SIGTERM)
            assert program.wait(PATIENCE_SECONDS) == 0


def test_fbc_md_r392_a_catalog_is_served_until_sigterm(tmp_path: Path, catalog: Path) -> None:
    with serving(tmp_path, str(catalog), "--http", "127.0.0.1:0", "--name", "tea") as (port, http):
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            ask = caller(channel, REGISTRY.methods_by_name["ListPackages"])
            found = ask(ListPackageRequest(), timeout=PATIENCE_SECONDS)
            assert list(found) == [PackageName(name="tea").SerializeToString()]
        with urllib.request.urlopen(
            f"http://127.0.0.1:{http}/catalogs/tea/api/v1/all", timeout=PATIENCE_SECONDS
        ) as answer:
            assert len(answer.read().splitlines()) == len(tea())


def test_fbc_md_r388_r394_an_index_of_its_own(tmp_path: Path, catalog: Path) -> None:
    cache = ["--cache-dir", str(tmp_path / "cache")]
    refused = olmf(tmp_path, "serve", str(catalog), *cache)
    assert refused.returncode == 1
    assert "integrity check failed: read existing cache digest: " in refused.stderr
    assert olmf(tmp_path, "serve", str(catalog), *cache, "--cache-only").returncode == 0
    with serving(tmp_path, str(catalog), *cache) as ports:
        assert ports


def test_fbc_md_r389_integrity_needs_a_folder(tmp_path: Path, catalog: Path) -> None:
    done = olmf(tmp_path, "serve", str(catalog), "--cache-enforce-integrity")
    assert done.returncode == 1
    assert "--cache-dir must be specified with --cache-enforce-integrity" in done.stderr


def test_fbc_md_r384_a_broken_package_ends_all_only_where_that_is_wanted(tmp_path: Path) -> None:
    documents = [*tea(), {"schema": "olm.channel", "package": "cup", "name": "x", "entries": [{"name": "y"}]}]
    folder = str(written(tmp_path / "catalog", *documents))
    log = tmp_path / "termination"
    refused = olmf(tmp_path, "serve", folder, "-p", "0", "--all-or-nothing", "-t", str(log))
    assert refused.returncode == 1
    assert 'build package index: process package "cup": ' in refused.stderr
    assert "build package index" in log.read_text()
    with serving(tmp_path, folder) as ports:
        assert ports


def test_a_channel_without_a_head_is_reported_while_its_package_is_served(tmp_path: Path) -> None:
    loop = [
        {"name": f"tea.v{one}", "replaces": f"tea.v{other}"} for one, other in (("1.0.0", "2.0.0"), ("2.0.0", "1.0.0"))
    ]
    documents: list[dict[str, Any]] = [
        {"schema": "olm.package", "name": "tea", "defaultChannel": "loop"},
        {"schema": "olm.channel", "package": "tea", "name": "loop", "entries": loop},
        *(a_bundle(version) for version in ("1.0.0", "2.0.0")),
    ]
    log = tmp_path / "termination"
    folder = str(written(tmp_path / "catalog", *documents))
    reported = "package tea is served, but broken: channel loop: no channel head found in graph"
    done = olmf(tmp_path, "serve", folder, "-p", "0", "--http", "127.0.0.1:70000", "-t", str(log))
    assert (done.returncode, done.stderr.splitlines()[0]) == (1, reported)


def test_fbc_md_r390_a_port_in_use(tmp_path: Path, catalog: Path) -> None:
    with serving(tmp_path, str(catalog)) as (port, *_):
        done = anew(tmp_path, "serve", str(catalog), "-p", str(port))
        assert done.returncode == 1
        assert "failed to listen: " in done.stderr
        assert "add_port" not in done.stderr
        done = olmf(tmp_path, "serve", str(catalog), "-p", "0", "--http", f"127.0.0.1:{port}")
        assert done.returncode == 1
        assert f"failed to listen: 127.0.0.1:{port} cannot be listened on: " in done.stderr


def test_what_cannot_be_served_is_reported(tmp_path: Path) -> None:
    done = olmf(tmp_path, "serve", str(tmp_path / "none"))
    assert (done.returncode, done.stderr) == (2, f"olmf: {tmp_path / 'none'}: no such file or folder\n")
    broken = written(tmp_path / "catalog", a_bundle("1.0.0"), name="x")
    (broken / "y").write_text("- 1")
    done = olmf(tmp_path, "serve", str(broken))
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert olmf(tmp_path, "serve", str(broken), "--http", "x").returncode == 2


def test_fbc_md_16_1_every_call_is_logged_where_that_is_wanted(tmp_path: Path, catalog: Path) -> None:
    command = [sys.executable, "-m", "eventing.cli.main", "catalog", "serve", str(catalog), "-p", "0", "--debug"]
    command += ["--pprof-addr", "localhost:6060"]
    with subprocess.Popen(command, env=environment(tmp_path), stderr=subprocess.PIPE, text=True) as program:
        assert program.stderr is not None
        assert "does nothing" in program.stderr.readline()
        port = int(program.stderr.readline().split()[-1])
        with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
            list(channel.unary_stream("/api.Registry/ListPackages", bytes, bytes)(b"", timeout=PATIENCE_SECONDS))
        program.terminate()
        assert "/api.Registry/ListPackages user-agent=" in program.stderr.read()
