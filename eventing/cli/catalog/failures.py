"""What keeps a catalog from being read, as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eventing.cli.failure import NEGATIVE, CliError


@contextmanager
def told(path: str) -> Iterator[None]:
    """Turn what can be wrong with a path into a sentence and an exit code."""
    from shared.adapters.oci.errors import OciError
    from shared.domain.catalog.documents import NotACatalog

    try:
        yield
    except NotACatalog as error:
        raise CliError(str(error), NEGATIVE) from error
    except OciError as error:
        raise CliError(str(error)) from error
    except OSError as error:
        raise CliError(f"{path}: {error.strerror or error}: name a folder, a file, an image, or - for stdin") from error
