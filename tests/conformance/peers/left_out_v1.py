"""The scenarios of operator-controller that are not run, each with the reason."""

from __future__ import annotations

from collections.abc import Mapping

LEFT_OUT: Mapping[str, str] = {}
