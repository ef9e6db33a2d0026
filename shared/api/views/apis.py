"""What the objects say that extend the API: CustomResourceDefinitions and APIServices."""

from __future__ import annotations

from shared import names
from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object

_OWN = "onstart"
"""What the API server calls its own APIServices; those of definitions are called `true`."""


class CustomResourceDefinition(Object):
    """A kind that the API server stores and serves for somebody else."""

    __slots__ = ()

    group = field.text("spec", "group")
    """The API group of its objects."""
    resource = field.text("spec", "names", "plural")
    """`spec.names.plural`: the name of its objects in URLs and roles."""
    resource_kind = field.text("spec", "names", "kind")
    """`spec.names.kind`: the kind of its objects."""
    conversion = field.part("spec", "conversion")
    """`spec.conversion` as it is; empty when it states none."""
    preserves_unknown_fields = field.flag("spec", "preserveUnknownFields")
    """`spec.preserveUnknownFields`, which excludes conversion by a webhook."""
    scope = field.text("spec", "scope")
    """`spec.scope`: `Cluster` or `Namespaced`."""
    stored_versions = field.texts("status", "storedVersions")
    """`status.storedVersions`: versions in which objects may be stored."""

    @property
    def defined(self) -> tuple[str, str]:
        """API group and kind of its objects."""
        return self.group, self.resource_kind

    @property
    def served(self) -> tuple[str, ...]:
        """The names of the versions that are served."""
        versions = fields.parts(self.raw, "spec", "versions")
        return tuple(fields.text(one, "name") for one in versions if one.get("served"))

    @property
    def is_established(self) -> bool:
        """Whether the API server serves it."""
        return self.condition("Established").is_true and self.condition("NamesAccepted").is_true

    @property
    def installers(self) -> tuple[str, ...]:
        """`<namespace>/<name>` of the ClusterServiceVersions with which it was installed, from annotations."""
        prefix = names.INSTALLED_ALONGSIDE_PREFIX
        return tuple(value for key, value in self.annotations.items() if key.startswith(prefix))

    @property
    def converts_by_webhook(self) -> bool:
        """Whether a webhook converts its objects between versions."""
        return fields.text(self.conversion, "strategy") == "Webhook"

    @property
    def is_cluster_scoped(self) -> bool:
        """Whether its objects are in no namespace."""
        return self.scope == "Cluster"


class ApiService(Object):
    """A version of an API group, and who serves it."""

    __slots__ = ()

    group = field.text("spec", "group")
    """The API group, empty for the core group."""

    @property
    def api(self) -> tuple[str, str]:
        """The API group and the version of it."""
        return self.group, fields.text(self.raw, "spec", "version")

    @property
    def is_available(self) -> bool:
        """Whether it is served now."""
        return self.condition("Available").is_true

    @property
    def is_of_definitions(self) -> bool:
        """Whether definitions are what is served, and not resources of an API server, this one or another."""
        return not fields.value(self.raw, "spec", "service") and self.label(names.AUTOMANAGED) != _OWN
