"""`python -m tests.spec`: how many numbered rows of each chapter have a test, and why the others have none."""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from tests.spec.contract import CHAPTERS, REASONS, numbered, totals


def main(words: Sequence[str] | None = None) -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(prog="python -m tests.spec", description=__doc__)
    parser.add_argument("chapters", nargs="*", metavar="CHAPTER", help=f"one of {', '.join(CHAPTERS)}; default: all")
    chapters = parser.parse_args(words).chapters
    if unknown := [one for one in chapters if one not in CHAPTERS]:
        parser.error(f"no such chapter: {', '.join(unknown)}; there are {', '.join(CHAPTERS)}")
    columns = ("tests", *REASONS, "open")
    print(f"{'chapter':<10}{'rows':>6}" + "".join(f"{name:>18}" for name in columns))
    for chapter in chapters or CHAPTERS:
        found = totals(chapter)
        print(f"{chapter:<10}{len(numbered(chapter)):>6}" + "".join(f"{found[name] or '–':>18}" for name in columns))


if __name__ == "__main__":
    main()
