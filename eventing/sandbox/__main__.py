"""`python -m eventing.sandbox --state DIR [--port N]`: serve until SIGTERM."""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

from eventing.sandbox.server import Settings, serve


def main(words: list[str] | None = None) -> None:
    """Read the words, serve; prints the path of the kubeconfig when ready."""
    parser = argparse.ArgumentParser(prog="python -m eventing.sandbox", description="A small Kubernetes API server.")
    parser.add_argument("--state", type=Path, required=True, help="folder of the kubeconfig and the objects")
    parser.add_argument("--port", type=int, default=0, help="0 means any free one")
    parser.add_argument("--forget", action="store_true", help="keep objects in memory only")
    given = parser.parse_args(words)
    settings = Settings(given.state, given.port, is_kept=not given.forget)
    asyncio.run(serve(settings, lambda kubeconfig: print(kubeconfig, file=sys.stdout, flush=True)))  # noqa: T201


if __name__ == "__main__":
    main()
