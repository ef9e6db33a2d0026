"""What ClusterExtensions and their revisions say (v1.md §10, §21.1)."""

from __future__ import annotations

from typing import Any

from shared import names
from shared.api import fields
from shared.api.manifest import ReadOnly
from shared.api.views import field
from shared.api.views.object import Object


class ClusterExtension(Object):
    """A package that is installed for the whole cluster."""

    __slots__ = ()

    install_namespace = field.text("spec", "namespace")
    """`spec.namespace`: where the objects of the bundle go."""
    source = field.part("spec", "source", "catalog")
    """`spec.source.catalog` as it is."""
    deadline = field.number("spec", "progressDeadlineMinutes")
    """`spec.progressDeadlineMinutes`; 0: a roll-out may take for ever."""

    @property
    def is_strict(self) -> bool:
        """Whether unsafe changes of definitions are refused: unless the spec says `None`."""
        enforcement = fields.text(self.raw, "spec", "install", "preflight", "crdUpgradeSafety", "enforcement")
        return enforcement != "None"

    @property
    def config(self) -> Any:  # why: any JSON value
        """`spec.config.inline`; None without a config."""
        return fields.value(self.raw, "spec", "config", "inline")


class ClusterObjectSet(Object):
    """The objects of one revision of an extension."""

    __slots__ = ()

    number = field.number("spec", "revision")
    """`spec.revision`."""
    phases = field.parts("spec", "phases")
    """`spec.phases` as they are."""
    probes = field.parts("spec", "progressionProbes")
    """`spec.progressionProbes` as they are."""
    protection = field.text("spec", "collisionProtection")
    """`spec.collisionProtection`."""
    deadline = field.number("spec", "progressDeadlineMinutes")
    """`spec.progressDeadlineMinutes`; 0: there is none."""
    owner = field.text("metadata", "labels", names.V1_OWNER_NAME)
    """Name of the extension, from its label; empty without one."""
    observed = field.parts("status", "observedPhases")
    """`status.observedPhases` as they are."""

    @property
    def is_archived(self) -> bool:
        """Whether its objects are not wanted any more."""
        return fields.text(self.raw, "spec", "lifecycleState") == "Archived"

    @property
    def has_succeeded(self) -> bool:
        """Whether it was rolled out once."""
        return self.condition("Succeeded").is_true

    @property
    def is_migrated(self) -> bool:
        """Whether it was made of a release of upstream's older engine."""
        return self.labels.get(names.V1_MIGRATED) == "true"

    @property
    def digests(self) -> dict[str, str]:
        """The digest of each phase as it was first seen."""
        return {fields.text(one, "name"): fields.text(one, "digest") for one in self.observed}

    @property
    def reference(self) -> ReadOnly:
        """What its objects say of it as their controller."""
        return {
            "apiVersion": self.api_version, "kind": self.kind, "name": self.name, "uid": self.uid, "controller": True,
            "blockOwnerDeletion": True,
        }  # fmt: skip
