"""The installation is taken away from its cluster, and brought back."""

from __future__ import annotations

import re
import secrets

from shared.kinds import CATALOG_SOURCE
from tests.conformance.node.in_pods import OURS, InPods
from tests.conformance.node.steps.operators import reads_the_catalog
from tests.conformance.node.steps.releases import BASE
from tests.kit.waiting import wait_for

INSTALLED = "subscriptions.operators.coreos.com,clusterserviceversions.operators.coreos.com,clusterextensions"
KINDS = "namespaces,customresourcedefinitions,apiservices,clusterroles,clusterrolebindings"
ROLES_OF_GROUPS = ("clusterroles", "-l", "olm.owner.kind=OperatorGroup")
ROLES_OF_ALL = ("clusterroles", "aggregate-olm-edit", "aggregate-olm-view")
OF_OURS = re.compile(
    rf"namespace/{OURS}|[^/]+/(olmf|olm\.og\.|aggregate-olm-).*|[^/]+/.*\.(operators\.coreos\.com|olm\.operatorframework\.io)"
)
SECONDS = 180


def is_taken_away(host: InPods) -> str:
    """What it installed goes first, then the programs; nothing hangs, and nothing of ours is left; then it is back."""
    host.kubectl("delete", INSTALLED, "--all", "--all-namespaces", namespace="", timeout=SECONDS)
    host.kubectl("delete", "-k", str(BASE), namespace="", timeout=SECONDS)
    for roles in (ROLES_OF_GROUPS, ROLES_OF_ALL):
        host.kubectl("delete", *roles, namespace="")
    wait_for(lambda: not left(host), "that nothing is left")
    back(host)
    return "operators, then `kubectl delete -k k8s/base`: nothing hangs, nothing is left; applied anew, all is there"


def left(host: InPods) -> list[str]:
    """What there is of ours in no namespace; what operators brought is theirs."""
    names = host.kubectl("get", KINDS, "-o", "name", namespace="").split()
    return [name for name in names if OF_OURS.fullmatch(name)]


def back(host: InPods) -> None:
    """Apply the base again, with a password and the catalog."""
    host.kubectl("apply", "-k", str(BASE), namespace="")
    password = f"--from-literal=password={secrets.token_hex(24)}"
    host.kubectl("create", "secret", "generic", "olmf-redis", password)
    host.until_ready()
    assert host.cluster.get(CATALOG_SOURCE.ref("local", OURS)) is None
    reads_the_catalog(host)
