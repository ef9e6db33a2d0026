"""A ClusterExtension whose objects are written with rights that an administrator granted."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import yaml

from eventing.deploy import extensions
from eventing.deploy.rbac import account_of
from shared.kinds import CLUSTER_EXTENSION, CLUSTER_OBJECT_SET, DEPLOYMENT, POD
from tests.conformance.lifecycle.test_cluster_catalogs import a_catalog
from tests.conformance.lifecycle.test_extensions import CATALOG as V1_CATALOG
from tests.conformance.lifecycle.test_extensions import an_extension, until_installed
from tests.conformance.node.in_pods import OURS, InPods
from tests.conformance.node.steps.operators import CATALOG
from tests.conformance.node.steps.releases import BASE
from tests.kit.installation import a_namespace, condition

PLACE, PACKAGE, VERSION = "granted", "ledger", "2.1.0"
BUNDLE = f"quay.io/samples/{PACKAGE}-bundle:{VERSION}"
EXTENSION, REVISION = CLUSTER_EXTENSION.ref(PLACE), CLUSTER_OBJECT_SET.ref(f"{PLACE}-1")
ACCOUNT = account_of(extensions.GROUP)


def is_granted(host: InPods) -> str:
    """With `k8s/extensions`: refused first, then installed with what `olmf bundle rbac` prints, then uninstalled."""
    with _applied(host):
        host.apply(a_namespace(PLACE), a_catalog(V1_CATALOG.name, CATALOG), an_extension(PLACE, PLACE, PACKAGE))
        told = host.until(REVISION, lambda each: "cannot" in condition(each, "Progressing").get("message", ""))
        message = condition(told, "Progressing")["message"]
        assert f'User "system:serviceaccount:{OURS}:{ACCOUNT}" cannot' in message, message
        words = ("bundle", "rbac", BUNDLE, "--install-namespace", PLACE, "--extension", PLACE, "--name", PLACE)
        printed = host.olmf(*words, "--service-account", f"{OURS}/{ACCOUNT}").stdout
        host.apply(*yaml.safe_load_all(printed))
        until_installed(host, EXTENSION, VERSION)
        assert host.cluster.list(POD, PLACE), "no pod of the operator"
        host.remove(EXTENSION, V1_CATALOG)
        host.until_gone(REVISION)
        assert not host.cluster.list(DEPLOYMENT, PLACE)
    return "refused by name first; installed with what `olmf bundle rbac` prints, and uninstalled with it"


@contextmanager
def _applied(host: InPods) -> Iterator[None]:
    """The overlay in place of the base, and back."""
    host.kubectl("apply", "-k", str(BASE.parent / "extensions"), namespace="")
    for name in (extensions.NAME, "olmf-worker"):
        host.kubectl("rollout", "status", f"deploy/{name}", timeout=180)
    try:
        yield
    finally:
        host.kubectl("delete", f"deploy/{extensions.NAME}", f"networkpolicy/{extensions.NAME}")
        host.kubectl("delete", f"role/{extensions.NAME}", f"rolebinding/{extensions.NAME}")
        host.kubectl("apply", "-k", str(BASE), namespace="")
        host.until_ready()
