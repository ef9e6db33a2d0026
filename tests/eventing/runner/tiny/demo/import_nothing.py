"""A step that imports a library which nobody has."""

import no_such_library  # type: ignore[import-not-found]  # noqa: F401  # why: it has to fail
