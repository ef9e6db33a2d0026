"""The five objects that unpack one bundle image, all named by the hash of its path (catalog.md §5.1)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from shared import kinds, names
from shared.api.manifest import Manifest, ReadOnly
from shared.domain.bundle.hash import bundle_hash
from shared.domain.bundle.inline import InlineBundle
from shared.domain.objects.ownership import reference_to
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Chosen
from shared.domain.unpack.content import ANY, ExpectedBundle
from shared.domain.unpack.registries import NONE, Registries, referred
from shared.domain.unpack.settings import NO_LIMITS, Settings
from shared.kinds import Kind, Ref

STEM = 58
"""Number of characters of the common name with which the name of a retry begins, too."""
_ARCHITECTURES = ("amd64", "arm64", "ppc64le", "s390x")
_SECURITY = {
    "allowPrivilegeEscalation": False,
    "readOnlyRootFilesystem": True,
    "capabilities": {"drop": ["ALL"]},
}
_TOLERATIONS: tuple[Manifest, ...] = (
    *({"key": "kubernetes.io/arch", "operator": "Equal", "value": value} for value in _ARCHITECTURES),
    {"key": "node-role.kubernetes.io/master", "operator": "Exists", "effect": "NoSchedule"},
    *(
        {"key": f"node.kubernetes.io/{trouble}", "operator": "Exists", "effect": "NoExecute", "tolerationSeconds": 120}
        for trouble in ("unreachable", "not-ready")
    ),
)


@dataclass(frozen=True, slots=True)
class Unpacking:
    """One bundle image to unpack beside one catalog."""

    path: str
    catalog: CatalogKey
    secrets: tuple[str, ...] = ()
    image: str = ""
    """The image of the container in the Job."""
    limits: Settings = NO_LIMITS
    expected: ExpectedBundle = ANY
    global_namespace: str = "olm"
    """Our own namespace, where the ConfigMaps about registries are."""
    user: int = 1001
    """The user id of the container; 0 leaves it to the image and the cluster, as OpenShift demands."""

    @classmethod
    def of(
        cls, chosen: Chosen, expected: ExpectedBundle, limits: Settings, image: str, *, global_namespace: str, user: int
    ) -> Unpacking:
        """The unpacking of a chosen bundle."""
        catalog = chosen.catalog
        return cls(chosen.path, catalog.key, catalog.secrets, image, limits, expected, global_namespace, user)

    @property
    def is_inline(self) -> bool:
        """Whether its manifests are in its catalog: there is no image that a Job could pull."""
        return InlineBundle.parse(self.path) is not None

    @property
    def is_in_global_namespace(self) -> bool:
        """Whether the Job runs in our own namespace, beside the ConfigMaps about registries."""
        return self.catalog.namespace == self.global_namespace

    @property
    def name(self) -> str:
        """The common name of the objects."""
        return bundle_hash(self.path)

    def has(self, ref: Ref) -> bool:
        """Whether the object is one of them, or the Job of a retry."""
        return ref.namespace == self.catalog.namespace and ref.name[:STEM] == self.name[:STEM]

    def config_map(self, payload: ReadOnly | None = None) -> Manifest:
        """The ConfigMap: empty until the Job, or the worker itself, fills it."""
        manifest = self._object(kinds.CONFIG_MAP, self.name)
        manifest["metadata"]["ownerReferences"] = [reference_to(kinds.CATALOG_SOURCE, self.catalog.name)]
        if payload is not None:
            manifest["metadata"]["annotations"] = payload["annotations"]
            manifest["binaryData"] = payload["binaryData"]
        return manifest

    def objects(self, job: str, registries: Registries = NONE) -> tuple[Manifest, ...]:
        """All five objects, in the order in which they are created."""
        return self.config_map(), *self.access(), self.job(job, registries)

    def access(self) -> tuple[Manifest, ...]:
        """Role, ServiceAccount and RoleBinding, which allow the Job to write only this ConfigMap."""
        rule = {
            "apiGroups": [""],
            "resources": ["configmaps"],
            "resourceNames": [self.name],
            "verbs": ["create", "get", "update"],
        }
        role = self._owned(kinds.ROLE, self.name) | {"rules": [rule]}
        account = self._owned(kinds.SERVICE_ACCOUNT, self.name)
        binding = self._owned(kinds.ROLE_BINDING, self.name) | {
            "subjects": [{"kind": "ServiceAccount", "name": self.name, "namespace": self.catalog.namespace}],
            "roleRef": {"apiGroup": kinds.ROLE.group, "kind": "Role", "name": self.name},
        }
        return role, account, binding

    def job(self, name: str = "", registries: Registries = NONE) -> Manifest:
        """The Job, with the common name or the name of a retry."""
        labels = {names.MANAGED: "true", names.UNPACK_REF: self.name}
        job = self._owned(kinds.JOB, name or self.name)
        job["metadata"]["labels"] = labels
        job["spec"] = {
            "backoffLimit": 3,
            "ttlSecondsAfterFinished": 300,
            "template": {"metadata": {"name": self.name, "labels": labels}, "spec": self._pod(registries)},
        }
        if self.limits.timeout > timedelta():
            job["spec"]["activeDeadlineSeconds"] = int(self.limits.timeout.total_seconds())
        return job

    def _pod(self, registries: Registries) -> Manifest:
        environment = referred() if self.is_in_global_namespace else registries.environment
        pod: Manifest = {
            "restartPolicy": "Never",
            "serviceAccountName": self.name,
            "securityContext": {
                "seccompProfile": {"type": "RuntimeDefault"},
                "runAsNonRoot": True,
                **({"runAsUser": self.user} if self.user else {}),
            },
            "nodeSelector": {"kubernetes.io/os": "linux"},
            "tolerations": [dict(toleration) for toleration in _TOLERATIONS],
            "containers": [
                {
                    "name": "extract",
                    "image": self.image,
                    "command": ["olmf", "unpack", *self._arguments(), *registries.arguments],
                    "env": [{"name": "CONTAINER_IMAGE", "value": self.path}, *environment],
                    "resources": {"requests": {"cpu": "10m", "memory": "50Mi"}},
                    "securityContext": dict(_SECURITY),
                    "terminationMessagePolicy": "FallbackToLogsOnError",
                }
            ],
        }
        if self.secrets:
            pod["imagePullSecrets"] = [{"name": secret} for secret in self.secrets]
            _mount(pod, self.secrets)
        return pod

    def _arguments(self) -> Sequence[str]:
        return ("--image", self.path, "--namespace", self.catalog.namespace, "--config-map", self.name)

    def _owned(self, kind: Kind, name: str) -> Manifest:
        manifest = self._object(kind, name)
        manifest["metadata"]["ownerReferences"] = [reference_to(kinds.CONFIG_MAP, self.name)]
        return manifest

    def _object(self, kind: Kind, name: str) -> Manifest:
        return {
            "apiVersion": kind.api_version,
            "kind": kind.kind,
            "metadata": {
                "name": name,
                "namespace": self.catalog.namespace,
                "labels": {names.MANAGED: "true"},
            },
        }


def _mount(pod: Manifest, secrets: Sequence[str]) -> None:
    """Mount the pull secrets as files: the container pulls the bundle image itself."""
    pod["volumes"] = [
        {"name": f"pull-{index}", "secret": {"secretName": secret, "optional": True}}
        for index, secret in enumerate(secrets)
    ]
    pod["containers"][0]["volumeMounts"] = [
        {"name": f"pull-{index}", "mountPath": f"/var/run/olmf/pull/{secret}", "readOnly": True}
        for index, secret in enumerate(secrets)
    ]
