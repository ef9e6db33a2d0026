"""The server of catalogs in `k8s/`: over TLS, with a certificate that a step makes, and CAs that everybody finds."""

from __future__ import annotations

from urllib.parse import urlsplit

import pytest

from shared.api.views import Deployment
from shared.domain.serving import catalog_certificate
from shared.policy import Policy
from tests.kit.manifests import objects

PACKAGES, CATALOGS = "olmf-packages", "olmf-catalogs"
BASE = [one for one in objects("base", "knative") if "metadata" in one]
RIGHTS = [one for one in objects("rbac") if "metadata" in one]
WORKLOADS = [one for one in BASE if "template" in one.get("spec", {})]
CONTAINERS = [one for each in WORKLOADS for one in each["spec"]["template"]["spec"]["containers"]]


def test_v1_md_6_catalogs_are_served_over_tls_with_a_certificate_that_a_step_makes() -> None:
    (pod,) = (one for one in BASE if one["kind"] == "Deployment" and one["metadata"]["name"] == CATALOGS)
    server, (container,) = Deployment(pod), pod["spec"]["template"]["spec"]["containers"]
    assert catalog_certificate.takes_ours(server)
    (mount,) = (one["mountPath"] for one in container["volumeMounts"] if one["name"] == "serving")
    assert container["args"][2:] == ["--tls-cert", f"{mount}/tls.crt", "--tls-key", f"{mount}/tls.key"]
    (front,) = (one for one in BASE if one["kind"] == "Service" and one["metadata"]["name"] == CATALOGS)
    (port,) = (one for one in front["spec"]["ports"] if one["name"] == "https")
    (listens,) = (one["containerPort"] for one in container["ports"] if one["name"] == "https")
    assert (port["port"], port["targetPort"]) == (443, listens)
    ready = container["readinessProbe"]["httpGet"]
    assert (ready["port"], ready["scheme"]) == ("https", "HTTPS")
    alive = {"tcpSocket": {"port": "https"}}
    assert alive.items() <= container["livenessProbe"].items(), "a server whose places are taken is not restarted"


def test_v1_md_6_what_statuses_say_is_a_name_of_that_certificate() -> None:
    names = catalog_certificate.hosts(catalog_certificate.server_of("olm"))
    for container in CONTAINERS:
        if "run" in container.get("args", ()):
            settings = {one["name"]: one.get("value") for one in container["env"]}
            url = urlsplit(settings["OLMF_CATALOGS_URL"])
            assert (url.scheme, url.port) == ("https", None)
            assert url.hostname in names
    assert Policy().catalogs_url == settings["OLMF_CATALOGS_URL"]


@pytest.mark.parametrize("server", [PACKAGES, CATALOGS])
def test_keys_are_made_by_maintenance_and_in_our_namespace_alone(server: str) -> None:
    found = {one["kind"]: one for one in RIGHTS if one["metadata"]["name"] == f"{server}-keys"}
    assert {one["metadata"]["namespace"] for one in found.values()} == {"olm"}
    rights = [rule for rule in found["Role"]["rules"] if "secrets" in rule["resources"]]
    names = [(rule["verbs"], rule.get("resourceNames")) for rule in rights]
    assert names == [(["create"], None), (["get", "update"], [f"{server}-service-cert"])]
    assert [one["name"] for one in found["RoleBinding"]["subjects"]] == ["olmf-maintenance", "olmf-worker"]


def test_v1_md_6_who_has_a_login_may_read_the_authorities_of_catalogs_and_no_other_config_map() -> None:
    name = catalog_certificate.authorities_of(catalog_certificate.server_of("olm")).name
    found = {one["kind"]: one for one in RIGHTS if one["metadata"]["name"] == name}
    rule = {"apiGroups": [""], "resources": ["configmaps"], "verbs": ["get"], "resourceNames": [name]}
    assert found["Role"]["rules"] == [rule]
    assert [one["name"] for one in found["RoleBinding"]["subjects"]] == ["system:authenticated"]
