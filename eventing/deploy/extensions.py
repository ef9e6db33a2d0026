"""`k8s/extensions`: the base, where ClusterExtensions install nothing but what an administrator has granted.

Decision: who writes the objects of extensions runs in a Deployment of its own, with the account of its group, and its
ClusterRole has only what it needs for itself; the rest is what `olmf bundle rbac` prints, bound to that account.
Turned down: a role whose rules are collected by a label (it holds everywhere, and a bundle needs most of them in one
namespace).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Final

from eventing.deploy.base import Program, deployment_of, image_of_scheduler, policy_of
from eventing.deploy.network import tcp
from eventing.deploy.rbac import WORKER, account_of, binding, granted, rules, subject
from eventing.deploy.rules import EVENTS, READ, RULES, Rule
from shared import kinds
from shared.api.manifest import Manifest

NAME: Final = "olmf-extensions"
GROUP: Final = "cluster_object_set"
OWN: Final = (
    Rule(kinds.CLUSTER_OBJECT_SET, (*READ, "patch")),
    Rule(kinds.CLUSTER_OBJECT_SET, ("update",), "finalizers"),
    Rule(kinds.CLUSTER_OBJECT_SET, ("patch", "update"), "status"),
    *EVENTS,
)
"""What it needs whatever the bundles hold; of Secrets those in our namespace, where the content of revisions is."""
_CONTENT: Final = (Rule(kinds.SECRET, ("get", "patch")),)


def files(api_ports: Iterable[int] = ()) -> dict[str, list[Manifest]]:
    """File name to objects; `api_ports` as in `base.files`."""
    program = Program(NAME, "worker", account_of(GROUP), replicas=2, memory="512Mi")
    served = deployment_of(program)
    (container,) = served["spec"]["template"]["spec"]["containers"]
    container["env"] = [*container["env"], {"name": "OLMF_STEPS", "value": GROUP}]
    return {
        "100-worker.yaml": [served, policy_of(program, tcp(*api_ports))],
        "200-rights.yaml": granted(NAME, rules(_CONTENT), [subject(program.account)]),
    }


def replacements() -> list[Manifest]:
    """For kustomize: it runs the image that all programs run."""
    container = "spec.template.spec.containers.0"
    targets = {
        "select": {"kind": "Deployment", "name": NAME},
        "fieldPaths": [f"{container}.image", f"{container}.env.[name=OLMF_UNPACK_IMAGE].value"],
    }
    return [{"source": image_of_scheduler(), "targets": [targets]}]


def patches() -> list[Manifest]:
    """For kustomize: the other workers neither run these steps nor have their rights, which are narrowed."""
    others = {"name": "OLMF_STEPS", "value": ",".join(group for group in RULES if group != GROUP)}
    adds = [{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": others}]
    narrows = [{"op": "replace", "path": "/rules", "value": rules(OWN)}]
    bound = binding(WORKER, account_of(GROUP))
    gone = {"$patch": "delete", **{key: bound[key] for key in ("apiVersion", "kind", "metadata")}}
    return [
        {"target": {"kind": "Deployment", "name": WORKER}, "patch": json.dumps(adds)},
        {"target": {"kind": "ClusterRole", "name": account_of(GROUP)}, "patch": json.dumps(narrows)},
        {"patch": json.dumps(gone)},
    ]
