"""Finds garbage: old InstallPlans, and objects whose owner or provider was deleted (catalog.md §3.9)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator

from shared import names
from shared.api.manifest import Manifest, ReadOnly, is_deleted, labels_of, metadata, name_of, namespace_of
from shared.domain.groups.provision import claims
from shared.domain.groups.roles import provided_by
from shared.domain.lifecycle.phases import is_copied
from shared.domain.plan.state import generation_of
