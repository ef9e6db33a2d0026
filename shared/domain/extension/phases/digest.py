"""Digests that tell whether the content of a revision is still what it was (v1.md §21.6)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from shared.domain.extension.phases.order import Phase
from shared.domain.go.encode import json_text


def phase_digest(phase: Phase) -> str:
    """The digest of name and objects, before anything of ours is put on the objects."""
    text = json_text({"name": phase.name, "objects": list(phase.objects)})
    return f"sha256:{sha256(text.encode()).hexdigest()}"


def difference(stored: Mapping[str, str], current: Mapping[str, str]) -> str:
    """How the digests by phase differ from those that were stored, as a sentence; empty when they do not."""
    if not stored:
        return "stored observedPhases is unexpectedly empty"
    if len(stored) != len(current):
        return f"number of phases has changed (expected {len(stored)} phases, got {len(current)})"
    changed = [
        f'phase "{name}" (expected digest {stored[name]}, got {digest})'
        for name, digest in current.items()
        if stored.get(name, digest) != digest
    ]
    if not changed:
        return ""
    why = "a referenced object source may have been deleted and recreated with different content"
    return f"resolved content of {len(changed)} phase(s) has changed: {'; '.join(changed)}; {why}"
