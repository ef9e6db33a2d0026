"""The fork server in an interpreter of its own: `python -m eventing.local.processes MODULE…`."""

from __future__ import annotations

import sys

from eventing.local.processes.server import serve

if __name__ == "__main__":
    serve(sys.argv[1:])
