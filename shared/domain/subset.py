"""Compares a wanted object with the stored one, to which the API server and other clients add fields."""

from __future__ import annotations


def covers(live: object, wanted: object) -> bool:
    """Whether every wanted field is live; other fields do not count, and an empty value may be absent.

    Lists must have the same length: one more or less owner, for example, is a difference.
    """
    if isinstance(wanted, dict) and isinstance(live, dict):
        return all(covers(live.get(key), value) for key, value in wanted.items())
    if isinstance(wanted, list) and isinstance(live, list):
        return len(wanted) == len(live) and all(map(covers, live, wanted))
    return live == wanted or (not wanted and live is None)
