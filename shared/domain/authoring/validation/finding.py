"""What a validator says about a bundle (fbc.md §11.4)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Final, Literal, TypeAlias

Level: TypeAlias = Literal["Error", "Warning"]
ERROR: Final = "Error"
WARNING: Final = "Warning"


@dataclass(frozen=True, slots=True)
class Finding:
    """One error or warning, and its place."""

    level: Level
    detail: str
    path: str = ""
    """The file, inside the bundle; empty when it is about the whole."""
    field: str = ""
    value: str | None = None
    """The value that was found; None when the message has none, which an empty text is not."""
    is_plain: bool = False
    """A message of `opm` itself is printed without level, field and value."""

    @property
    def is_error(self) -> bool:
        """Whether the bundle is refused because of it."""
        return self.level == ERROR

    def __str__(self) -> str:
        """As the reference prints it."""
        if self.is_plain:
            return self.detail
        field, value = f"Field {self.field}", f"Value {self.value}"
        about = [text for text, is_known in ((field, self.field), (value, self.value is not None)) if is_known]
        return f"{self.level}: {', '.join(about)}: {self.detail}" if about else "ErrMessageMissing"

    def at(self, path: str) -> Finding:
        """The same with its file, unless it has one."""
        return self if self.path else replace(self, path=path)


def plain(detail: str, path: str = "") -> Finding:
    """An error with a message of `opm` itself."""
    return Finding(ERROR, detail, path, is_plain=True)


def warned(detail: str, path: str = "") -> Finding:
    """A warning that the reference does not have."""
    return Finding(WARNING, detail, path, is_plain=True)


def about(name: str, detail: str, level: Level = ERROR) -> Finding:
    """A finding about a ClusterServiceVersion, or a package, by its name."""
    return Finding(level, f"({name}) {detail}", value="")
