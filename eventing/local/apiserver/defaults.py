"""Defaults of built-in kinds that are not in a schema, as a table from path to value."""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterator
from typing import Any

from eventing.local.apiserver.resources import Resource
from eventing.local.apiserver.world import World
from shared.api.manifest import Manifest, ReadOnly

_POD: Manifest = {
    "restartPolicy": "Always", "dnsPolicy": "ClusterFirst", "terminationGracePeriodSeconds": 30,
    "schedulerName": "default-scheduler", "securityContext": {},
}  # fmt: skip
_CONTAINER: Manifest = {
    "terminationMessagePath": "/dev/termination-log", "terminationMessagePolicy": "File", "resources": {},
}  # fmt: skip
_PROBE: Manifest = {"timeoutSeconds": 1, "periodSeconds": 10, "successThreshold": 1, "failureThreshold": 3}
_VOLUMES: dict[str, Manifest] = {
    "configMap": {"defaultMode": 420}, "secret": {"defaultMode": 420}, "downwardAPI": {"defaultMode": 420},
    "projected": {"defaultMode": 420}, "hostPath": {"type": ""},
}  # fmt: skip
_ROLLING = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"}}
_DAEMON = {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": 1, "maxSurge": 0}}
_HOOK: Manifest = {
    "matchPolicy": "Equivalent", "namespaceSelector": {}, "objectSelector": {}, "timeoutSeconds": 10,
    "failurePolicy": "Fail",
}  # fmt: skip

SPECS: dict[str, Manifest] = {
    "Deployment": {
        "replicas": 1, "strategy": _ROLLING, "revisionHistoryLimit": 10, "progressDeadlineSeconds": 600,
    },
    "ReplicaSet": {"replicas": 1},
    "ReplicationController": {"replicas": 1},
    "StatefulSet": {
        "replicas": 1, "podManagementPolicy": "OrderedReady", "revisionHistoryLimit": 10,
        "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"partition": 0}},
        "persistentVolumeClaimRetentionPolicy": {"whenDeleted": "Retain", "whenScaled": "Retain"},
    },
    "DaemonSet": {"updateStrategy": _DAEMON, "revisionHistoryLimit": 10},
    "Job": {
        "backoffLimit": 6, "completionMode": "NonIndexed", "suspend": False, "manualSelector": False,
        "podReplacementPolicy": "TerminatingOrFailed",
    },
    "CronJob": {
        "concurrencyPolicy": "Allow", "suspend": False, "successfulJobsHistoryLimit": 3, "failedJobsHistoryLimit": 1,
    },
    "Service": {"type": "ClusterIP", "sessionAffinity": "None", "internalTrafficPolicy": "Cluster"},
}  # fmt: skip
"""The defaults of specs, by kind."""


_STATUS: dict[str, Manifest] = {
    "Deployment": {}, "Job": {}, "CronJob": {}, "ReplicaSet": {"replicas": 0},
    "PersistentVolumeClaim": {"phase": "Pending"},
    "Pod": {"phase": "Pending", "qosClass": "BestEffort"}, "Service": {"loadBalancer": {}}, "ResourceQuota": {},
    "StatefulSet": {"replicas": 0, "availableReplicas": 0}, "Namespace": {"phase": "Active"},
    "Ingress": {"loadBalancer": {}},
    "DaemonSet": {"currentNumberScheduled": 0, "desiredNumberScheduled": 0, "numberMisscheduled": 0, "numberReady": 0},
}  # fmt: skip


def _absent(target: Manifest, values: ReadOnly) -> None:
    for name, value in values.items():
        if name not in target or (target[name] == {} and value):
            target[name] = copy.deepcopy(value)


def fill_builtin(resource: Resource, manifest: Manifest, world: World, old: ReadOnly | None = None) -> None:
    """Set the defaults of the real server, in place."""
    if resource.is_custom:
        return
    kind = resource.kind
    if kind in SPECS and isinstance(manifest.setdefault("spec", {}), dict):
        _absent(manifest["spec"], SPECS[kind])
    for spec, is_job in _pod_specs(kind, manifest):
        _fill_pod(spec, is_job=is_job)
    if kind in _STATUS:
        manifest.setdefault("status", copy.deepcopy(_STATUS[kind]))
    if special := _SPECIAL.get(kind):
        special(manifest, world, old or {})


def _pod_specs(kind: str, manifest: Manifest) -> Iterator[tuple[Manifest, bool]]:
    spec = manifest.get("spec") or {}
    if kind == "Pod":
        yield spec, False
    elif isinstance(template := spec.get("template"), dict):
        template.setdefault("metadata", {})
        if "spec" in template:
            yield template["spec"], kind == "Job"


def _fill_pod(spec: Manifest, *, is_job: bool) -> None:
    _absent(spec, {name: value for name, value in _POD.items() if not (is_job and name == "restartPolicy")})
    if "serviceAccountName" in spec or "serviceAccount" in spec:
        account = spec.get("serviceAccountName") or spec["serviceAccount"]
        spec["serviceAccountName"] = spec["serviceAccount"] = account
    for container in (*spec.get("containers", ()), *spec.get("initContainers", ())):
        _fill_container(container)
    for volume in spec.get("volumes", ()):
        if len(volume) == 1:
            volume["emptyDir"] = {}
        for name, values in _VOLUMES.items():
            if name in volume:
                _absent(volume[name], values)


def _fill_container(container: Manifest) -> None:
    _absent(container, _CONTAINER)
    tag = str(container.get("image", "")).rpartition("/")[2]
    latest = "@" not in tag and (":" not in tag or tag.endswith(":latest"))
    _absent(container, {"imagePullPolicy": "Always" if latest else "IfNotPresent"})
    for port in container.get("ports", ()):
        _absent(port, {"protocol": "TCP"})
    for name in ("livenessProbe", "readinessProbe", "startupProbe"):
        if name in container:
            _absent(container[name], _PROBE)
            _absent(container[name].get("httpGet", {"path": "", "scheme": ""}), {"path": "/", "scheme": "HTTP"})
    for variable in container.get("env", ()):
        source = variable.get("valueFrom", {}).get("fieldRef")
        if source:
            _absent(source, {"apiVersion": "v1"})


def _namespace(manifest: Manifest, _world: World, old: ReadOnly) -> None:
    name = manifest["metadata"]["name"]
    manifest["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name
    manifest["spec"] = old.get("spec") or {"finalizers": ["kubernetes"]}


def _secret(manifest: Manifest, _world: World, _old: ReadOnly) -> None:
    manifest.setdefault("type", "Opaque")
    for key, value in (manifest.pop("stringData", None) or {}).items():
        manifest.setdefault("data", {})[key] = base64.b64encode(value.encode()).decode()


def _service(manifest: Manifest, world: World, old: ReadOnly) -> None:
    spec, before = manifest["spec"], old.get("spec") or {}
    if spec["sessionAffinity"] == "ClientIP":
        _absent(spec, {"sessionAffinityConfig": {"clientIP": {"timeoutSeconds": 10800}}})
    for port in spec.get("ports", ()):
        _absent(port, {"protocol": "TCP"})
        port["targetPort"] = port.get("targetPort") or port.get("port")
    if spec["type"] != "ExternalName":
        if not spec.get("clusterIP"):
            spec["clusterIP"] = before.get("clusterIP") or _address(world)
        _absent(spec, {"clusterIPs": [spec["clusterIP"]], "ipFamilies": ["IPv4"], "ipFamilyPolicy": "SingleStack"})


def _address(world: World) -> str:
    free = (f"10.0.{third}.{last}" for third in range(256) for last in range(2, 255))
    taken = {service.manifest["spec"].get("clusterIP") for service in world.store.list("/services")}
    return next(address for address in free if address not in taken)


def _job(manifest: Manifest, _world: World, old: ReadOnly) -> None:
    meta, spec = manifest["metadata"], manifest["spec"]
    if "parallelism" not in spec:
        _absent(spec, {"parallelism": 1, "completions": 1})
    if selector := (old.get("spec") or {}).get("selector"):
        _absent(spec, {"selector": selector})
    if not spec.get("manualSelector") and isinstance(spec.get("template"), dict):
        marks = {"batch.kubernetes.io/controller-uid": meta["uid"], "controller-uid": meta["uid"],
                 "batch.kubernetes.io/job-name": meta.get("name", ""), "job-name": meta.get("name", "")}  # fmt: skip
        labels = spec["template"].setdefault("metadata", {}).setdefault("labels", {})
        _absent(labels, marks)
        _absent(meta, {"labels": labels})
        _absent(spec, {"selector": {"matchLabels": {"batch.kubernetes.io/controller-uid": meta["uid"]}}})


def _binding(manifest: Manifest, _world: World, _old: ReadOnly) -> None:
    if isinstance(manifest.get("roleRef"), dict):
        _absent(manifest["roleRef"], {"apiGroup": "rbac.authorization.k8s.io"})
    for subject in manifest.get("subjects", ()):
        if subject.get("kind") in ("User", "Group"):
            _absent(subject, {"apiGroup": "rbac.authorization.k8s.io"})


def _role(manifest: Manifest, _world: World, old: ReadOnly) -> None:
    manifest.setdefault("rules", old.get("rules") if "aggregationRule" in manifest else None)


def _event(manifest: Manifest, _world: World, _old: ReadOnly) -> None:
    _absent(manifest, {"eventTime": None, "source": {}, "reportingComponent": "", "reportingInstance": ""})


def _definition(manifest: Manifest, _world: World, old: ReadOnly) -> None:
    spec = manifest.get("spec") or {}
    names = spec.get("names") or {}
    if names.get("kind"):
        _absent(names, {"singular": names["kind"].lower(), "listKind": f"{names['kind']}List"})
    _absent(spec, {"conversion": {"strategy": "None"}})
    client = (spec["conversion"].get("webhook") or {}).get("clientConfig") or {}
    _absent(client.get("service", {"port": 0}), {"port": 443})
    stored = [version.get("name") for version in spec.get("versions", ()) if version.get("storage")]
    status = manifest["status"] = copy.deepcopy(manifest.get("status") or old.get("status") or {})
    known: list[Any] = status.setdefault("storedVersions", [])
    known += [name for name in stored if name not in known]


def _webhooks(manifest: Manifest, _world: World, _old: ReadOnly) -> None:
    for hook in manifest.get("webhooks", ()):
        _absent(hook, _HOOK)
        if manifest["kind"].startswith("Mutating"):
            _absent(hook, {"reinvocationPolicy": "Never"})
        if "service" in hook.get("clientConfig", {}):
            _absent(hook["clientConfig"]["service"], {"port": 443})
        for rule in hook.get("rules", ()):
            _absent(rule, {"scope": "*"})


def _api_service(manifest: Manifest, _world: World, _old: ReadOnly) -> None:
    if isinstance(service := manifest["spec"].get("service"), dict):
        _absent(service, {"port": 443})


def _pod(manifest: Manifest, _world: World, _old: ReadOnly) -> None:
    _absent(manifest["spec"], {"enableServiceLinks": True})


_SPECIAL: dict[str, Any] = {
    "Namespace": _namespace, "Secret": _secret, "Service": _service, "Job": _job, "RoleBinding": _binding,
    "ClusterRoleBinding": _binding, "CustomResourceDefinition": _definition, "APIService": _api_service,
    "ValidatingWebhookConfiguration": _webhooks, "MutatingWebhookConfiguration": _webhooks, "Pod": _pod,
    "ClusterRole": _role, "Role": _role, "Event": _event,
}  # fmt: skip
