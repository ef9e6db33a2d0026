"""How a verb ends when it cannot end well."""

from __future__ import annotations

import errno

from eventing.cli.commands import quoted
from shared.config import SettingError
from shared.domain.command import olmf

NEGATIVE, USAGE, UNKNOWN = 1, 2, 3
_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)


class CliError(Exception):
    """What, where, why and the next command, in one sentence; `code` is the exit code.

    `NEGATIVE` (1) the answer is no, `USAGE` (2) the command is wrong, `UNKNOWN` (3) it could not be found out.
    """

    def __init__(self, message: str, code: int = UNKNOWN) -> None:
        super().__init__(message)
        self.code = code


def as_cli_error(error: Exception) -> CliError | None:
    """What the world around us refused, as a sentence; None for a bug of ours, which deserves its traceback."""
    from eventing.local.state import ForeignFileError
    from eventing.workqueue import UNREACHABLE, NewerFormat
    from shared.adapters.kube import ApiError, ConnectionSettingError

    match error:
        case ConnectionSettingError() | SettingError():
            return CliError(" ".join(str(error).split()), USAGE)
        case ForeignFileError():
            return CliError(str(error))
        case NewerFormat():
            return CliError(str(error))
        case ApiError(is_unreachable=True):
            return CliError(f"the API server does not answer: {error.message}")
        case ApiError():
            return CliError(f"the API server answered: {error}")
        case OSError() if error.filename:
            return CliError(f"{error.filename}: {(error.strerror or str(error)).lower()}")
        case OSError() if error.errno in _NO_ROOM:
            return CliError(f"the answer could not be written: {(error.strerror or str(error)).lower()}")
        case MemoryError() | RecursionError():
            return CliError("what was given is larger, or nested deeper, than this machine can hold; make it smaller")
        case _ if isinstance(error, UNREACHABLE):
            return CliError(f"Redis does not answer: {error}; {quoted(olmf('status'))} shows what runs")
    return None
