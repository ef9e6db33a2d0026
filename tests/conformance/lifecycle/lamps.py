"""The sample operator with webhooks and an aggregated API, as tests of whole installations look at it."""

from __future__ import annotations

import shutil
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from eventing.local.kubelet.sample_operator import COLOR, MOST_LUMENS
from shared.adapters.keys import x509
from shared.adapters.keys.stored import public_part
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.domain.endpoints.certificates import VALID, Content
from shared.domain.endpoints.naming import hosts
from shared.kinds import (
    API_SERVICE,
    CLUSTER_ROLE_BINDING,
    CLUSTER_SERVICE_VERSION,
    CUSTOM_RESOURCE_DEFINITION,
    INSTALL_PLAN,
    MUTATING_WEBHOOKS,
    ROLE_BINDING,
    SECRET,
    SERVICE,
    VALIDATING_WEBHOOKS,
    Ref,
)
from tests.kit.installation import SAMPLES, Installation, a_namespace, a_subscription, an_operator_group
from tests.kit.waiting import wait_for

SAMPLE = SAMPLES.parent / "webhooks"
FIRST, NEXT, RENAMED = "1.0.0", "1.1.0", "1.2.0"
DEFINITION = CUSTOM_RESOURCE_DEFINITION.ref("lamps.samples.olmf.io")
MEASURES = API_SERVICE.ref("v1.measures.samples.olmf.io")
DEPLOYMENT, OTHER_DEPLOYMENT = "lamps-controller", "lamps-server"
DENIED = "denied the request: 1001 lumens blind"


SCAFFOLD = """
  conversion:
    strategy: Webhook
    webhook:
      clientConfig: {service: {name: webhook-service, namespace: system, path: /convert}}
      conversionReviewVersions: [v1]
"""
"""What the definitions of most public bundles state: a Service that is in no cluster."""


def three_versions(folder: Path) -> Path:
    """The sample operator in its two versions, and a third one whose Deployment has another name."""
    shutil.copytree(SAMPLE, folder)
    for path in folder.glob("*/*/manifests/*.crd.yaml"):
        path.write_text(path.read_text().rstrip() + SCAFFOLD)
    last = shutil.copytree(folder / "lamps" / NEXT, folder / "lamps" / RENAMED)
    [csv] = (last / "manifests").glob("*clusterserviceversion.yaml")
    text = csv.read_text().replace(NEXT, RENAMED).replace(FIRST, NEXT)
    csv.write_text(text.replace(f"{DEPLOYMENT}\n", f"{OTHER_DEPLOYMENT}\n"))
    return folder


@dataclass(frozen=True)
class Lamps:
    """The sample operator in a namespace."""

    host: Installation
    namespace: str
    deployment: str = DEPLOYMENT

    def ref(self, version: str = FIRST) -> Ref:
        return CLUSTER_SERVICE_VERSION.ref(f"lamps.v{version}", self.namespace)

    @property
    def secret(self) -> Ref:
        return SECRET.ref(f"{self.deployment}-service-cert", self.namespace)

    @property
    def service(self) -> Ref:
        return SERVICE.ref(f"{self.deployment}-service", self.namespace)

    def approve(self, version: str) -> None:
        """Wait for the plan of a version, and let it be carried out."""
        self.begin(version)
        self.host.until_phase(self.ref(version).name, self.namespace)

    def begin(self, version: str) -> None:
        """Wait for the plan of a version, and approve it."""
        desired = [self.ref(version).name]

        def waiting() -> list[Manifest]:
            plans = self.host.cluster.list(INSTALL_PLAN, self.namespace)
            asking = [one for one in plans if (one.get("status") or {}).get("phase") == "RequiresApproval"]
            return [one for one in asking if one["spec"]["clusterServiceVersionNames"] == desired]

        [plan] = wait_for(waiting, f"a plan of {desired}")
        self.host.cluster.merge(Ref.of(plan), {"spec": {"approved": True}})

    def create(self, name: str, version: str = "v1", *, is_dry_run: bool = False, **spec: Any) -> Any:
        """The spec of a new Lamp. ApiError."""
        meta = {"name": name, "namespace": self.namespace}
        manifest = {"apiVersion": f"samples.olmf.io/{version}", "kind": "Lamp", "metadata": meta, "spec": spec}
        path = f"/apis/samples.olmf.io/{version}/namespaces/{self.namespace}/lamps"
        return self.host.cluster.request("POST", path + ("?dryRun=All" if is_dry_run else ""), manifest)["spec"]

    def read(self, name: str, version: str) -> Any:
        path = f"/apis/samples.olmf.io/{version}/namespaces/{self.namespace}/lamps/{name}"
        return self.host.cluster.request("GET", path)["spec"]

    def refusal(self) -> str:
        """What is said of a Lamp that is too bright; empty when it is taken."""
        try:
            self.create("blinding", is_dry_run=True, lumens=MOST_LUMENS + 1)
        except ApiError as error:
            return str(error)
        return ""

    def works(self) -> bool:
        """Whether the webhooks and the aggregated API answer, now."""
        return not self.complaint()

    def complaint(self) -> str:
        """What does not answer as it should, now; empty when all do."""
        try:
            completed = self.create("dim", is_dry_run=True, lumens=1).get("color") == COLOR
            converted = self.create("old", "v1alpha1", is_dry_run=True, brightness=1).get("brightness") == 1
            served = self.host.cluster.request("GET", "/apis/measures.samples.olmf.io/v1/measures/lux")
        except ApiError as error:
            return str(error)
        refusal = self.refusal()
        is_right = completed and converted and served["quantity"] == "illuminance" and DENIED in refusal
        return "" if is_right else f"{completed=}, {converted=}, {served=}, {refusal=}"

    def configurations(self) -> list[Manifest]:
        found = [one for kind in (VALIDATING_WEBHOOKS, MUTATING_WEBHOOKS) for one in self.host.cluster.list(kind)]
        return [one for one in found if one["webhooks"][0]["name"].endswith("lamps.samples.olmf.io")]

    def authorities(self) -> set[str]:
        """Every `caBundle` by which the API server knows the operator, base64."""
        clients = [one["webhooks"][0]["clientConfig"] for one in self.configurations()]
        definition, api = self.host.cluster.get(DEFINITION), self.host.cluster.get(MEASURES)
        assert definition
        assert api
        clients += [definition["spec"]["conversion"]["webhook"]["clientConfig"], api["spec"]]
        return {str(one.get("caBundle")) for one in clients}


def begun(host: Installation, namespace: str) -> Lamps:
    """A namespace with a group and a Subscription that is approved by hand."""
    spec = {"startingCSV": f"lamps.v{FIRST}", "installPlanApproval": "Manual"}
    host.apply(a_namespace(namespace), an_operator_group(namespace), a_subscription("lamps", namespace, **spec))
    return Lamps(host, namespace)


def installed(host: Installation, namespace: str) -> Lamps:
    """The first version, when everything that it serves answers."""
    lamps = begun(host, namespace)
    lamps.approve(FIRST)
    wait_for(lamps.works, "answers of the operator")
    return lamps


def almost_over(host: Installation, namespace: str) -> str:
    """A Secret with a certificate that ends within a day, as if it had been made two years ago; returns its CA."""
    issued = datetime.now(UTC).replace(microsecond=0) - VALID + timedelta(hours=12)
    pair, private = x509.issue(hosts(DEPLOYMENT, namespace), issued)
    texts = {"tls.crt": pair.certificate, "tls.key": private.decode(), "olmCAKey": pair.authority}
    ref = Lamps(host, namespace).secret
    meta = {"name": ref.name, "namespace": namespace}
    host.apply({
        "apiVersion": SECRET.api_version, "kind": SECRET.kind, "metadata": meta, "stringData": texts,
        "type": "kubernetes.io/tls",
    })  # fmt: skip
    return pair.authority


def stored(lamps: Lamps) -> Content:
    """The certificates of the operator."""
    return public_part(lamps.host.cluster.get(lamps.secret) or {}).content


def is_gone(lamps: Lamps) -> bool:
    """Whether nothing leads to the operator any more."""
    cluster = lamps.host.cluster
    bindings = [*cluster.list(CLUSTER_ROLE_BINDING), *cluster.list(ROLE_BINDING, "kube-system")]
    permissions = [one for one in bindings if one["metadata"]["name"].startswith(lamps.service.name)]
    objects = [one for one in (MEASURES, lamps.secret, lamps.service) if cluster.get(one)]
    definition = cluster.get(DEFINITION) or {"spec": {}}
    is_converted = definition["spec"].get("conversion", {}).get("strategy") == "Webhook"
    return not (permissions or objects or lamps.configurations() or is_converted)


def is_whole(lamps: Lamps) -> bool:
    """Whether everything is there, and trusts the CA of the Secret."""
    secret, parts = lamps.host.cluster.get(lamps.secret), (lamps.service, DEFINITION, MEASURES)
    if secret is None or any(lamps.host.cluster.get(one) is None for one in parts) or len(lamps.configurations()) != 2:
        return False
    if (lamps.host.cluster.get(DEFINITION) or {})["spec"]["conversion"]["strategy"] != "Webhook":
        return False
    return lamps.authorities() == {secret["data"].get("olmCAKey")} and lamps.works()
