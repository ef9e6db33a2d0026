"""Performs the writes of an Outcome; no other package writes to the cluster."""

from __future__ import annotations

from eventing.effects.api import Api
from eventing.effects.perform import SLICE, Effects
from eventing.effects.written import Performed, Written, kind_of

__all__ = ["SLICE", "Api", "Effects", "Performed", "Written", "kind_of"]
