"""What every object of a cluster says of itself, whatever its kind."""

from __future__ import annotations

from shared.api import fields
from shared.api.views import field
from shared.api.views.view import View


class OwnerReference(View):
    """An object without which this one is to be deleted."""

    __slots__ = ()

    kind = field.text("kind")
    """The kind of the owner."""
    name = field.text("name")
    """The name of the owner."""
    uid = field.text("uid")
    """The identity of the owner: another object of its name has another one."""
    is_controller = field.flag("controller")
    """Whether the owner decides what the object is."""

    @property
    def group(self) -> str:
        """The API group of the owner, empty for the core group."""
        return fields.text(self.raw, "apiVersion").rpartition("/")[0]


class StoredCondition(View):
    """A condition as a status has it: one per type."""

    __slots__ = ()

    type = field.text("type")
    """What is stated."""
    status = field.text("status")
    """Whether it holds: `True`, `False` or `Unknown`."""
    reason = field.text("reason")
    """Why, as one word."""
    message = field.text("message")
    """Why, as a sentence."""
    since = field.moment("lastTransitionTime")
    """`lastTransitionTime`: when its status last changed; None when it does not say."""
    since_text = field.text("lastTransitionTime")
    """`lastTransitionTime` as it is; empty when it does not say."""
    observed_generation = field.number("observedGeneration")
    """The generation of the object that it is about; 0 when it does not say."""

    @property
    def is_true(self) -> bool:
        """Whether it holds."""
        return self.status == "True"


class ManagedFields(View):
    """Fields of an object that somebody wrote, as `metadata.managedFields` lists them."""

    __slots__ = ()

    manager = field.text("manager")
    """Who wrote them."""
    operation = field.text("operation")
    """How: `Apply` or `Update`."""
    subresource = field.text("subresource")
    """`status`, when they were written there; empty for the object itself."""
    since = field.moment("time")
    """When one of them was last written; None when it does not say."""
    tree = field.part("fieldsV1")
    """Their paths, as a tree of keys."""


ABSENT = StoredCondition(fields.EMPTY)
"""A condition that is not there: it states nothing."""


class Object(View):
    """A whole object of the API."""

    __slots__ = ()

    metadata = field.part("metadata")
    """`metadata` as it is."""
    spec = field.part("spec")
    """`spec` as it is."""
    status = field.part("status")
    """`status` as it is: what a new status is made of, and compared with."""
    api_version = field.text("apiVersion")
    """`apiVersion`."""
    kind = field.text("kind")
    """`kind`."""
    name = field.text("metadata", "name")
    """`metadata.name`."""
    namespace = field.text("metadata", "namespace")
    """`metadata.namespace`, empty for a cluster-scoped object."""
    uid = field.text("metadata", "uid")
    """`metadata.uid`, empty before the object was stored."""
    resource_version = field.text("metadata", "resourceVersion")
    """`metadata.resourceVersion`, empty before the object was stored."""
    generation = field.number("metadata", "generation")
    """`metadata.generation`, which counts the changes of the spec; 0 when absent."""
    created = field.moment("metadata", "creationTimestamp")
    """`metadata.creationTimestamp`; None before the object was stored."""
    age_key = field.text("metadata", "creationTimestamp")
    """`metadata.creationTimestamp` as text: the older object has the smaller one."""
    labels = field.strings("metadata", "labels")
    """`metadata.labels`."""
    annotations = field.strings("metadata", "annotations")
    """`metadata.annotations`."""
    finalizers = field.texts("metadata", "finalizers")
    """`metadata.finalizers`: who has work to do before the object is gone."""
    owners = field.views(OwnerReference, "metadata", "ownerReferences")
    """`metadata.ownerReferences`."""
    managed = field.views(ManagedFields, "metadata", "managedFields")
    """`metadata.managedFields`."""
    conditions = field.views(StoredCondition, "status", "conditions")
    """`status.conditions`."""

    @property
    def is_deleted(self) -> bool:
        """Whether the object is being deleted (`metadata.deletionTimestamp`); a finalizer may keep it for long."""
        return bool(fields.value(self.raw, "metadata", "deletionTimestamp"))

    def label(self, key: str) -> str | None:
        """The value of a label; None without it."""
        found = fields.value(self.raw, "metadata", "labels", key)
        return found if isinstance(found, str) else None

    def annotation(self, key: str) -> str | None:
        """The value of an annotation; None without it."""
        found = fields.value(self.raw, "metadata", "annotations", key)
        return found if isinstance(found, str) else None

    def condition(self, kind: str) -> StoredCondition:
        """The condition of a type; `ABSENT`, which states nothing, when there is none."""
        return next((one for one in self.conditions if one.type == kind), ABSENT)

    def has_condition(self, kind: str) -> bool:
        """Whether there is a condition of that type, whatever its status."""
        return self.condition(kind) is not ABSENT
