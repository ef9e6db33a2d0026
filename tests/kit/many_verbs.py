"""Runs many verbs in one process: a list of their words on standard input, what became of each on standard output."""

from __future__ import annotations

import contextlib
import io
import json
import sys

from eventing.cli import main as main_module


def main() -> None:
    """Run them; each line is the words, the exit code and the beginning of what was said to people."""
    for words in json.load(sys.stdin):
        code: int | str = 0
        sys.argv, out, err = ["olmf", *words], io.TextIOWrapper(io.BytesIO()), io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            try:
                main_module.main()
            except SystemExit as end:
                code = end.code or 0
            except BaseException as error:  # noqa: BLE001  # why: whatever it is, it is no sentence
                code, _ = repr(error), err.write("TRACEBACK")
        print(json.dumps([words, code, err.getvalue()[:300]]))
