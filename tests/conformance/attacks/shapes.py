"""Objects with hostile text: whole ones of the schemas of our kinds, and valid ones of every kind with some of it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from random import Random
from typing import Any

from shared import names
from shared.kinds import BY_IDENTITY
from tests.conformance.attacks.fields import KEY, Place, kind_of, put, resolved, schema_of
from tests.conformance.attacks.words import LEGAL_NAMES, NUMBERS, hostile

DEEPEST = 7
TRIES = 4
"""With how many texts a place is tried, until the API server takes one."""
Json = Any

CONTAINERS = [{"name": "c", "image": "x", "env": [{"name": "A", "value": "b"}]}]
TEMPLATE = {"metadata": {"labels": {"a": "b"}, "annotations": {"n": "m"}}, "spec": {"containers": CONTAINERS}}
WORKLOAD = {"replicas": 0, "selector": {"matchLabels": {"a": "b"}}, "template": TEMPLATE}
MODES = [{"type": f"{mode}Namespace{'s' * (mode == 'All')}", "supported": True} for mode in ("Own", "Single", "All")]
RULES = [{"serviceAccountName": "s", "rules": [{"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}]}]
STRATEGY = {
    "strategy": "deployment",
    "spec": {"deployments": [{"name": "d", "spec": WORKLOAD}], "permissions": RULES, "clusterPermissions": RULES},
}
DEFINITIONS = {
    "owned": [{"name": "as.b.c", "version": "v1", "kind": "A"}],
    "required": [{"name": "d.e", "version": "v1", "kind": "D"}],
}
OWNED_API = [{"name": "secrets", "group": "", "version": "v1", "kind": "Secret", "deploymentName": "d"}]
OLM = "operators.coreos.com"
SOUND: tuple[Json, ...] = (
    {"apiVersion": f"{OLM}/v1alpha1", "kind": "ClusterServiceVersion", "spec": {
        "displayName": "x", "version": "1.0.0", "minKubeVersion": "1.20.0", "replaces": "y", "skips": ["z"],
        "installModes": MODES, "install": STRATEGY, "customresourcedefinitions": DEFINITIONS,
        "apiservicedefinitions": {"owned": OWNED_API}, "relatedImages": [{"name": "a", "image": "b"}],
    }},
    {"apiVersion": f"{OLM}/v1alpha1", "kind": "Subscription", "spec": {
        "name": "x", "source": "s", "sourceNamespace": "n", "channel": "c", "startingCSV": "x.v1",
        "installPlanApproval": "Automatic", "config": {"env": [{"name": "A", "value": "b"}]},
    }},
    {"apiVersion": f"{OLM}/v1alpha1", "kind": "CatalogSource", "spec": {
        "sourceType": "grpc", "image": "127.0.0.1:1/x", "displayName": "x", "publisher": "y", "secrets": ["z"],
        "updateStrategy": {"registryPoll": {"interval": "10m"}},
    }},
    {"apiVersion": f"{OLM}/v1alpha1", "kind": "InstallPlan", "spec": {
        "approval": "Manual", "approved": True, "generation": 1, "clusterServiceVersionNames": ["x.v1"],
    }},
    {"apiVersion": f"{OLM}/v1", "kind": "OperatorGroup", "spec": {
        "targetNamespaces": ["x"], "serviceAccountName": "s", "upgradeStrategy": "Default",
    }},
    {"apiVersion": f"{OLM}/v2", "kind": "OperatorCondition", "spec": {
        "deployments": ["d"], "serviceAccounts": ["s"], "overrides": [
            {"type": "Upgradeable", "status": "False", "reason": "R", "message": "m"},
        ],
    }},
    {"apiVersion": "apps/v1", "kind": "Deployment", "spec": WORKLOAD},
    {"apiVersion": "batch/v1", "kind": "Job", "spec": {
        "suspend": True, "template": {**TEMPLATE, "spec": {"restartPolicy": "Never", "containers": CONTAINERS}},
    }},
    {"apiVersion": "v1", "kind": "ServiceAccount", "imagePullSecrets": [{"name": "x"}]},
    {"apiVersion": "v1", "kind": "ConfigMap", "data": {"k": "v"}},
    {"apiVersion": "v1", "kind": "Secret", "type": "Opaque", "stringData": {"k": "v"}},
    {"apiVersion": "v1", "kind": "Service", "spec": {"ports": [{"name": "p", "port": 80}], "selector": {"a": "b"}}},
    {"apiVersion": "networking.k8s.io/v1", "kind": "NetworkPolicy", "spec": {
        "podSelector": {"matchLabels": {"a": "b"}}, "policyTypes": ["Ingress"],
        "ingress": [{"from": [{"podSelector": {}}], "ports": [{"port": "p", "protocol": "TCP"}]}],
    }},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": [
        {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": ["x"]},
    ]},
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "RoleBinding", "roleRef": {
        "apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "view",
    }, "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "x"}]},
)  # fmt: skip
"""A valid object of every kind that we watch and a tenant, or an admin of its namespace, may write."""
OURS = tuple(
    sorted({value for name, value in vars(names).items() if name.isupper() and isinstance(value, str) and "." in value})
)
"""Every label and annotation that means something to us (and more words, which mean nothing)."""
KEYS = tuple(key for key in OURS if "/" in key or key.startswith("olm."))
OWNERS = (
    "ClusterServiceVersion",
    "Subscription",
    "InstallPlan",
    "OperatorGroup",
    "CatalogSource",
    "ConfigMap",
    "Job",
    "X",
)


class Generator:
    """A seeded source of objects for one namespace."""

    def __init__(self, seed: int, namespace: str, theirs: tuple[str, ...]) -> None:
        self._rng = Random(seed)
        self._namespace = namespace
        self._theirs = theirs

    def tries(self, place: Place, number: int) -> Iterator[tuple[str, Json]]:
        """Texts for one place, each in an object that is valid otherwise: hostile ones, then such as servers accept."""
        [sound] = [each for each in SOUND if (each["apiVersion"], each["kind"]) == _identity(place)]
        for attempt, text in enumerate(self._texts(place, number)):
            made = copy.deepcopy(sound)
            made["metadata"] = {"name": f"{self._rng.choice(LEGAL_NAMES)}-{number}-{attempt}"}
            put(made, place, text, is_fresh=attempt % 2 == 1)
            yield text, made

    def _texts(self, place: Place, number: int) -> list[str]:
        if place.path == ("metadata", "name"):
            return [self._text(), f"{self._rng.choice(LEGAL_NAMES)}-{number}"]
        legal = ["kube-system", "cluster-admin"]
        if place.path[-1] == KEY and place.path[0] == "metadata":
            legal = self._rng.sample(KEYS, 2)
        return [*(self._text() for _ in range(TRIES - len(legal))), *legal]

    def mixed(self, number: int) -> Json:
        """An object of any kind with several hostile texts; every third of ours is made of its schema alone."""
        sound = SOUND[number % len(SOUND)]
        kind = BY_IDENTITY[sound["apiVersion"], sound["kind"]]
        if kind.group.endswith("coreos.com") and not self._rng.randrange(3):
            made = self._of(schema_of(kind)["properties"]["spec"], 0)
            found = {"apiVersion": sound["apiVersion"], "kind": sound["kind"], "spec": made}
        else:
            found = self._spoiled(sound)
        return {**found, "metadata": self._metadata(number)}

    def _metadata(self, number: int) -> Json:
        rng = self._rng
        meta: Json = {"name": f"{rng.choice(LEGAL_NAMES)}-{number}", "namespace": self._namespace}
        meta["labels"] = {rng.choice(KEYS): rng.choice(("true", "a.b", "x_y", "", "kube-system", "false"))}
        meta["labels"] |= {"olm.managed": "true"} if rng.randrange(2) else {}
        meta["annotations"] = {rng.choice(KEYS): self._text() for _ in range(rng.randrange(4))}
        if not rng.randrange(2):
            meta["ownerReferences"] = [self._owner() for _ in range(rng.randrange(1, 3))]
        if not rng.randrange(10):
            meta["finalizers"] = [f"example.com/{number}"]
        return meta

    def _owner(self) -> Json:
        version = self._rng.choice(("nosuch.example/v1", f"{OLM}/v1alpha1", f"{OLM}/v1", "v1", "a/b/c"))
        uid = self._rng.choice((self._text() or "x", "11111111-1111-1111-1111-111111111111", *self._theirs))
        return {"apiVersion": version, "kind": self._rng.choice(OWNERS), "name": self._text() or "x", "uid": uid}

    def _text(self) -> str:
        return hostile(self._rng, self._theirs)

    def _spoiled(self, sound: Json) -> Json:
        """A copy with up to five of its values replaced."""
        made = copy.deepcopy(sound)
        places = list(_leaves({key: value for key, value in made.items() if key not in ("apiVersion", "kind")}))
        for holder, key in self._rng.sample(places, min(len(places), self._rng.randrange(6))):
            value = holder[key]
            if isinstance(value, str):
                holder[key] = self._text()
            elif isinstance(value, int) and not isinstance(value, bool):
                holder[key] = self._rng.choice(NUMBERS)
        return made

    def _of(self, schema: Json, depth: int) -> Json:
        """Any value that fits a schema."""
        rng, schema = self._rng, resolved(schema)
        if "enum" in schema:
            return rng.choice(schema["enum"])
        kind = kind_of(schema)
        if kind == "string":
            return "2026-01-01T00:00:00Z" if schema.get("format") == "date-time" else self._text()
        if kind in ("integer", "number"):
            return rng.choice(NUMBERS[:4] if schema.get("format") == "int32" else NUMBERS)
        if kind == "boolean":
            return bool(rng.randrange(2))
        if kind == "array":
            return [self._of(schema["items"], depth + 1) for _ in range(0 if depth > DEEPEST else rng.randrange(3))]
        return self._object(schema, depth)

    def _object(self, schema: Json, depth: int) -> Json:
        fields, needed = schema.get("properties") or {}, schema.get("required") or ()
        made = {
            name: self._of(field, depth + 1)
            for name, field in fields.items()
            if name in needed or (depth < DEEPEST and self._rng.randrange(2))
        }
        if isinstance(more := schema.get("additionalProperties"), dict) and depth < DEEPEST:
            made |= {self._text(): self._of(more, depth + 1) for _ in range(2)}
        if schema.get("x-kubernetes-preserve-unknown-fields") and depth < DEEPEST:
            made[self._text()] = {self._text(): [self._text()]}
        return made


def _identity(place: Place) -> tuple[str, str]:
    return place.kind.api_version, place.kind.kind


def _leaves(node: Json) -> Iterator[tuple[Json, Any]]:
    pairs = node.items() if isinstance(node, dict) else enumerate(node)
    for key, value in list(pairs):
        if isinstance(value, dict | list):
            yield from _leaves(value)
        else:
            yield node, key
