"""The command `olmf`: Ctrl-C ends it in silence even while what it needs is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run one verb."""
    try:
        from eventing.cli.main import main as run
    except KeyboardInterrupt:
        sys.exit(130)
    run()
