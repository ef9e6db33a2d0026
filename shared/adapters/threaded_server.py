"""An HTTP server with a thread for each connection, for whom clients that go away are no defect."""

from __future__ import annotations

import logging
import sys
from http.server import ThreadingHTTPServer
from typing import Any

_log = logging.getLogger(__name__)


class ThreadedServer(ThreadingHTTPServer):
    """Its threads end with the process."""

    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Clients may go away in the middle of an answer; any other error is a defect and is shown."""
        error = sys.exception()
        if isinstance(error, ConnectionError | TimeoutError):
            _log.debug("%s went away: %s", client_address[0], error)
        else:
            super().handle_error(request, client_address)
