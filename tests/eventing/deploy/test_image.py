"""The image holds what we import, and nothing on the list of what it leaves out."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

IMAGE = Path(__file__).parents[3] / "k8s" / "image"
GUARD = """
import sys
from fnmatch import fnmatch

class Absent:
    def find_spec(self, name, path=None, target=None):
        place = name.replace(".", "/")
        if any(fnmatch(place, pattern) or place.startswith(pattern + "/") for pattern in sys.argv[1].split()):
            raise ModuleNotFoundError(f"{name} is left out of the image", name=name)

sys.meta_path.insert(0, Absent())
"""


@pytest.fixture(scope="module")
def lean() -> ModuleType:
    """The program that makes an installation lean."""
    spec = importlib.util.spec_from_file_location("lean", IMAGE / "lean.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def refusing(patterns: list[str], program: str) -> subprocess.CompletedProcess[str]:
    """Run a program in which no module on the list can be imported."""
    modules = " ".join(pattern for pattern in patterns if not pattern.startswith("**"))
    return subprocess.run(
        [sys.executable, "-B", "-c", GUARD + program, modules], capture_output=True, text=True, timeout=120
    )


def test_what_is_left_out_is_not_needed_to_import_anything_of_ours(lean: ModuleType) -> None:
    done = refusing(lean.left_out("packages"), (IMAGE / "check.py").read_text().replace("from __future__", "#", 1))
    assert done.returncode == 0, done.stderr
    assert int(done.stdout.split()[0]) > 600


def test_the_check_bites(lean: ModuleType) -> None:
    done = refusing([*lean.left_out("packages"), "orjson"], "import eventing.deploy.manifests")
    assert "orjson is left out of the image" in done.stderr


def test_a_kubeconfig_with_a_plugin_is_read_without_the_generated_client(lean: ModuleType, tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    config.write_text(
        """
{apiVersion: v1, kind: Config, current-context: a, contexts: [{name: a, context: {cluster: a, user: a}}],
 clusters: [{name: a, cluster: {server: "http://127.0.0.1:1"}}], users: [{name: a, user: {exec: {
   apiVersion: client.authentication.k8s.io/v1, interactiveMode: Never, command: echo, args: [
    '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "tea"}}']}}}]}
"""
    )
    program = f"from shared.adapters.kube import connect; print(connect({str(config)!r}).authorization())"
    done = refusing(lean.left_out("packages"), program)
    assert done.stdout.strip() == "Bearer tea", done.stderr


def test_an_installation_is_made_lean_and_compiled_by_hash(lean: ModuleType, tmp_path: Path) -> None:
    packages = tmp_path / "lib" / "python3.13" / "site-packages"
    for name in (
        "kubernetes/aio/a.py",
        "kubernetes/client/models/__init__.py",
        "kubernetes/client/models/v1.py",
        "b/tests/c.py",
    ):
        path = packages / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("A = 1\n")
    lean.remove(packages, lean.left_out("packages"))
    lean.compiled(packages)
    kept = {str(path.relative_to(packages)) for path in packages.rglob("*.py")}
    assert kept == {"kubernetes/client/models/__init__.py"}
    (compiled,) = packages.rglob("*.pyc")
    assert compiled.read_bytes()[4] == 0b11, "checked by the hash of its source"
