"""`python -m tests.conformance`: everything, on both targets; exit 1 when something failed.

`python -m tests.conformance node` is the third target: our programs in pods of a real node (`node/run.py`).
"""

from __future__ import annotations

import argparse
import sys

from tests.conformance.node import run as node
from tests.conformance.report import main

if __name__ == "__main__":
    if sys.argv[1:2] == ["node"]:
        sys.exit(node.main(sys.argv[2:]))
    argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__).parse_args()
    sys.exit(main())
