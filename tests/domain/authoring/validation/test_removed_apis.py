"""APIs that are gone."""

from __future__ import annotations

import pytest

from shared.domain.authoring.validation import Options
from tests.domain.authoring.validation.world import (
    a_crd,
    a_csv,
    a_rule,
    an_object,
    errors,
    found,
    owned,
    warnings,
    with_permissions,
)

OLD = {"apiVersion": "apiextensions.k8s.io/v1beta1"}


GUIDE = "https://kubernetes.io/docs/reference/using-api/deprecation-guide/#v1-22"


@pytest.mark.parametrize(
    ("minimum", "option", "is_error"),
    [
        ("1.20.0", "", False),
        ("1.22.0", "", True),
        ("1.22.0-rc.1", "", False),
        ("1.20.0", "1.25", True),
        ("1.20.0", "v1.21.9", False),
        (None, "", False),
    ],
)
def test_fbc_md_11_6_apis_that_are_gone(minimum: str | None, option: str, is_error: bool) -> None:
    csv = a_csv(minKubeVersion=minimum)
    found_errors = found("alpha-deprecated-apis", csv=csv, crd=a_crd() | OLD, options=Options(kubernetes=option))
    [about] = [one for one in found_errors if "removed in v1.22" in one.detail]
    assert about.is_error == is_error
    assert about.detail == (
        "this bundle is using APIs which were deprecated and removed in v1.22. "
        f'More info: {GUIDE}. Migrate the API(s) for CRD: (["pots.tea.io"])'
    )


def test_fbc_md_11_6_a_version_of_kubernetes_that_is_none() -> None:
    found_errors = errors("alpha-deprecated-apis", options=Options(kubernetes="new"))
    assert found_errors == ["Error: Value tea.v1.0.0: invalid value informed via the k8s key option : new"]


def test_fbc_md_11_6_an_oldest_kubernetes_that_is_none() -> None:
    found_errors = errors("alpha-deprecated-apis", csv=a_csv(minKubeVersion="new"))
    what = "unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: new"
    assert f"Error: Value tea.v1.0.0: {what}" in found_errors


def test_fbc_md_11_6_kinds_that_stayed_are_not_reported() -> None:
    review = an_object("SelfSubjectRulesReview") | {"apiVersion": "authorization.k8s.io/v1beta1"}
    of_ingresses = an_object("IngressClass") | {"apiVersion": "extensions/v1beta1"}
    assert not [one for one in found("alpha-deprecated-apis", a=review, b=of_ingresses) if "removed" in one.detail]


JOB = {"kind": "CronJob", "name": "job", "version": "batch/v1beta1"}


def test_fbc_md_11_6_old_apis_among_the_resources_of_definitions() -> None:
    shown = [{"kind": "Pod", "name": "", "version": "v1"}, {"kind": "CronJob", "name": "", "version": "v1beta1"}, JOB]
    definitions = {"owned": [owned() | {"resources": shown}], "required": [owned() | {"resources": [JOB]}]}
    csv = a_csv(customresourcedefinitions=definitions, minKubeVersion="1.20.0")
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": 3}}
    [found_errors] = [one for one in warnings("alpha-deprecated-apis", csv=csv, pdb=budget) if "v1.25" in one]
    assert found_errors.startswith("Warning: Value tea.v1.0.0: this bundle is using APIs")
    where = "ClusterServiceVersion.Spec.CustomResourceDefinitions"
    places = f'"{where}.Owned[0].Resource[2]" "{where}.Required[0].Resource[0]"'
    assert found_errors.endswith(f'CronJob: ([{places}]),PodDisruptionBudget: ([""])')


def test_fbc_md_11_6_rules_on_what_is_gone_are_always_a_warning() -> None:
    rule = a_rule("policy", "podsecuritypolicies", "use")
    permissions = {"permissions": [{"serviceAccountName": "s"}, {"serviceAccountName": "sa", "rules": [rule]}]}
    install = with_permissions(a_rule("", "pods", "get"), rule)
    csv = a_csv(install=install | {"spec": install["spec"] | permissions}, minKubeVersion="1.27.0")
    [found_errors] = found("alpha-deprecated-apis", csv=csv)
    where = "ClusterServiceVersion.Spec.InstallStrategy.StrategySpec"
    places = f'"{where}.ClusterPermissions[0].Rules[1]" "{where}.Permissions[1].Rules[0]"'
    assert not found_errors.is_error
    assert found_errors.detail.endswith(f"Migrate the API(s) for podsecuritypolicies: ([{places}])")
