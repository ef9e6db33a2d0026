"""Compares a wanted object with the stored one, to which the API server and other clients add fields."""

from __future__ import annotations


def covers(live: object, desired: object) -> bool:
    """Whether every wanted field is live; other fields do not count, and an empty value may be absent.

    Lists must have the same length: one more or less owner, for example, is a difference.
    """
    if isinstance(desired, dict) and isinstance(live, dict):
        return all(covers(live.get(key), value) for key, value in desired.items())
    if isinstance(desired, list) and isinstance(live, list):
        return len(desired) == len(live) and all(map(covers, live, desired))
    return live == desired or (not desired and live is None)
