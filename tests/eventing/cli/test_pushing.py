"""`bundle build` and `catalog build` push as flags and registries.conf say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from eventing.cli.failure import CliError
from eventing.cli.main import app
from tests.kit.image_registry import Answer, Request, ScriptedRegistry, scripted_registry
from tests.kit.installation import SAMPLES

CATALOG = "schema: olm.package\nname: tide\ndefaultChannel: stable\n"


def takes(request: Request) -> Answer:
    """A registry that has nothing, and takes everything."""
    match request.method:
        case "HEAD":
            return Answer(status=404)
        case "POST":
            return Answer(status=202, headers={"Location": "/v2/tea/blobs/uploads/1"})
    return Answer(status=201)


@pytest.fixture
def registry() -> Iterator[ScriptedRegistry]:
    """One that speaks plain HTTP under a name that is not loopback's, so that HTTPS is expected of it."""
    with scripted_registry() as scripted:
        scripted.gate = takes
        scripted.address = scripted.address.replace("127.0.0.1", "0.0.0.0")
        yield scripted


@pytest.fixture
def catalog(tmp_path: Path) -> Path:
    folder = tmp_path / "catalog"
    folder.mkdir()
    (folder / "package.yaml").write_text(CATALOG)
    return folder


def pushed(verb: str, registry: ScriptedRegistry, catalog: Path, *words: str) -> Result:
    image = f"{registry.address}/tea:1"
    commands = {
        "bundle": ["bundle", "build", "-d", str(SAMPLES / "tide" / "1.0.0"), "-t", image],
        "catalog": ["catalog", "build", "--no-validate", str(catalog), image],
    }
    return CliRunner().invoke(app, [*commands[verb], *words])


VERBS = pytest.mark.parametrize("verb", ["bundle", "catalog"])


@VERBS
@pytest.mark.parametrize("flag", ["--use-http", "--skip-tls-verify", "--skip-tls"])
def test_a_flag_lets_plain_http_do(verb: str, flag: str, registry: ScriptedRegistry, catalog: Path) -> None:
    done = pushed(verb, registry, catalog, flag)
    assert done.exit_code == 0, done.exception
    assert done.stdout.startswith(f"{registry.address}/tea@sha256:")


@VERBS
def test_registries_conf_lets_plain_http_do(
    verb: str, registry: ScriptedRegistry, catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = tmp_path / "registries.conf"
    mirror = '[[registry.mirror]]\nlocation = "mirror.invalid"'
    conf.write_text(f'[[registry]]\nlocation = "{registry.address}"\ninsecure = true\n{mirror}')
    monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(conf))
    done = pushed(verb, registry, catalog)
    assert done.exit_code == 0, done.exception
    assert registry.requests[-1].path == "/v2/tea/manifests/1", "never to a mirror"


@VERBS
def test_where_registries_conf_blocks_nothing_is_pushed(
    verb: str, registry: ScriptedRegistry, catalog: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    conf = tmp_path / "registries.conf"
    conf.write_text(f'[[registry]]\nlocation = "{registry.address}"\nblocked = true')
    monkeypatch.setenv("CONTAINERS_REGISTRIES_CONF", str(conf))
    done = pushed(verb, registry, catalog, "--use-http")
    assert isinstance(done.exception, CliError)
    assert "registries.conf blocks" in str(done.exception)
    assert registry.requests == []


@VERBS
def test_without_them_https_is_demanded(verb: str, registry: ScriptedRegistry, catalog: Path) -> None:
    done = pushed(verb, registry, catalog)
    assert isinstance(done.exception, CliError)
    assert not [request for request in registry.requests if request.method in ("POST", "PUT")]
