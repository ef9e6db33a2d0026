"""Posts one event to an endpoint, or to another receiver of CloudEvents."""

from __future__ import annotations

import urllib3

from eventing.cloudevents import to_request
from eventing.events import Event

SECONDS = 10.0
LONGEST_ANSWER = 500


class EndpointError(OSError):
    """The receiver did not accept the event; the message says why."""


def send(url: str, event: Event, receiver: str = "the endpoint") -> None:
    """Post the event; returns when the receiver has accepted it, raises EndpointError otherwise."""
    headers, body = to_request(event)
    try:
        answer = urllib3.request("POST", url, headers=headers, body=body, timeout=SECONDS, retries=False)
    except urllib3.exceptions.HTTPError as error:
        raise EndpointError(f"{receiver} does not answer: {error}") from error
    if not 200 <= answer.status < 300:
        said = answer.data[:LONGEST_ANSWER].decode(errors="replace").strip()
        raise EndpointError(f"{receiver} answered {answer.status}: {said}")
