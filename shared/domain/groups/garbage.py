"""Finds garbage: old InstallPlans, and objects whose owner or provider was deleted (catalog.md §3.9)."""

from __future__ import annotations
