"""`python -m tests.conformance`: everything, on both targets; exit 1 when something failed.

`python -m tests.conformance node` is the third target: our programs in pods of a real node (`node/run.py`);
`python -m tests.conformance knative` is the fourth: the same node, with Knative (`knative/run.py`).
`python -m tests.conformance faults` tries whatever may go wrong (`faults/run.py`).
"""

from __future__ import annotations

import argparse
import sys

from tests.conformance.faults import run as faults
from tests.conformance.knative import run as knative
from tests.conformance.node import run as node
from tests.conformance.report import main

APART = {"node": node.main, "knative": knative.main, "faults": faults.main}

if __name__ == "__main__":
    if sys.argv[1:] and sys.argv[1] in APART:
        sys.exit(APART[sys.argv[1]](sys.argv[2:]))
    argparse.ArgumentParser(prog="python -m tests.conformance", description=__doc__).parse_args()
    sys.exit(main())
