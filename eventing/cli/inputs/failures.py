"""What keeps a catalog or a bundle from being read, as sentences."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.inputs.bundle_folders import bundles_only
from shared.adapters.content.store import NoStoreFolder
from shared.adapters.oci.errors import OciError
from shared.adapters.paths import NoSuchPath
from shared.domain.catalog.documents import NotACatalog


def unwritable(error: Exception) -> CliError:
    """Why an image could not be written; a name that no image can have is a wrong command."""
    is_misnamed = isinstance(error, OciError) and error.reason == "Malformed"
    return CliError(str(error), USAGE if is_misnamed else UNKNOWN)


@contextmanager
def cli_errors(path: str) -> Iterator[None]:
    """Turn what can be wrong with a PATH into a sentence and an exit code."""
    try:
        yield
    except NotACatalog as error:
        if hint := bundles_only(path):
            raise CliError(hint, USAGE) from error
        raise CliError(str(error), NEGATIVE) from error
    except (OciError, NoStoreFolder) as error:
        raise CliError(str(error)) from error
    except NoSuchPath as error:
        raise CliError(str(error), USAGE) from error
    except OSError as error:
        raise CliError(f"{error.filename or path}: {(error.strerror or str(error)).lower()}") from error
