"""Import contracts bite: a tree that breaks one is refused."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def a_tree(root: Path, files: dict[str, str]) -> None:
    pyproject = (ROOT / "pyproject.toml").read_text()
    (root / "pyproject.toml").write_text(pyproject[pyproject.index("[tool.importlinter]") :])
    names = (
        "adapters", "telemetry", "config", "reading", "ports", "errors", "step", "domain", "kinds", "refs", "api",
        "names", "policy", "resource_versions",
    )  # fmt: skip
    answers = ("", "/doctor", "/revision_objects", "/rollout", "/status", "/why")
    packages = [
        "functions", "functions/g", "eventing", *(f"eventing/diagnosis{name}" for name in answers),
        "shared", *(f"shared/{name}" for name in names),
    ]  # fmt: skip
    for package in packages:
        (root / package).mkdir(parents=True, exist_ok=True)
        (root / package / "__init__.py").write_text("")
    for name, text in files.items():
        (root / name).write_text(text)


@pytest.mark.parametrize(
    ("files", "broken"),
    [
        pytest.param({}, "", id="a clean tree passes"),
        pytest.param({"functions/g/a.py": "import eventing"}, "Entry packages", id="a step imports the event side"),
        pytest.param(
            {"functions/g/a.py": "import functions.g.b", "functions/g/b.py": ""}, "never imports another step",
            id="a step imports a step",
        ),
        pytest.param({"shared/domain/go.py": "import socket"}, "The domain is pure", id="the domain opens a socket"),
        pytest.param({"functions/g/a.py": "import redis"}, "Steps see ports", id="a step talks to Redis"),
        pytest.param({"shared/kinds/a.py": "import shared.ports"}, "Inside shared", id="an import against the layers"),
        pytest.param(
            {"shared/domain/go.py": "import shared.reading"}, "The domain is pure", id="a rule reads the cluster"
        ),
        pytest.param(
            {"shared/domain/go.py": "import shared.domain.plan", "shared/domain/plan.py": ""}, "Floors of the domain",
            id="a rule imports one of a floor above",
        ),
        pytest.param({"shared/new.py": ""}, "Inside shared", id="a new module of shared lies in no layer"),
        pytest.param({"shared/domain/new.py": ""}, "Floors of the domain", id="a new module stands on no floor"),
        pytest.param(
            {"eventing/wiring.py": "import eventing.local", "eventing/local.py": ""}, "Floors of the event side",
            id="the pipeline imports what runs on one machine",
        ),
        pytest.param(
            {"eventing/catalogs.py": "import eventing.cli", "eventing/cli.py": ""}, "Floors of the event side",
            id="what serves catalogs imports a verb",
        ),
        pytest.param(
            {"eventing/diagnosis/status/a.py": "import shared.adapters"}, "Answers for people",
            id="an answer is given a client that writes",
        ),
        pytest.param({"eventing/new.py": ""}, "Floors of the event side", id="a new folder stands on no floor"),
    ],
)  # fmt: skip
def test_a_broken_contract_is_named(tmp_path: Path, files: dict[str, str], broken: str) -> None:
    a_tree(tmp_path, files)
    lint = Path(sys.executable).with_name("lint-imports")
    done = subprocess.run([lint, "--no-cache"], cwd=tmp_path, capture_output=True, text=True, check=False)
    if broken:
        assert done.returncode == 1
        assert any(broken in line and "BROKEN" in line for line in done.stdout.splitlines())
    else:
        assert done.returncode == 0, done.stdout
