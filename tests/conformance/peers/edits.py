"""What is changed in a peer's checkout before it is built, each change with its reason; the checkout stays as it is.

Go's `-overlay` puts the changed files in place of those of the checkout.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Edit:
    """One text of a file, replaced wherever it stands."""

    file: str
    """Path inside the checkout."""
    before: str
    after: str
    why: str

    def applied(self, text: str) -> str:
        """The text of the file with the change. EditError."""
        if self.before not in text:
            raise EditError(f"{self.file}: {self.before!r} is not there; wanted the commit of the report")
        return text.replace(self.before, self.after)


class EditError(Exception):
    """A checkout has not the text that is to be replaced: it is of another commit."""


def overlay(checkout: Path, edits: tuple[Edit, ...], folder: Path) -> Path:
    """Write the changed files into a folder; returns the file that names them to Go. EditError."""
    changed: dict[str, str] = {}
    for edit in edits:
        changed[edit.file] = edit.applied(changed.get(edit.file) or (checkout / edit.file).read_text())
    replaced = {}
    for number, (file, text) in enumerate(changed.items()):
        made = folder / f"{number}-{Path(file).name}"
        made.write_text(text)
        replaced[str(checkout / file)] = str(made)
    listing = folder / "overlay.json"
    listing.write_text(json.dumps({"Replace": replaced}))
    return listing
