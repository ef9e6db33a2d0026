"""What a ClusterServiceVersion says (csv.md §2)."""

from __future__ import annotations

from shared import names
from shared.api import fields
from shared.api.views import field
from shared.api.views.object import Object
from shared.api.views.view import View
from shared.api.views.webhooks import DEFAULT_PORT, Webhook


class InstallMode(View):
    """Whether an operator can watch namespaces in one way."""

    __slots__ = ()

    type = field.text("type")
    """`OwnNamespace`, `SingleNamespace`, `MultiNamespace` or `AllNamespaces`."""
    is_supported = field.flag("supported")
    """Whether an OperatorGroup that selects that way is accepted."""


class ApiEntry(View):
    """An API that a version owns or requires, served by an API server of its own, or as part of Kubernetes."""

    __slots__ = ()

    name = field.text("name")
    """The plural of the kind, empty for a native API; of a definition its full name, `<plural>.<group>`."""
    version = field.text("version")
    """The version of the API."""
    kind = field.text("kind")
    """The kind of its objects."""
    deployment = field.text("deploymentName")
    """Of an aggregated API: the Deployment that serves it."""

    @property
    def group(self) -> str:
        """The API group, empty for the core group."""
        return fields.text(self.raw, "group")

    @property
    def api_version(self) -> str:
        """`<group>/<version>`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def service(self) -> str:
        """The name of its APIService; that of the core group ends with a dot (`v1.`)."""
        return f"{self.version}.{self.group}"

    @property
    def port(self) -> int:
        """Of an aggregated API: `containerPort`; 443 when it states none above zero."""
        return max(fields.number_at(self.raw, ("containerPort",)), 0) or DEFAULT_PORT


class DefinitionEntry(ApiEntry):
    """An API that a version owns or requires, served by a CustomResourceDefinition."""

    __slots__ = ()

    @property
    def plural(self) -> str:
        """The part of the name before the first dot."""
        return self.name.partition(".")[0]

    @property
    def group(self) -> str:
        """The part of the name after the first dot; empty for a malformed name."""
        return self.name.partition(".")[2]


class DeploymentEntry(View):
    """One Deployment of an operator, as its version wants it."""

    __slots__ = ()

    name = field.text("name")
    """The name of the Deployment."""
    spec = field.part("spec")
    """The spec of the Deployment."""
    labels = field.strings("label")
    """The labels of the Deployment."""


class InstallStrategy(View):
    """How an operator is installed."""

    __slots__ = ()

    name = field.text("strategy")
    """`deployment`, the only one that is supported."""
    permissions = field.parts("spec", "permissions")
    """The rights that it wants in the namespaces it watches, as they are: names of roles are hashes of them."""
    cluster_permissions = field.parts("spec", "clusterPermissions")
    """The rights that it wants in the whole cluster."""
    deployments = field.views(DeploymentEntry, "spec", "deployments")
    """What it runs as."""


class Requirement(View):
    """What was found of one thing that a version requires: an entry of `status.requirementStatus`, or below it."""

    __slots__ = ()

    kind = field.text("kind")
    """The kind of the object."""
    name = field.text("name")
    """The name of the object."""
    status = field.text("status")
    """One word: `Present`, `NotPresent`, … (csv.md §5)."""
    message = field.text("message")
    """Why."""

    @property
    def dependents(self) -> tuple[Requirement, ...]:
        """The rights that a ServiceAccount needs."""
        return Requirement.each(fields.parts(self.raw, "dependents"))


class Csv(Object):
    """One version of an operator in a namespace: the original, or a copy of one of another namespace."""

    __slots__ = ()

    phase = field.text("status", "phase")
    """`status.phase`, empty before the first phase."""
    reason = field.text("status", "reason")
    """`status.reason`, why it is in its phase, in one word; `Copied` for a copy."""
    message = field.text("status", "message")
    """`status.message`, why it is in its phase."""
    since = field.moment("status", "lastTransitionTime")
    """`status.lastTransitionTime`: when its phase began."""
    requirements = field.views(Requirement, "status", "requirementStatus")
    """What was found of its requirements."""
    operator_group = field.text("metadata", "annotations", names.OPERATOR_GROUP)
    """The name of its OperatorGroup, from an annotation; empty without it."""
    version = field.text("spec", "version")
    """`spec.version`."""
    replaces = field.text("spec", "replaces")
    """`spec.replaces`: the name of the version before this one."""
    min_kube_version = field.text("spec", "minKubeVersion")
    """`spec.minKubeVersion`; empty when any version of Kubernetes will do."""
    install = field.view(InstallStrategy, "spec", "install")
    """`spec.install`."""
    install_modes = field.views(InstallMode, "spec", "installModes")
    """`spec.installModes`."""
    owned_definitions = field.views(DefinitionEntry, "spec", "customresourcedefinitions", "owned")
    """The CustomResourceDefinitions that it brings."""
    required_definitions = field.views(DefinitionEntry, "spec", "customresourcedefinitions", "required")
    """The CustomResourceDefinitions that it needs."""
    owned_services = field.views(ApiEntry, "spec", "apiservicedefinitions", "owned")
    """The aggregated APIs that it serves."""
    required_services = field.views(ApiEntry, "spec", "apiservicedefinitions", "required")
    """The aggregated APIs that it needs."""
    native_apis = field.views(ApiEntry, "spec", "nativeAPIs")
    """`spec.nativeAPIs`: APIs that it needs, whoever serves them."""
    webhooks = field.views(Webhook, "spec", "webhookdefinitions")
    """The webhooks that it serves."""

    @property
    def is_copy(self) -> bool:
        """Whether this is a copy, whose original lives in another namespace (csv.md §2.4).

        Any of three marks makes it one: a label, an annotation that names another namespace, the reason of its status.
        """
        origin = self.operator_namespace
        return (
            self.label(names.COPIED_FROM) is not None or origin not in (None, self.namespace) or self.reason == "Copied"
        )

    @property
    def origin(self) -> str:
        """Of a copy: the namespace of the original; empty when it does not say."""
        return self.label(names.COPIED_FROM) or self.operator_namespace or ""

    @property
    def is_leaving(self) -> bool:
        """Whether nothing is done for it any more: it is deleted, or an extension takes its objects over."""
        return self.is_deleted or bool(self.annotation(names.HANDED_OVER))

    @property
    def is_succeeded(self) -> bool:
        """Whether the operator is installed and healthy."""
        return self.phase == "Succeeded"

    @property
    def operator_namespace(self) -> str | None:
        """The namespace of its OperatorGroup, from an annotation; None without it."""
        return self.annotation(names.OPERATOR_NAMESPACE)

    @property
    def target_namespaces(self) -> tuple[str, ...] | None:
        """The namespaces it watches, from an annotation; the empty name means all of them, None that none is stated."""
        listed = self.annotation(names.TARGET_NAMESPACES)
        return None if listed is None else tuple(listed.split(","))

    @property
    def predecessor(self) -> str:
        """The version that it is to replace: `replaces`, but never itself; empty without one."""
        return "" if self.replaces == self.name else self.replaces
