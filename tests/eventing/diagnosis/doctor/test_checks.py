"""Each check of the doctor: what it finds, what it advises, and that what is well is not found."""

from __future__ import annotations

from collections.abc import Mapping
from copy import deepcopy
from datetime import UTC, datetime
from functools import cache
from typing import Any

import pytest

from eventing.diagnosis.doctor.checks import CHECKS, examine
from eventing.diagnosis.doctor.finding import Check, Finding, Unknown
from eventing.diagnosis.doctor.permissions import check_bindings, check_permissions
from eventing.diagnosis.doctor.versions import check_server
from shared import kinds
from shared.adapters.kube import ApiError
from shared.api.definitions import DEFINITIONS
from shared.api.manifest import Manifest
from shared.api.schema import custom_resource_definition
from shared.kinds import Kind
from shared.ports import Cluster
from tests.kit.cluster import FakeCluster

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LONG_AGO, JUST_NOW = "2026-01-01T22:00:00Z", "2026-01-01T23:59:00Z"
ESTABLISHED = [{"type": "Established", "status": "True"}, {"type": "NamesAccepted", "status": "True"}]
CLIENT = {"service": {"namespace": "ns", "name": "hook"}}


def an_object(kind: Kind, name: str, *, meta: Mapping[str, Any] | None = None, **more: Any) -> Manifest:
    place = {"namespace": "ns"} if kind.is_namespaced else {}
    return {
        "apiVersion": kind.api_version,
        "kind": kind.kind,
        "metadata": {"name": name, **place, **(meta or {})},
        **more,
    }


def definitions(**changed: Any) -> list[Manifest]:
    """Ours as they should be; the first one with other top-level fields, or without it when they are none."""
    found = [{**deepcopy(one), "status": {"conditions": ESTABLISHED}} for one in _rendered()]
    return [{**found[0], **changed}, *found[1:]]


@cache
def _rendered() -> tuple[Manifest, ...]:
    return tuple(map(custom_resource_definition, DEFINITIONS))


def findings(*objects: Manifest, checks: Mapping[str, Check] = CHECKS) -> list[Finding]:
    found = list(examine(FakeCluster(objects), NOW, checks))
    assert not [one for one in found if isinstance(one, Unknown)]
    return [one for one in found if isinstance(one, Finding)]


def test_a_cluster_that_is_well() -> None:
    well = (
        an_object(kinds.NAMESPACE, "ns", status={"phase": "Active"}),
        an_object(kinds.API_SERVICE, "v1.x.io", status={"conditions": [{"type": "Available", "status": "True"}]}),
        an_object(kinds.SERVICE, "hook"),
        an_object(kinds.VALIDATING_WEBHOOKS, "a", webhooks=[{"name": "a.x.io", "clientConfig": CLIENT}]),
        an_object(kinds.DEPLOYMENT, "olmf-worker", spec={"replicas": 2}, status={"availableReplicas": 2}),
    )
    assert findings(*definitions(), *well) == []


FIRST = DEFINITIONS[0]


@pytest.mark.parametrize(
    ("changed", "state"),
    [
        pytest.param({"status": {}}, "is not established: the API server waits", id="not established"),
        pytest.param(
            {"status": {"conditions": [{"type": "NamesAccepted", "status": "False", "message": "taken"}]}},
            "is not established: taken",
            id="its names are taken",
        ),
        pytest.param({"metadata": {"name": FIRST.name, "deletionTimestamp": JUST_NOW}}, "is being deleted", id="going"),
        pytest.param(
            {"spec": {"versions": []}}, f"does not serve {FIRST.versions[0].name}", id="a version is not served"
        ),
        pytest.param(
            {"status": {"conditions": ESTABLISHED, "storedVersions": ["v0"]}},
            "has objects stored in v0, which it lacks",
            id="a stored version is gone",
        ),
    ],
)
def test_a_definition_of_ours_that_is_not_as_it_should_be(changed: dict[str, Any], state: str) -> None:
    (found,) = findings(*definitions(**changed))
    assert (found.ref.name, found.state) == (FIRST.name, state)
    assert found.effect
    assert str(found.fix.command) == "kubectl apply --server-side -k k8s/crds"


def test_a_definition_that_is_missing() -> None:
    (found,) = findings(*definitions()[1:])
    assert (found.ref.name, found.state) == (FIRST.name, "is missing")


SINCE = {"deletionTimestamp": LONG_AGO}


@pytest.mark.parametrize(
    ("broken", "state", "command"),
    [
        pytest.param(
            an_object(
                kinds.DEPLOYMENT,
                "olmf-worker",
                status={"conditions": [{"type": "Available", "status": "False", "message": "no quota"}]},
            ),
            "has 0 of 1 Pods available: no quota",
            "kubectl -n ns describe pods -l app.kubernetes.io/name=olmf-worker",
            id="our worker does not run",
        ),
        pytest.param(
            an_object(
                kinds.NAMESPACE,
                "old",
                meta=SINCE,
                status={
                    "phase": "Terminating",
                    "conditions": [{"type": "NamespaceContentRemaining", "status": "True", "message": "a.x.io has 1"}],
                },
            ),
            "is being deleted for 120m: a.x.io has 1",
            "kubectl get namespace old -o yaml",
            id="a namespace that does not end",
        ),
        pytest.param(
            an_object(kinds.SUBSCRIPTION, "s", meta={**SINCE, "finalizers": ["x.io/keep"]}),
            "is being deleted for 120m and waits for x.io/keep",
            "kubectl -n ns get subscriptions.operators.coreos.com s -o yaml",
            id="a finalizer of somebody else",
        ),
        pytest.param(
            an_object(
                kinds.CLUSTER_SERVICE_VERSION,
                "v",
                meta={**SINCE, "finalizers": ["operators.coreos.com/csv-cleanup"]},
            ),
            "is being deleted for 120m and waits for operators.coreos.com/csv-cleanup",
            "olmf status",
            id="a finalizer of ours",
        ),
        pytest.param(
            an_object(
                kinds.CLUSTER_OBJECT_SET, "r-1", meta={**SINCE, "finalizers": ["olm.operatorframework.io/teardown"]}
            ),
            "is being deleted for 120m and waits for olm.operatorframework.io/teardown",
            "olmf status",
            id="a revision that does not go",
        ),
        pytest.param(
            an_object(
                kinds.API_SERVICE,
                "v1.x.io",
                status={"conditions": [{"type": "Available", "status": "False", "message": "no endpoints"}]},
            ),
            "is not available: no endpoints",
            "kubectl delete apiservice v1.x.io",
            id="an aggregated API that nobody serves",
        ),
        pytest.param(
            an_object(kinds.MUTATING_WEBHOOKS, "a", webhooks=[{"name": "a.x.io", "clientConfig": CLIENT}]),
            "calls Service ns/hook, which does not exist",
            "kubectl delete mutatingwebhookconfiguration a",
            id="a webhook that nobody answers",
        ),
        pytest.param(
            an_object(
                kinds.CUSTOM_RESOURCE_DEFINITION,
                "as.x.io",
                spec={"conversion": {"strategy": "Webhook", "webhook": {"clientConfig": CLIENT}}},
            ),
            "converts by Service ns/hook, which does not exist",
            "None",
            id="a conversion that nobody answers",
        ),
    ],
)
def test_what_hurts(broken: Manifest, state: str, command: str) -> None:
    (found,) = findings(*definitions(), broken)
    assert (found.ref.name, found.state, str(found.fix.command)) == (broken["metadata"]["name"], state, command)
    assert found.effect
    assert found.fix.what


OLM = an_object(
    kinds.CLUSTER_ROLE_BINDING, "olm-operator-binding-ns",
    roleRef={"kind": "ClusterRole", "name": "system:controller:operator-lifecycle-manager"},
    subjects=[{"kind": "ServiceAccount", "name": "olm-operator-serviceaccount", "namespace": "ns"}],
)  # fmt: skip


@pytest.mark.parametrize(
    ("name", "others", "manager"),
    [
        pytest.param("catalog-operator", [OLM], "classic OLM", id="classic OLM"),
        pytest.param("operator-controller-controller-manager", [], "operator-controller", id="OLM v1"),
    ],
)
def test_a_second_manager_is_to_be_stopped(name: str, others: list[Manifest], manager: str) -> None:
    (found,) = findings(*definitions(), an_object(kinds.DEPLOYMENT, name), *others)
    assert (found.ref.name, found.state) == (name, f"{manager} runs")
    assert str(found.fix.command) == f"kubectl -n ns scale deployment/{name} --replicas=0"


def test_a_deployment_that_is_only_called_like_a_program_of_olm_is_not_to_be_stopped() -> None:
    assert findings(*definitions(), an_object(kinds.DEPLOYMENT, "olm-operator")) == []


def test_what_olm_left_is_one_finding_for_each_catalog() -> None:
    source = an_object(kinds.CATALOG_SOURCE, "cat", meta={"uid": "u"})
    owned = {"ownerReferences": [{"kind": "CatalogSource", "name": "cat", "uid": "u"}]}
    pods = [an_object(kinds.POD, f"cat-{n}", meta={**owned, "labels": {"olm.catalogSource": "cat"}}) for n in range(7)]
    (found,) = findings(*definitions(), source, *pods)
    assert (found.ref.name, str(found.fix.command)) == ("cat-0", "olmf leftovers")
    named = ", ".join(f"Pod cat-{n}" for n in range(1, 6))
    assert found.state == f"was made by classic OLM for CatalogSource ns/cat, like {named} and 1 more"
    olm = (OLM, an_object(kinds.DEPLOYMENT, "olm-operator"))
    assert [one.state for one in findings(*definitions(), source, *pods, *olm)] == ["classic OLM runs"]


@pytest.mark.parametrize(
    "harmless",
    [
        pytest.param(
            an_object(kinds.VALIDATING_WEBHOOKS, "a", webhooks=[{"clientConfig": CLIENT, "failurePolicy": "Ignore"}]),
            id="nobody has to answer",
        ),
        pytest.param(
            an_object(kinds.VALIDATING_WEBHOOKS, "a", webhooks=[{"clientConfig": {"url": "https://a"}}]), id="a URL"
        ),
        pytest.param(
            an_object(kinds.SUBSCRIPTION, "s", meta={"deletionTimestamp": JUST_NOW, "finalizers": ["x.io/keep"]}),
            id="going since a minute",
        ),
    ],
)
def test_what_does_not_hurt(harmless: Manifest) -> None:
    assert findings(*definitions(), harmless) == []


def a_worker(*kinds_allowed: str) -> Manifest:
    variable = {"name": "OLMF_BUNDLE_KINDS", "value": ",".join(kinds_allowed)}
    pods = {"spec": {"containers": [{"env": [variable]}]}}
    return an_object(
        kinds.DEPLOYMENT, "olmf-worker", spec={"replicas": 1, "template": pods}, status={"availableReplicas": 1}
    )


CERTIFICATES = an_object(
    kinds.CUSTOM_RESOURCE_DEFINITION, "certificates.x.io",
    spec={"group": "x.io", "names": {"kind": "Certificate", "plural": "certificates"}, "versions": []},
)  # fmt: skip
WRITES = {"apiGroups": ["x.io"], "resources": ["certificates"], "verbs": ["get", "list", "create"]}


@pytest.mark.parametrize("setting", ["Certificate", "Certificate.x.io"])
def test_a_kind_that_bundles_may_hold_and_nobody_granted(setting: str) -> None:
    labels = {"labels": {"olmf.io/aggregate-to-bundle-kinds": "true"}}
    role = an_object(kinds.CLUSTER_ROLE, "some", meta=labels, rules=[WRITES])
    (found,) = findings(*definitions(), CERTIFICATES, a_worker("Other", setting), role)
    assert found.state == "may be held by bundles (OLMF_BUNDLE_KINDS), and our pods lack update, patch, delete"
    assert "olmf-bundle-certificates.x.io" in str(found.fix.command)
    whole = {**role, "rules": [{**WRITES, "verbs": ["*"]}]}
    for well in ([a_worker(setting), whole], [a_worker()], [a_worker("Certificate.y.io")], []):
        assert findings(*definitions(), CERTIFICATES, *well) == []


RULES = [{"apiGroups": ["x.io"], "resources": ["as", "bs"], "verbs": ["get", "list"]}]


@pytest.mark.parametrize(
    ("rules", "state"),
    [
        pytest.param([{**RULES[0], "resources": ["as"]}], "lacks get, list on bs.x.io", id="a resource"),
        pytest.param([{**RULES[0], "verbs": ["get"]}], "lacks list on as.x.io; list on bs.x.io", id="a verb"),
        pytest.param([{**RULES[0], "resourceNames": ["a"]}], "lacks get, list on as.x.io; get, list on bs.x.io",
                     id="only for names"),
    ],
)  # fmt: skip
def test_a_role_that_lacks_permissions(rules: list[Manifest], state: str) -> None:
    role = an_object(kinds.CLUSTER_ROLE, "ours", rules=rules)
    (found,) = findings(role, checks={"rights": check_permissions({"ours": RULES})})
    assert (found.ref.name, found.state) == ("ours", state)


def test_roles_are_looked_at_only_where_some_are_installed() -> None:
    expected = {"ours": RULES, "other": RULES}
    check = {"rights": check_permissions(expected)}
    whole = an_object(kinds.CLUSTER_ROLE, "ours", rules=[{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}])
    assert findings(checks=check) == []
    (found,) = findings(whole, checks=check)
    assert (found.ref.name, found.state) == ("other", "lacks every right")


BINDING = an_object(
    kinds.CLUSTER_ROLE_BINDING, "ours", roleRef={"kind": "ClusterRole", "name": "ours"},
    subjects=[{"kind": "ServiceAccount", "name": "worker", "namespace": "olm"}],
)  # fmt: skip


@pytest.mark.parametrize(
    ("stored", "state"),
    [
        pytest.param([], "is missing: worker lacks ClusterRole ours", id="no binding"),
        pytest.param(
            [{**BINDING, "roleRef": {"kind": "ClusterRole", "name": "view"}}],
            "gives view instead of ours",
            id="to another role",
        ),
        pytest.param([{**BINDING, "subjects": []}], "gives worker nothing", id="nobody has it"),
    ],
)
def test_a_role_that_nobody_has(stored: list[Manifest], state: str) -> None:
    check = {"bindings": check_bindings([BINDING])}
    role = an_object(kinds.CLUSTER_ROLE, "ours", rules=RULES)
    (found,) = findings(role, *stored, checks=check)
    assert (found.ref.name, found.state) == ("ours", state)
    elsewhere = {**BINDING, "subjects": [{**BINDING["subjects"][0], "namespace": "marine"}]}
    assert findings(role, elsewhere, checks=check) == [], "the namespace of an installation may have any name"
    assert findings(*stored, checks=check) == [], "nothing of ours is installed"


@pytest.mark.parametrize(
    ("version", "is_old"), [("v1.24.17", True), ("v1.25.0", False), ("v2.0.0", False), ("?", False)]
)
def test_an_api_server_that_is_too_old(version: str, *, is_old: bool) -> None:
    found = findings(checks={"server": check_server(lambda: version)})
    assert [one.state for one in found] == ([f"is served by {version}, older than 1.25"] if is_old else [])


def a_program(name: str, image: str, *words: str) -> Manifest:
    containers = [{"image": image, "args": list(words)}, {"image": image, "args": list(words)}]
    template = {"spec": {"containers": containers}}
    return an_object(kinds.DEPLOYMENT, name, spec={"template": template}, status={"availableReplicas": 1})


def test_programs_of_two_builds() -> None:
    old, new = "r/olmf:0.1", "r/olmf:0.2"
    programs = [a_program(f"olmf-{name}", new, "run", name) for name in ("worker", "watch")]
    others = [a_program("olmf-redis", "redis:7"), a_program("else", old, "run", "x")]
    (found,) = findings(*definitions(), *programs, *others, a_program("olmf-endpoint", old, "run", "endpoint"))
    assert (found.ref.name, found.state) == ("olmf-endpoint", f"runs {old}, where other programs of ours run {new}")
    assert findings(*definitions(), *programs, *others) == []


def test_a_definition_of_an_earlier_build_lacks_fields() -> None:
    (mine,) = [one for one in definitions() if one["spec"]["names"]["kind"] == "Subscription"]
    others = [one for one in definitions() if one is not mine and one["metadata"]["name"] != mine["metadata"]["name"]]
    schema = deepcopy(mine)["spec"]["versions"][0]["schema"]["openAPIV3Schema"]
    for name in ("channel", "startingCSV"):
        del schema["properties"]["spec"]["properties"][name]
    del schema["properties"]["status"]["x-kubernetes-preserve-unknown-fields"]
    older = {**mine, "spec": {**mine["spec"], "versions": [
        {**mine["spec"]["versions"][0], "schema": {"openAPIV3Schema": schema}}, *mine["spec"]["versions"][1:],
    ]}}  # fmt: skip
    (found,) = findings(*others, older)
    assert found.ref.name == mine["metadata"]["name"]
    lacks = "v1alpha1.spec.channel, v1alpha1.spec.startingCSV, v1alpha1.status.*"
    assert found.state == f"is older than this build: it lacks {lacks}"
    for part in ("spec", "status"):
        schema["properties"][part]["x-kubernetes-preserve-unknown-fields"] = True
    assert findings(*others, older) == [], "nothing is dropped there"


@pytest.mark.parametrize(
    ("stored", "state"),
    [
        pytest.param([], "is missing, and ns/a.v1 and 1 more needs it", id="missing"),
        pytest.param(
            [an_object(kinds.CUSTOM_RESOURCE_DEFINITION, "as.x.io", meta={"deletionTimestamp": JUST_NOW})],
            "is being deleted, and ns/a.v1 and 1 more needs it",
            id="going",
        ),
    ],
)
def test_a_definition_that_installed_versions_need(stored: list[Manifest], state: str) -> None:
    entry = {"name": "as.x.io", "version": "v1", "kind": "A"}
    owner = an_object(kinds.CLUSTER_SERVICE_VERSION, "a.v1", spec={"customresourcedefinitions": {"owned": [entry]}})
    user = an_object(kinds.CLUSTER_SERVICE_VERSION, "b.v1", spec={"customresourcedefinitions": {"required": [entry]}})
    copy = {**owner, "metadata": {**owner["metadata"], "namespace": "other", "labels": {"olm.copiedFrom": "ns"}}}
    (found,) = findings(*definitions(), owner, user, copy, *stored)
    assert (found.ref.name, found.state) == ("as.x.io", state)
    there = an_object(kinds.CUSTOM_RESOURCE_DEFINITION, "as.x.io")
    assert findings(*definitions(), owner, user, there) == []


def _refused(status: int, reason: str) -> Check:
    def check(_: Cluster, __: datetime) -> Any:
        raise ApiError(status, reason, "no")
        yield

    return check


def test_a_check_that_is_refused_stops_no_other() -> None:
    role = an_object(kinds.CLUSTER_ROLE, "ours", rules=[])
    checks = {"first": _refused(403, "Forbidden"), "second": check_permissions({"ours": RULES})}
    first, second = examine(FakeCluster([role]), NOW, checks)
    assert first == Unknown("first", "Forbidden (403): no")
    assert isinstance(second, Finding)


def test_an_api_server_that_does_not_answer_ends_it() -> None:
    with pytest.raises(ApiError):
        list(examine(FakeCluster(), NOW, {"first": _refused(0, "Unreachable")}))
