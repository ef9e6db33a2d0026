"""The rules that tools of the community add."""

from __future__ import annotations

import random
from typing import Any

import pytest

from shared.domain.bundle.validation import OPTIONAL, Options, Subject, validate
from shared.domain.bundle.validation.package_manifest import package_manifest
from shared.domain.bundle.validation.whole import size, whole
from tests.domain.bundle.validation.world import (
    LABELS,
    PREFIX,
    a_crd,
    a_csv,
    a_deployment,
    a_rule,
    an_object,
    errors,
    files,
    found,
    installing,
    owned,
    warnings,
    with_rights,
)


def test_a_bundle_without_a_version_has_nothing_to_say_to_them() -> None:
    given = {**files(labels=LABELS | {f"{PREFIX}mediatype.v1": "plain"}), "manifests/cm.yaml": b"kind: ConfigMap\nmetadata: {name: a}\n"}  # fmt: skip # noqa: E501
    del given["manifests/csv.yaml"], given["manifests/crd.yaml"]
    chosen = set(OPTIONAL) - {"operatorhub"}
    assert validate(Subject(given, "here"), chosen) == ()


def test_fbc_md_11_3_unknown_validators_are_passed_over() -> None:
    assert found("nonsense") == []


@pytest.mark.parametrize(
    ("others", "words"),
    [
        pytest.param(
            {"other": a_crd()}, 'duplicate CRD "tea.io/v1, Kind=Pot" in bundle "tea.v1.0.0"', id="the same twice"
        ),
        pytest.param(
            {"csv": a_csv(customresourcedefinitions={"owned": [owned(), owned(version="v2")]})},
            'owned CRD "tea.io/v2, Kind=Pot" not found in bundle "tea.v1.0.0"',
            id="not here",
        ),
        pytest.param(
            {"csv": a_csv(customresourcedefinitions={"owned": [owned(), owned(name="pots")]})},
            'owned CRD "pots/v1, Kind=Pot" not found in bundle "tea.v1.0.0"',
            id="a name without a group",
        ),
        pytest.param(
            {"other": a_crd(names={"kind": "Cup", "plural": "cups"}) | {"metadata": {"name": "cups.tea.io"}}},
            'CRD "tea.io/v1, Kind=Cup" is present in bundle "tea.v1.0.0" but not defined in CSV',
            id="not owned",
        ),
        pytest.param(
            {"sa": an_object("ServiceAccount"), "other": an_object("ServiceAccount", metadata={"name": "another"}),
             "csv": a_csv(install=installing(a_deployment(serviceAccountName="serviceaccount")))},
            "invalid service account found in bundle. This service account serviceaccount in your bundle is not valid",
            id="fbc.md R282: an account of a Deployment",
        ),
        pytest.param(
            {"csv": a_csv(release="1")},
            'bundle name with release versioning "tea.v1.0.0" does not match expected name "tea-v1.0.0-1"',
            id="a name without the release",
        ),
        pytest.param({".x": a_crd()}, "bundle manifests dir has hidden file: .x.yaml", id="fbc.md 11.4: a hidden file"),
        pytest.param({"x": a_crd(group=3)}, "spec.group: wanted text, got a number", id="a broken definition"),
    ],
)  # fmt: skip
def test_the_bundle_as_a_whole(others: dict[str, Any], words: str) -> None:
    assert any(words in told for told in errors("bundle", **others))


def test_fbc_md_r282_an_object_of_another_group_is_no_account() -> None:
    csv = a_csv(install=installing(a_deployment(serviceAccountName="serviceaccount")))
    assert errors("bundle", csv=csv, sa=an_object("ServiceAccount", apiVersion="tea.io/v1")) == errors("bundle")


def test_fbc_md_11_6_another_version_of_an_owned_kind_may_be_there() -> None:
    versions = [{"name": "v1", "storage": True}, {"name": "v2"}]
    assert errors("bundle", crd=a_crd(versions=versions)) == []


def test_a_name_with_its_release_is_right() -> None:
    csv = a_csv(release="1")
    csv["metadata"]["name"] = "tea-v1.0.0-1"
    assert errors("bundle", csv=csv) == []


IMAGE = "quay.io/acme/tea"
DIGEST = f"@sha256:{'0' * 64}"


@pytest.mark.parametrize("image", [f"{IMAGE}:1", IMAGE + DIGEST, f"{IMAGE}:1{DIGEST}", IMAGE])
def test_fbc_md_r280_images_that_can_be_pulled(image: str) -> None:
    assert errors("bundle", csv=a_csv(relatedImages=[{"name": "a", "image": image}])) == []


@pytest.mark.parametrize("image", [" ", "quay.io/Acme/tea", "quay.io/acme/te!a", f"{IMAGE}@md5:{'0' * 64}"])
def test_fbc_md_r281_images_that_cannot_be_pulled(image: str) -> None:
    [told] = errors("bundle", csv=a_csv(relatedImages=[{"name": "a", "image": image}]))
    wanted = f'Error: Value spec.relatedImages[0].image: relatedImages[0] has an invalid image pullspec "{image}": '
    assert told.startswith(wanted)


def test_fbc_md_r281_an_image_that_is_not_named() -> None:
    [told] = errors("bundle", csv=a_csv(relatedImages=[{"name": "a"}]))
    assert told == "Error: Value spec.relatedImages[0].image: relatedImages[0] has an empty image field"


@pytest.mark.parametrize(
    ("count", "level", "words"),
    [
        pytest.param(1000, "", "", id="small"),
        pytest.param(730_000, "Warning", "nearing maximum bundle compressed size with gzip: size=~973", id="near"),
        pytest.param(
            1_000_000, "Error", "maximum bundle compressed size with gzip size exceeded: size=~1.3 MB", id="big"
        ),
        pytest.param(0, "Warning", "unable to check the bundle size", id="nothing"),
    ],
)
def test_fbc_md_r279_the_size_of_a_bundle(count: int, level: str, words: str) -> None:
    subject = Subject({"manifests/a": random.Random(1).randbytes(count)}, "here")
    told = list(size(subject))
    assert [one.level for one in told] == ([level] if level else [])
    assert all(words in one.detail for one in told)


def test_whole_says_nothing_without_a_version() -> None:
    assert not list(whole(Subject({}, "here")))


def an_icon(**fields: str) -> dict[str, str]:
    return {"base64data": "eA==", "mediatype": "image/png", **fields}


HUB: dict[str, Any] = {
    "provider": {"name": "Acme"},
    "maintainers": [{"name": "m", "email": "m@acme.io"}],
    "links": [{"name": "l", "url": "https://acme.io"}],
    "icon": [an_icon()],
}


def test_a_bundle_that_operatorhub_takes() -> None:
    assert found("operatorhubv2", csv=a_csv(**HUB)) == []


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({"provider": {}}, "csv.Spec.Provider.Name not specified"),
        ({"provider": {"name": " "}}, "csv.Spec.Provider.Name not specified"),
        ({"maintainers": [{"name": "m"}]}, "csv.Spec.Maintainers elements should contain both name and email"),
        (
            {"maintainers": [{"name": "m", "email": "m"}]},
            "csv.Spec.Maintainers email m is invalid: mail: missing '@' or angle-addr",
        ),
        ({"links": [{"url": "https://a"}]}, "csv.Spec.Links elements should contain both name and url"),
        ({"links": [{"name": "l", "url": "acme"}]}, 'csv.Spec.Links url acme is invalid: parse "acme": '),
        ({"version": None}, "csv.Spec.Version must be set"),
        ({"version": "0.0.0+b"}, "csv.Spec.Version must be set"),
        ({"icon": []}, "csv.Spec.Icon should only have one element"),
        ({"icon": [an_icon(), an_icon()]}, "csv.Spec.Icon should only have one element"),
        ({"icon": [an_icon(base64data="")]}, "csv.Spec.Icon elements should contain both data and mediatype"),
        ({"icon": [an_icon(mediatype="")]}, "csv.Spec.Icon elements should contain both data and mediatype"),
        ({"icon": [an_icon(mediatype="text/html")]}, "csv.Spec.Icon text/html does not have a valid mediatype"),
    ],
)
def test_fbc_md_11_6_and_r291_what_operatorhub_refuses(spec: dict[str, Any], words: str) -> None:
    [told] = errors("operatorhubv2", csv=a_csv(**HUB | spec))
    assert told.startswith(f"Error: Value : (tea.v1.0.0) {words}")


def test_fbc_md_11_5_an_oldest_kubernetes_is_not_trimmed() -> None:
    told = errors("operatorhubv2", csv=a_csv(**HUB | {"minKubeVersion": " 1.22.0"}))
    assert "Error: Value : (tea.v1.0.0) csv.Spec.MinKubeVersion has an invalid value:  1.22.0" in told


def test_fbc_md_11_6_an_icon_may_be_absent() -> None:
    assert warnings("operatorhubv2", csv=a_csv(**HUB | {"icon": None})) == [
        "Warning: Value : (tea.v1.0.0) csv.Spec.Icon not specified"
    ]


def test_fbc_md_11_6_the_first_edition_checks_more_and_is_deprecated() -> None:
    csv = a_csv({"capabilities": "Magic", "categories": "Database, Tea"}, **HUB)
    assert warnings("operatorhub", csv=csv)[0].startswith('Warning: Value : The "operatorhub" validator is deprecated')
    told = errors("operatorhub", csv=csv)
    assert [sentence.partition(") ")[2] for sentence in told] == [
        'csv.Metadata.Annotations.Capabilities "Magic" is not a valid capabilities level',
        'csv.Metadata.Annotations["categories"] value " Tea" is not in the set of standard categories',
    ]


def test_fbc_md_11_6_categories_may_be_replaced() -> None:
    csv = a_csv({"categories": "Tea,Database", "capabilities": "Auto Pilot"})
    [told] = errors("standardcategories", "standardcapabilities", csv=csv, options=Options(categories=("Tea",)))
    assert told.endswith('value "Database" is not in the set of custom categories')
    assert errors("standardcategories", "standardcapabilities") == []


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
    told = found("alpha-deprecated-apis", csv=csv, crd=a_crd() | OLD, options=Options(kubernetes=option))
    [about] = [one for one in told if "removed in v1.22" in one.detail]
    assert about.is_error == is_error
    assert about.detail == (
        "this bundle is using APIs which were deprecated and removed in v1.22. "
        f'More info: {GUIDE}. Migrate the API(s) for CRD: (["pots.tea.io"])'
    )


def test_fbc_md_11_6_a_version_of_kubernetes_that_is_none() -> None:
    told = errors("alpha-deprecated-apis", options=Options(kubernetes="new"))
    assert told == ["Error: Value tea.v1.0.0: invalid value informed via the k8s key option : new"]


def test_fbc_md_11_6_an_oldest_kubernetes_that_is_none() -> None:
    told = errors("alpha-deprecated-apis", csv=a_csv(minKubeVersion="new"))
    what = "unable to use csv.Spec.MinKubeVersion to verify the CRD/Webhook apis because it has an invalid value: new"
    assert f"Error: Value tea.v1.0.0: {what}" in told


def test_fbc_md_11_6_kinds_that_stayed_are_not_told() -> None:
    review = an_object("SelfSubjectRulesReview") | {"apiVersion": "authorization.k8s.io/v1beta1"}
    of_ingresses = an_object("IngressClass") | {"apiVersion": "extensions/v1beta1"}
    assert not [one for one in found("alpha-deprecated-apis", a=review, b=of_ingresses) if "removed" in one.detail]


JOB = {"kind": "CronJob", "name": "job", "version": "batch/v1beta1"}


def test_fbc_md_11_6_old_apis_among_the_resources_of_definitions() -> None:
    shown = [{"kind": "Pod", "name": "", "version": "v1"}, {"kind": "CronJob", "name": "", "version": "v1beta1"}, JOB]
    definitions = {"owned": [owned() | {"resources": shown}], "required": [owned() | {"resources": [JOB]}]}
    csv = a_csv(customresourcedefinitions=definitions, minKubeVersion="1.20.0")
    budget = {"apiVersion": "policy/v1beta1", "kind": "PodDisruptionBudget", "metadata": {"name": 3}}
    [told] = [one for one in warnings("alpha-deprecated-apis", csv=csv, pdb=budget) if "v1.25" in one]
    assert told.startswith("Warning: Value tea.v1.0.0: this bundle is using APIs")
    where = "ClusterServiceVersion.Spec.CustomResourceDefinitions"
    places = f'"{where}.Owned[0].Resource[2]" "{where}.Required[0].Resource[0]"'
    assert told.endswith(f'CronJob: ([{places}]),PodDisruptionBudget: ([""])')


def test_fbc_md_11_6_rules_on_what_is_gone_are_always_a_warning() -> None:
    rule = a_rule("policy", "podsecuritypolicies", "use")
    rights = {"permissions": [{"serviceAccountName": "s"}, {"serviceAccountName": "sa", "rules": [rule]}]}
    install = with_rights(a_rule("", "pods", "get"), rule)
    csv = a_csv(install=install | {"spec": install["spec"] | rights}, minKubeVersion="1.27.0")
    [told] = found("alpha-deprecated-apis", csv=csv)
    where = "ClusterServiceVersion.Spec.InstallStrategy.StrategySpec"
    places = f'"{where}.ClusterPermissions[0].Rules[1]" "{where}.Permissions[1].Rules[0]"'
    assert not told.is_error
    assert told.detail.endswith(f"Migrate the API(s) for podsecuritypolicies: ([{places}])")


LABEL = "com.redhat.openshift.versions"
MAX = '[{"type": "olm.maxOpenShiftVersion", "value": "4.8"}]'


@pytest.mark.parametrize(
    ("annotation", "dockerfile", "words"),
    [
        pytest.param(None, None, "csv.Annotations not specified olm.maxOpenShiftVersion", id="no properties"),
        pytest.param("{", None, "csv.Annotations has an invalid value specified for olm.properties", id="no JSON"),
        pytest.param('["a"]', None, "csv.Annotations has an invalid value specified for", id="no properties in it"),
        pytest.param(MAX.replace('"4.8"', "4"), None, "csv.Annotations has an invalid value specified", id="a number"),
        pytest.param("[]", None, "csv.Annotations.olm.properties lacks olm.maxOpenShiftVersion", id="no limit"),
        pytest.param(MAX.replace('"4.8"', "null"), None, "has an invalid value.  is no version", id="null"),
        pytest.param(MAX.replace("value", "Value"), None, "", id="a limit in another spelling"),
        pytest.param(MAX.replace("4.8", "x"), None, "csv.Annotations.olm.properties has an invalid", id="no version"),
        pytest.param(MAX.replace("4.8", "4.9"), None, "olm.maxOpenShiftVersion is 4.9. Migrate", id="too high"),
        pytest.param(MAX, None, "", id="a limit"),
        pytest.param(MAX, "FROM scratch", f"the Dockerfile has no label {LABEL}", id="no label"),
        pytest.param(
            MAX, f"LABEL {LABEL}=v4.6-v4.9", f"the label {LABEL}=v4.6-v4.9 has to end below 4.9", id="a range"
        ),
        pytest.param(MAX, f'LABEL "{LABEL}"="v4.6-v4.8"', "", id="a range that ends"),
        pytest.param(MAX, f"LABEL {LABEL}==v4.8", "", id="one version"),
        pytest.param(MAX, f"FROM a\nLABEL a=b \\\n  {LABEL}=v4.6-v4.8", "", id="fbc.md 11.6: a label on another line"),
        pytest.param(MAX, f"LABEL a=b {LABEL}=v4.6-v4.8", "", id="fbc.md 11.6: a label behind another"),
        pytest.param(MAX, f"# LABEL {LABEL}=v4.6-v4.8", f"has no label {LABEL}", id="fbc.md 11.6: a comment"),
        pytest.param(MAX, f"LABEL {LABEL}=v4.8", "has to end below 4.9", id="a range without an end"),
    ],
)
def test_fbc_md_11_6_what_the_community_wants_of_old_apis(
    annotation: str | None, dockerfile: str | None, words: str
) -> None:
    csv = a_csv({"olm.properties": annotation} if annotation is not None else None)
    told = errors(
        "community", csv=csv, crd=a_crd(preserveUnknownFields=False) | OLD, options=Options(dockerfile=dockerfile)
    )
    assert len(told) == bool(words)
    assert all(words in sentence for sentence in told)


@pytest.mark.parametrize("limit", ["4.8.1", "4.8.0-rc.1"])
def test_fbc_md_11_6_the_community_warns_of_a_limit_with_a_patch_and_of_labels_it_cannot_see(limit: str) -> None:
    csv = a_csv({"olm.properties": MAX.replace("4.8", limit)})
    told = [one for one in warnings("community", csv=csv, crd=a_crd() | OLD) if "(tea.v1.0.0)" in one]
    assert f"olm.maxOpenShiftVersion must specify only major.minor: {limit}" in told[0]
    assert "please name the Dockerfile in the option index-path" in told[1]
    assert 'or migrate the API(s) for CRD: (["pots.tea.io"])' in told[1]


def test_fbc_md_11_6_the_community_wants_nothing_of_new_apis() -> None:
    assert found("community") == []


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        (an_object("PodDisruptionBudget", spec={"maxUnavailable": 0}), "Error: Value poddisruptionbudget: max"),
        (an_object("PodDisruptionBudget", spec={"maxUnavailable": "0%"}), "cannot be set to 0 or 0%"),
        (an_object("PodDisruptionBudget", spec={"minAvailable": "100%"}), "minAvailable field cannot be set to 100%"),
        (an_object("PriorityClass", globalDefault=True), "globalDefault field cannot be set to true"),
        (
            an_object("Role", rules=[a_rule("policy", "poddisruptionbudgets", "update")]),
            "Warning: Value {[update] [policy] [poddisruptionbudgets] [] []}: RBAC includes permission to create",
        ),
        (
            an_object("ClusterRole", rules=[
                a_rule("security.openshift.io", "securitycontextconstraints", "*", resourceNames=["a", "anyuid"])]),
            "Error: Value {[*] [security.openshift.io] [securitycontextconstraints] [a anyuid] []}: RBAC includes",
        ),
    ],
)  # fmt: skip
def test_fbc_md_r289_and_r268_objects_that_do_harm(manifest: dict[str, Any], words: str) -> None:
    [told] = found("bundle-objects", x=manifest)
    assert words in str(told)
    assert told.path == "manifests/x.yaml"


@pytest.mark.parametrize(
    "manifest",
    [
        pytest.param(an_object("PodDisruptionBudget", spec={"maxUnavailable": "25%"}), id="fbc.md R290: a quarter"),
        pytest.param(an_object("PodDisruptionBudget", spec={"maxUnavailable": True}), id="nonsense"),
        pytest.param(an_object("PriorityClass"), id="an ordinary class"),
        pytest.param(an_object("Role", rules=[3, a_rule("policy", "poddisruptionbudgets", "get")]), id="reading"),
        pytest.param(
            an_object("Role", rules=[a_rule("security.openshift.io", "securitycontextconstraints", "*")]), id="no names"
        ),
    ],
)
def test_objects_that_do_no_harm(manifest: dict[str, Any]) -> None:
    assert found("bundle-objects", x=manifest) == []


@pytest.mark.parametrize("version", ["v1", "v1alpha2"])
def test_fbc_md_11_6_groups_are_checked_for_case_only(version: str) -> None:
    group = an_object("OperatorGroup", metadata={"name": "g", "annotations": {"olm.providedapis": "x"}})
    told = errors("operatorgroup", g=group | {"apiVersion": f"operators.coreos.com/{version}"})
    wanted = (
        "Error: Value g: provided annotation olm.providedapis uses wrong case and should be olm.providedAPIs instead"
    )
    assert wanted in told
    assert wanted not in errors("operatorgroup", g=group)


def test_a_bundle_that_is_good_practice() -> None:
    assert found("good-practices") == []
    rule = a_rule("apiextensions.k8s.io", "customresourcedefinitions", "get")
    assert found("good-practices", csv=a_csv(install=with_rights(rule))) == []


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        pytest.param(
            {"install": installing(a_deployment(containers=[{"name": "x"}]))},
            "unable to find the resource requests for the container: (x)",
            id="no requests",
        ),
        pytest.param(
            {"customresourcedefinitions": {"owned": [owned(description="")]}},
            'owned CRD "pots.tea.io" has an empty description',
            id="no description",
        ),
        pytest.param(
            {"install": with_rights(a_rule("", "pods", "get"), a_rule("apiextensions.k8s.io", "*", "create"))},
            "CSV contains permissions to create CRD (sa)",
            id="making definitions",
        ),
    ],
)
def test_fbc_md_11_6_what_could_be_better(spec: dict[str, Any], words: str) -> None:
    [told] = warnings("good-practices", csv=a_csv(**spec))
    assert words in told


def test_fbc_md_11_6_channels_have_a_convention() -> None:
    labels = LABELS | {f"{PREFIX}channels.v1": "beta, fast,alpha,beta,", f"{PREFIX}channel.default.v1": "gamma"}
    [told] = warnings("good-practices", labels=labels)
    guide = "https://olm.operatorframework.io/docs/best-practices/channel-naming"
    what = f"are not following the recommended naming convention: {guide}"
    assert told == f'Warning: Value tea.v1.0.0: channel(s) ["alpha" "beta" "gamma"] {what}'


VERSIONING = "is not following the versioning convention (MAJOR.MINOR.PATCH e.g 0.0.1): https://semver.org/"
NAMING = "is not following the recommended naming convention: <operator-name>.v<semver> e.g. memcached-operator.v0.0.1"


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        pytest.param("tea.v1.0.0-rc.1", [], id="fbc.md 11.6: a name with its version"),
        pytest.param("tea", [VERSIONING, NAMING], id="fbc.md 11.6: a name without a version"),
        pytest.param("tea.v1.0", [VERSIONING], id="fbc.md 11.6: half a version"),
        pytest.param("tea.v01.0.0", [VERSIONING], id="fbc.md 11.6: a version with a leading zero"),
        pytest.param("tea-1.0.0", [NAMING], id="fbc.md 11.6: a version without its sign"),
        pytest.param("tea.very.v1.0.0", [NAMING], id="fbc.md 11.6: the sign twice"),
    ],
)
def test_names_have_a_convention(name: str, wrong: list[str]) -> None:
    csv = a_csv()
    csv["metadata"]["name"] = name
    told = warnings("good-practices", csv=csv)
    assert told == [f"Warning: Value {name}: csv.metadata.Name {name} {what}" for what in wrong]


def test_fbc_md_11_6_an_operator_without_deployments() -> None:
    told = errors("good-practices", csv=a_csv(install={"strategy": "deployment"}))
    assert "Error: Value tea.v1.0.0: unable to find a deployment to install in the CSV" in told
    assert not [one for one in errors("good-practices", csv=a_csv(install=installing())) if "to install" in one]


@pytest.mark.parametrize(
    ("manifest", "words"),
    [
        ({}, ["() packageName empty", "() channels empty"]),
        (
            {"packageName": "p", "channels": [{"name": "a", "currentCSV": "x"}, {"name": "a"}]},
            [
                "(p) default channel is empty but more than one channel exists", '(p) channel "a" currentCSV is empty',
                '(p) duplicate package manifest channel name "a"',
            ],
        ),
        (
            {"packageName": "p", "defaultChannel": "b", "channels": [{"currentCSV": "x"}]},
            ["(p) channel 0 name is empty", '(p) default channel "b" not found in the list of declared channels'],
        ),
        ({"packageName": "p", "channels": [{"name": "a", "currentCSV": "x"}]}, []),
    ],
)  # fmt: skip
def test_fbc_md_11_6_package_manifests(manifest: dict[str, Any], words: list[str]) -> None:
    assert [one.detail for one in package_manifest(manifest)] == words
