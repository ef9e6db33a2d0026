"""`python -m tests.spec`: how many numbered rows of each chapter have a test, and why the others have none."""

from tests.spec.contract import CHAPTERS, REASONS, numbered, totals


def main() -> None:
    """Print the table."""
    columns = ("tests", *REASONS, "open")
    print(f"{'chapter':<10}{'rows':>6}" + "".join(f"{name:>18}" for name in columns))
    for chapter in CHAPTERS:
        found = totals(chapter)
        print(f"{chapter:<10}{len(numbered(chapter)):>6}" + "".join(f"{found[name] or '–':>18}" for name in columns))


main()
