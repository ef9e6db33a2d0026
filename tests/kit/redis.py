"""What tests need of a Redis that they kill."""

from __future__ import annotations

from eventing.workqueue import Client


def put_on_disk(client: Client) -> None:
    """Return when everything written so far is in the append-only file, also without WAITAOF (Redis < 7.2)."""
    client.config_set("appendfsync", "always")
    client.delete("olmf:test:fsync")
    client.set("olmf:test:fsync", 1)
    client.delete("olmf:test:fsync")
