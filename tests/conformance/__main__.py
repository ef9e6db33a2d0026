"""`python -m tests.conformance`: everything, on both targets; exit 1 when something failed."""

from __future__ import annotations

import sys

from tests.conformance.report import main

if __name__ == "__main__":
    sys.exit(main())
