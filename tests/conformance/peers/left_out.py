"""The specs of peers that are not run, each with the reason: our behaviour is better, or it cannot run here."""

from __future__ import annotations

from collections.abc import Mapping

LEFT_OUT: Mapping[str, str] = {}
