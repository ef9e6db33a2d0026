from typing import Any

import pytest

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import Csv, Role, RoleBinding
from shared.domain.csv.rbac import objects_for
from shared.domain.csv.requirements import (
    Facts,
    Requirements,
    Undecidable,
    are_checked,
    evaluate,
    is_permitted,
    malformed_definition,
    needs_server_version,
    own_grants,
    required_apis,
    required_objects,
    too_old,
)
from shared.domain.objects.authorizer import Grants
from shared.kinds import Ref
from tests.domain.csv.builders import RULE, a_crd, a_csv, a_permission, an_account, owned_crd

CRD = "things.example.com"
SERVICE = {"group": "example.com", "version": "v1", "kind": "Thing"}


def facts(*objects: Manifest, **more: Any) -> Facts:
    return Facts(objects={Ref.of(item): item for item in objects}, **more)


def judged(csv: Manifest, known: Facts) -> list[tuple[str, str, str]]:
    """(name, status, message) of each requirement."""
    found = evaluate(Csv(csv), known)
    assert isinstance(found, Requirements)
    assert found.are_met is all(item["status"] in ("Present", "DeploymentFound") for item in found.statuses)
    return [(item["name"], item["status"], item["message"]) for item in found.statuses]


@pytest.mark.parametrize(
    ("minimum", "server", "status", "message"),
    [
        ("1.20.0", "", "PresentNotSatisfied", "Server version discovery error"),
        ("1.20.0", "vx", "PresentNotSatisfied", "Server version parsing error"),
        ("1.20", "v1.35.4", "PresentNotSatisfied", "CSV version parsing error"),
        (
            "v1.36.0", "v1.35.4-eks-1", "PresentNotSatisfied",
            "CSV version requirement not met: minKubeVersion (v1.36.0) > server version (1.35.4)",
        ),
        ("1.20.0", "v1.35.4", "Present", "CSV minKubeVersion (1.20.0) less than server version (v1.35.4)"),
        ("1.35.4", "v1.35.4", "Present", "CSV minKubeVersion (1.35.4) less than server version (v1.35.4)"),
        ("1.35.4", "v1.35.4+k3s1", "Present", "CSV minKubeVersion (1.35.4) less than server version (v1.35.4+k3s1)"),
    ],
    ids=lambda value: f"csv.md 5.1 and 18 row 39: {value}",
)  # fmt: skip
def test_minimum_version(minimum: str, server: str, status: str, message: str) -> None:
    csv = a_csv(minKubeVersion=minimum)
    assert needs_server_version(Csv(csv))
    assert judged(csv, Facts(server_version=server)) == [("a.v1", status, message)]


@pytest.mark.parametrize(
    ("minimum", "server", "want"),
    [
        ("1.36.0", "v1.35.4", "CSV version requirement not met: minKubeVersion (1.36.0) > server version (1.35.4)"),
        ("1.35.4", "v1.35.4", ""),
        ("", "v1.35.4", ""),
    ],
)
def test_a_server_that_is_too_old_csv_md_5_1(minimum: str, server: str, want: str) -> None:
    assert too_old(Csv(a_csv(minKubeVersion=minimum)), server) == want


def test_no_minimum_version_no_entry_csv_md_5_1() -> None:
    assert judged(a_csv(), Facts()) == []


def alongside(*listed: str) -> Manifest:
    return {f"operatorframework.io/installed-alongside-{index}": value for index, value in enumerate(listed)}


MET = "CRD is present and Established condition is true"
UNAVAILABLE = "CRD is present but the Established condition is False (not available)"


@pytest.mark.parametrize(
    ("crd", "status", "message"),
    [
        pytest.param(None, "NotPresent", "CRD is not present", id="csv.md 5.2-1: absent"),
        pytest.param(a_crd(served=False), "NotPresent", "CRD version not served", id="csv.md 18 row 40: not served"),
        pytest.param(a_crd(), "Present", MET, id="csv.md 5.2-4: there"),
        pytest.param(
            a_crd(conditions={"NamesAccepted": "True"}), "PresentNotAvailable", UNAVAILABLE,
            id="csv.md 18 row 41: not established",
        ),
        pytest.param(
            a_crd(conditions={"Established": "True", "NamesAccepted": "False"}), "PresentNotAvailable", UNAVAILABLE,
            id="csv.md 18 row 41: names conflict",
        ),
        pytest.param(
            a_crd(annotations=alongside("ns/a.v0")), "PresentNotSatisfied",
            "CRD installed alongside other CSV(s): a.v0", id="csv.md 5.2-2: made for the predecessor",
        ),
        pytest.param(a_crd(annotations=alongside("other/a.v0")), "Present", MET, id="csv.md 18 row 199: elsewhere"),
        pytest.param(a_crd(annotations={"x": "ns/a.v0"}), "Present", MET, id="csv.md 18 row 207: another annotation"),
        pytest.param(a_crd(annotations=alongside("ns/a.v0/x")), "Present", MET, id="csv.md 18 row 208: malformed"),
    ],
)  # fmt: skip
def test_definitions(crd: Manifest | None, status: str, message: str) -> None:
    csv = a_csv(replaces="a.v0", customresourcedefinitions=owned_crd())
    known = facts(*([crd] if crd else []), namespace_csvs=Csv.each((csv, a_csv("a.v0"))))
    assert judged(csv, known) == [(CRD, status, message)]


def test_a_required_definition_may_belong_to_others_csv_md_18_row_46() -> None:
    csv = a_csv(replaces="a.v0", customresourcedefinitions={"required": owned_crd()["owned"]})
    known = facts(a_crd(annotations=alongside("ns/a.v0")), namespace_csvs=Csv.each((csv, a_csv("a.v0"))))
    assert judged(csv, known) == [(CRD, "Present", MET)]


def test_an_absent_version_is_not_served_csv_md_18_row_40() -> None:
    csv = a_csv(customresourcedefinitions=owned_crd(version="v9"))
    assert judged(csv, facts(a_crd())) == [(CRD, "NotPresent", "CRD version not served")]


def test_definitions_come_once_and_sorted_csv_md_5_2() -> None:
    entry = {"version": "v1", "kind": "X"}
    section = {"owned": [{"name": "b.x", **entry}], "required": [{"name": "c.x", **entry}, {"name": "a.x", **entry}]}
    section["required"].append({"name": "b.x", "version": "v9", "kind": "X"})
    csv = a_csv(customresourcedefinitions=section)
    assert [name for name, _, _ in judged(csv, facts(a_crd("b.x")))] == ["a.x", "b.x", "c.x"]
    assert judged(csv, facts(a_crd("b.x")))[1] == ("b.x", "Present", MET)


def test_a_present_definition_names_its_uid_csv_md_5_2() -> None:
    found = evaluate(Csv(a_csv(customresourcedefinitions=owned_crd())), facts(a_crd()))
    assert isinstance(found, Requirements)
    assert found.statuses[0] == {
        "group": "apiextensions.k8s.io",
        "version": "v1",
        "kind": "CustomResourceDefinition",
        "name": CRD,
        "status": "Present",
        "message": MET,
        "uuid": f"uid-{CRD}",
    }


def a_service(available: str = "True") -> Manifest:
    kind = kinds.API_SERVICE
    conditions = [{"type": "Available", "status": available}]
    meta = {"name": "v1.example.com", "uid": "u"}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": meta, "status": {"conditions": conditions}}


SERVED = frozenset({("example.com/v1", "Thing")})


@pytest.mark.parametrize(
    ("known", "status"),
    [
        pytest.param(facts(served=SERVED), "NotPresent", id="csv.md 18 row 7: no APIService"),
        pytest.param(facts(a_service("False"), served=SERVED), "NotPresent", id="csv.md 18 row 7: unavailable"),
        pytest.param(facts(a_service()), "NotPresent", id="csv.md 18 row 7: unknown kind"),
        pytest.param(facts(a_service(), served=SERVED), "Present", id="csv.md 5.4: there"),
    ],
)
def test_required_services(known: Facts, status: str) -> None:
    csv = a_csv(apiservicedefinitions={"required": [SERVICE]})
    assert required_apis(Csv(csv)) == (("example.com/v1", "Thing"),)
    assert judged(csv, known) == [("v1.example.com", status, "")]


def test_a_service_that_is_owned_is_not_required_csv_md_5_4() -> None:
    statuses = judged(a_csv(apiservicedefinitions={"required": [SERVICE], "owned": [SERVICE]}), facts())
    assert statuses == [("v1.example.com", "DeploymentNotFound", "")]


def test_a_deployment_serves_an_api_csv_md_5_4_and_18_row_8() -> None:
    """About the spec alone: the cluster is not asked."""
    owned = {**SERVICE, "deploymentName": "operator"}
    statuses = judged(a_csv(apiservicedefinitions={"owned": [owned]}), facts())
    assert statuses == [("v1.example.com", "DeploymentFound", "")]


def test_of_kinds_of_one_api_the_last_counts_csv_md_2_1_and_5_4() -> None:
    """One entry for each APIService, in the order of their names."""
    last = {**SERVICE, "deploymentName": "operator", "kind": "Other"}
    owned = [{**last, "group": "z.example.com"}, {**SERVICE, "deploymentName": "absent"}, last]
    statuses = judged(a_csv(apiservicedefinitions={"owned": owned}), facts())
    assert statuses == [("v1.example.com", "DeploymentFound", ""), ("v1.z.example.com", "DeploymentFound", "")]


@pytest.mark.parametrize(
    ("served", "status", "message"),
    [
        pytest.param(SERVED, "Present", "Native API exists", id="csv.md 5.5: served"),
        pytest.param(frozenset(), "NotPresent", "Native API does not exist", id="csv.md 5.5: not served"),
    ],
)
def test_native_apis(served: frozenset[tuple[str, str]], status: str, message: str) -> None:
    assert judged(a_csv(nativeAPIs=[SERVICE]), facts(served=served)) == [("v1.example.com", status, message)]


def test_a_native_api_of_the_core_group_csv_md_5_5() -> None:
    csv = a_csv(nativeAPIs=[{"version": "v1", "kind": "Pod"}])
    assert required_apis(Csv(csv)) == (("v1", "Pod"),)
    assert judged(csv, facts()) == [("v1.", "NotPresent", "Native API does not exist")]


GRANTING = a_csv(strategy={"permissions": [a_permission()], "clusterPermissions": [a_permission()]})


def granted(csv: Manifest, *without: str) -> Grants:
    """What an InstallPlan makes for the version, less some kinds."""
    made = [item for item in objects_for(Csv(csv), "ns") if item["kind"] not in without]

    def of(kind: str) -> tuple[Manifest, ...]:
        return tuple(item for item in made if item["kind"] == kind)

    return Grants(
        Role.each(of("Role")),
        RoleBinding.each(of("RoleBinding")),
        Role.each(of("ClusterRole")),
        RoleBinding.each(of("ClusterRoleBinding")),
    )


UNSATISFIED = "Policy rule not satisfied for service account"


@pytest.mark.parametrize(
    ("account", "grants", "status", "message"),
    [
        pytest.param(None, granted(GRANTING), "NotPresent", "Service account does not exist", id="csv.md 5.6: absent"),
        pytest.param(an_account(), granted(GRANTING), "Present", "", id="csv.md 5.6: every rule is satisfied"),
        pytest.param(
            an_account(), granted(GRANTING, "ClusterRole"), "PresentNotSatisfied", UNSATISFIED,
            id="csv.md 18 row 43: one of two rules",
        ),
        pytest.param(
            an_account("sa", ("ClusterServiceVersion", "another")), granted(GRANTING), "PresentNotSatisfied",
            "Service account is owned by another ClusterServiceVersion", id="csv.md 18 row 42: of another version",
        ),
        pytest.param(
            an_account("sa", ("ClusterServiceVersion", "another"), ("ClusterServiceVersion", "uid-a.v1")),
            granted(GRANTING), "Present", "", id="csv.md 5.6: of several versions with this one",
        ),
        pytest.param(
            an_account("sa", ("ConfigMap", "x")), granted(GRANTING), "Present", "", id="csv.md 18 row 42: ConfigMap"
        ),
    ],
)  # fmt: skip
def test_service_accounts(account: Manifest | None, grants: Grants, status: str, message: str) -> None:
    known = facts(*([account] if account else []), grants=grants)
    assert judged(GRANTING, known) == [("sa", status, message)]


def test_each_rule_is_a_dependent_csv_md_5_6() -> None:
    found = evaluate(Csv(GRANTING), facts(an_account(), grants=granted(GRANTING, "ClusterRoleBinding")))
    assert isinstance(found, Requirements)
    rule = '{"verbs":["get"],"apiGroups":["g"],"resources":["r"]}'
    kind = {"group": "rbac.authorization.k8s.io", "version": "v1", "kind": "PolicyRule"}
    assert found.statuses[0]["dependents"] == [
        {**kind, "status": "Satisfied", "message": f"namespaced rule:{rule}"},
        {**kind, "status": "NotSatisfied", "message": f"cluster rule:{rule}"},
    ]


@pytest.mark.parametrize(
    ("known", "want"),
    [
        pytest.param(facts(), True, id="no account: roles do not matter yet"),
        pytest.param(facts(an_account()), False, id="no roles"),
        pytest.param(facts(an_account(), grants=granted(GRANTING)), True, id="all roles"),
    ],
)
def test_is_permitted(known: Facts, want: bool) -> None:
    assert is_permitted(Csv(GRANTING), known) is want


@pytest.mark.parametrize(
    ("strategy", "want"),
    [
        ({}, []),
        ({"permissions": [a_permission()]}, ["Role", "RoleBinding"]),
        ({"clusterPermissions": [a_permission()]}, ["ClusterRole", "ClusterRoleBinding"]),
    ],
)
def test_which_roles_a_plan_makes(strategy: Manifest, want: list[str]) -> None:
    assert [kind.kind for kind in own_grants(Csv(a_csv(strategy=strategy)))] == want


def test_a_strategy_that_nobody_knows_wants_no_permission() -> None:
    assert own_grants(Csv(a_csv(strategy_name="helm"))) == ()
    assert is_permitted(Csv(a_csv(strategy_name="helm")), facts())


@pytest.mark.parametrize(
    ("csv", "message"),
    [
        pytest.param(a_csv(strategy_name="helm"), "unrecognized install strategy", id="csv.md 18 row 5: strategy"),
        pytest.param(
            a_csv(strategy={"permissions": [a_permission("sa", {"resources": ["r"]})]}),
            "rule invalid: policy rule must have at least one verb", id="csv.md 18 row 4: a rule without verbs",
        ),
        pytest.param(
            a_csv(strategy={"clusterPermissions": [a_permission("sa", {**RULE, "nonResourceURLs": ["/x"]})]}),
            "rule invalid: rule cannot apply to both regular resources and non-resource URLs",
            id="csv.md 18 row 3: resources and paths",
        ),
    ],
)  # fmt: skip
def test_a_wrong_version_cannot_be_judged(csv: Manifest, message: str) -> None:
    assert evaluate(Csv(csv), facts()) == Undecidable(message)
    assert not are_checked(Csv(csv))


def test_requirements_come_in_the_order_of_csv_md_5() -> None:
    csv = a_csv(
        minKubeVersion="1.0.0",
        customresourcedefinitions=owned_crd(),
        apiservicedefinitions={"required": [SERVICE]},
        nativeAPIs=[SERVICE],
        strategy={"permissions": [a_permission()]},
    )
    found = evaluate(Csv(csv), facts())
    assert isinstance(found, Requirements)
    assert [item["kind"] for item in found.statuses] == [
        "ClusterServiceVersion", "CustomResourceDefinition", "APIService", "Thing", "ServiceAccount",
    ]  # fmt: skip


def test_what_is_looked_up() -> None:
    csv = a_csv(replaces="a.v0", customresourcedefinitions=owned_crd(), strategy={"permissions": [a_permission()]})
    desired = (kinds.CUSTOM_RESOURCE_DEFINITION.ref(CRD), kinds.SERVICE_ACCOUNT.ref("sa", "ns"))
    assert required_objects(Csv(csv)) == desired
    assert required_objects(Csv(csv), [Csv(a_csv("a.v0"))]) == (*desired, kinds.OPERATOR_CONDITION.ref("a.v0", "ns"))
    assert required_objects(Csv(a_csv(strategy_name="helm"))) == ()


@pytest.mark.parametrize(
    ("status", "want"),
    [
        pytest.param([], False, id="never judged"),
        pytest.param([{"kind": "CustomResourceDefinition", "name": CRD}], True, id="judged"),
    ],
)
def test_are_checked(status: list[Manifest], want: bool) -> None:
    csv = a_csv(customresourcedefinitions=owned_crd(), status={"requirementStatus": status})
    assert are_checked(Csv(csv)) is want


@pytest.mark.parametrize(
    "edited",
    [
        pytest.param({"minKubeVersion": "1.2.0"}, id="csv.md 4.5-5 and 5.1: another version of Kubernetes"),
        pytest.param(
            {"strategy": {"permissions": [a_permission("sa", {**RULE, "verbs": ["get", "list"]})]}},
            id="csv.md 4.5-5 and 5.6: another rule",
        ),
        pytest.param(
            {"strategy": {"permissions": [a_permission()], "clusterPermissions": [a_permission()]}},
            id="csv.md 4.5-5 and 5.6: the same rule everywhere",
        ),
        pytest.param({"strategy_name": "helm"}, id="csv.md 4.5-5: another strategy"),
    ],
)
def test_an_edit_that_asks_for_more_is_judged_again(edited: Manifest) -> None:
    spec: dict[str, Any] = {"minKubeVersion": "1.1.0", "strategy": {"permissions": [a_permission()]}}
    found = evaluate(Csv(a_csv(**spec)), facts(an_account(), server_version="v1.35.4"))
    assert isinstance(found, Requirements)
    status = {"requirementStatus": list(found.statuses)}
    assert are_checked(Csv(a_csv(**spec, status=status)))
    assert not are_checked(Csv(a_csv(**{**spec, **edited}, status=status)))


def test_a_definition_without_group_is_malformed_csv_md_3_2_1() -> None:
    assert malformed_definition(Csv(a_csv(customresourcedefinitions=owned_crd("things")))) == "things"
    assert malformed_definition(Csv(a_csv(customresourcedefinitions=owned_crd()))) == ""
