"""Posts one event to an endpoint."""

from __future__ import annotations

import urllib3

from eventing.cloudevents import to_request
from eventing.events import Event

SECONDS = 10.0


class EndpointError(OSError):
    """The endpoint did not take the event; the sentence says why."""


def send(endpoint_url: str, event: Event) -> None:
    """Return when the endpoint has queued the event."""
    headers, body = to_request(event)
    try:
        answer = urllib3.request("POST", endpoint_url, headers=headers, body=body, timeout=SECONDS, retries=False)
    except urllib3.exceptions.HTTPError as error:
        raise EndpointError(f"the endpoint does not answer: {error}") from error
    if not 200 <= answer.status < 300:
        raise EndpointError(f"the endpoint answered {answer.status}: {answer.data.decode(errors='replace').strip()}")
