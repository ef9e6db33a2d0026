"""What passed the gateway of Serving on its way to our Services, read from its log."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

INTAKE, WAKE_UP = "olmf-intake", "io.olmf.work.ready"


@dataclass(frozen=True)
class Delivery:
    """One request with an event: the Service, the status that it answered, and the event's id and type."""

    service: str
    status: int
    event: str
    type: str


def deliveries(log: Iterable[str]) -> list[Delivery]:
    """Those to Services of ours; other lines, and requests without an event, are passed over."""
    found = []
    for line in log:
        words = line.split()
        if len(words) == 6 and words[0] == "delivery" and words[4] != "-":
            service, _, place = words[1].partition(".")
            if place.startswith("olm."):
                found.append(Delivery(service, int(words[2]), words[4], words[5]))
    return found


def told(found: list[Delivery]) -> str:
    """How many there were, and how many of them more than once."""
    changes = [each for each in found if each.service == INTAKE]
    repeated = sum(count - 1 for count in Counter(each.event for each in changes).values())
    refused = Counter(each.status for each in found if each.status != 204)
    return (
        f"{len(changes)} changes delivered, {repeated} of them again; {len(found) - len(changes)} wake-ups; "
        f"{f'answered otherwise than with an empty 204: {dict(refused)}' if refused else 'each answered with 204'}"
    )
