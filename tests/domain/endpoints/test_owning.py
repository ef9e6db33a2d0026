"""Whose a definition, an aggregated API and a conversion are."""

from __future__ import annotations

from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import ApiEntry, ApiService, Csv, CustomResourceDefinition
from shared.domain.endpoints import api_services, conversion
from shared.domain.endpoints.owning import is_named, other_owner
from shared.kinds import Ref
from tests.domain.csv.builders import a_crd, a_status, owned_crd
from tests.domain.endpoints.builders import THINGS, a_conversion, a_server, an_api

PREFIX = "operatorframework.io/installed-alongside-"


def a_version(name: str = "a.v1", place: str = "ns", phase: str = "Succeeded", **more: Any) -> Manifest:
    owned = {"customresourcedefinitions": owned_crd(), **more}
    csv = a_server(a_conversion(), name=name, status=a_status(phase), **owned)
    annotations = {**csv["metadata"]["annotations"], "olm.operatorNamespace": place}
    return {**csv, "metadata": {**csv["metadata"], "namespace": place, "annotations": annotations}}


CSV = Csv(a_version())


def a_definition(*installers: str, **spec: Any) -> CustomResourceDefinition:
    reported = {f"{PREFIX}{number}": one for number, one in enumerate(installers or ("ns/a.v1",))}
    crd = a_crd(THINGS, annotations=reported)
    return CustomResourceDefinition({**crd, "spec": {**crd["spec"], **spec}})


def read(*csvs: Manifest) -> dict[Ref, Manifest | None]:
    return {Ref.of(one): one for one in csvs}


@pytest.mark.parametrize(
    ("others", "want"),
    [
        pytest.param((), "", id="nobody else"),
        pytest.param((a_version("b.v1", "other"),), "other/b.v1", id="another namespace"),
        pytest.param((a_version("b.v1", "other", customresourcedefinitions={}),), "", id="it gave it up"),
        pytest.param((a_version("b.v1", "other", meta={"deletionTimestamp": "x"}),), "", id="it is being deleted"),
        pytest.param(
            (a_version("b.v1", "other", meta={"labels": {"olm.copiedFrom": "x"}}),), "", id="a copy owns nothing"
        ),
        pytest.param((a_version("b.v1"),), "ns/b.v1", id="another operator of the namespace"),
        pytest.param((a_version("b.v1", phase="Replacing"),), "", id="it leaves"),
        pytest.param((a_version("b.v1", replaces="a.v1"),), "", id="it comes after this one"),
    ],
)
def test_a_conflicting_one_lives_and_owns_it(others: tuple[Manifest, ...], want: str) -> None:
    installers = ["ns/a.v1", *(f"{one['metadata']['namespace']}/{one['metadata']['name']}" for one in others)]
    definition = a_definition(*installers)
    assert other_owner(CSV, definition, read(*others)) == want
    assert is_named(CSV, definition)


def test_what_a_version_replaces_is_no_conflicting_one() -> None:
    csv = Csv(a_version("a.v2", replaces="a.v1"))
    assert other_owner(csv, a_definition("ns/a.v1", "ns/a.v2"), read(a_version())) == ""


def test_versions_that_wait_in_a_row_are_no_conflicting_ones() -> None:
    """An operator that is two versions behind: both are there before the first one works."""
    row = [a_version(f"a.v{number}", phase="Pending", replaces=f"a.v{number - 1}") for number in (2, 3, 4)]
    definition, objects = a_definition(*(f"ns/a.v{number}" for number in (1, 2, 3, 4))), read(a_version(), *row)
    assert [other_owner(Csv(one), definition, objects) for one in (a_version(), *row)] == [""] * 4
    assert other_owner(CSV, definition, read(a_version(), row[2])) == "ns/a.v4"


def test_versions_that_replace_each_other_end() -> None:
    round_about = [a_version("a.v2", replaces="a.v3"), a_version("a.v3", replaces="a.v2")]
    definition = a_definition("ns/a.v1", "ns/a.v2", "ns/a.v3")
    assert other_owner(CSV, definition, read(a_version(), *round_about)) == "ns/a.v2"


PRESERVES = "crd.Spec.PreserveUnknownFields must be false to let API Server call webhook to do the conversion"


@pytest.mark.parametrize(
    ("definition", "want"),
    [
        pytest.param(a_definition(), "", id="its own"),
        pytest.param(
            None, f"unable to get CRD {THINGS} specified in Conversion Webhook: it does not exist",
            id="csv.md 7.6: it is not there",
        ),
        pytest.param(
            a_definition("other/b.v1"),
            f"csv a.v1 does not own CRD {THINGS}: no InstallPlan installed it for this version",
            id="csv.md 18 row 107: only claimed",
        ),
        pytest.param(
            a_definition("ns/a.v1", "other/b.v1"),
            f"CRD {THINGS} also belongs to other/b.v1: neither of both can convert the objects of the other",
            id="two operators have it",
        ),
        pytest.param(a_definition(preserveUnknownFields=True), PRESERVES, id="csv.md 7.6: unknown fields"),
    ],
)  # fmt: skip
def test_conversion_is_for_its_own_definitions(definition: CustomResourceDefinition | None, want: str) -> None:
    assert conversion.refusal(CSV, THINGS, definition, read(a_version("b.v1", "other"))) == want


def test_a_definition_that_is_not_claimed_is_not_converted_csv_md_18_row_107() -> None:
    csv = Csv(a_server(a_conversion()))
    assert conversion.refusal(csv, THINGS, a_definition(), {}) == f"csv a.v1 does not own CRD {THINGS}"


ONLY_ALL = "unable to manage conversion webhook: CSVs with conversion webhooks must support only AllNamespaces"


@pytest.mark.parametrize(
    ("csv", "want"),
    [
        pytest.param(a_server(), "", id="no conversion"),
        pytest.param(a_server(a_conversion()), "", id="all namespaces alone"),
        pytest.param(a_server(a_conversion(), modes=()), "", id="csv.md 7.6: no modes at all"),
        pytest.param(a_server(a_conversion(), modes=("AllNamespaces", "OwnNamespace")), ONLY_ALL, id="18 row 107"),
        pytest.param(
            a_server({**a_conversion(), "conversionCRDs": []}),
            "unable to manager conversion webhook: conversion webhook must have at least one CRD specified",
            id="csv.md 7.6: of nothing",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_converted_anywhere(csv: Manifest, want: str) -> None:
    assert conversion.misuse(Csv(csv)) == want


API = ApiEntry(an_api())


def a_service(name: str = "a.v1", place: str = "ns", **labels: str) -> ApiService:
    owner = {"olm.owner": name, "olm.owner.namespace": place, "olm.owner.kind": "ClusterServiceVersion", **labels}
    return ApiService({"metadata": {"name": "v1.api.example.com", "labels": owner}})


NOT_OURS = "pre-existing APIService v1.api.example.com is not adoptable"


@pytest.mark.parametrize(
    ("present", "want"),
    [
        pytest.param(None, "", id="there is none"),
        pytest.param(a_service(), "", id="csv.md 7.4 (a): its own"),
        pytest.param(a_service("a.v0"), "", id="csv.md 7.4 (b) and 18 row 92: of the version it replaces"),
        pytest.param(a_service("leaving"), "", id="csv.md 7.4 (c): of one that leaves"),
        pytest.param(a_service("replaced"), "", id="csv.md 7.4 (c): of one that is being replaced"),
        pytest.param(a_service("gone"), "", id="of one of its namespace that is gone"),
        pytest.param(a_service("living"), NOT_OURS, id="csv.md 18 row 93: of one that stays"),
        pytest.param(a_service("leaving", "other"), NOT_OURS, id="of another namespace, in the middle of an upgrade"),
        pytest.param(a_service(**{"olm.owner.kind": "x"}), NOT_OURS, id="of another kind"),
        pytest.param(a_service(""), NOT_OURS, id="of nobody"),
        pytest.param(ApiService({"metadata": {"labels": {}}}), NOT_OURS, id="not ours: the API server's own, too"),
    ],
)
def test_an_api_has_one_owner(present: ApiService | None, want: str) -> None:
    csv = Csv(a_server(replaces="a.v0"))
    leaving = [
        Csv(a_version(name, phase=phase)) for name, phase in (("leaving", "Deleting"), ("replaced", "Replacing"))
    ]
    beside = [*leaving, Csv(a_version("living"))]
    assert api_services.refusal(csv, API, present, beside) == want


def test_the_groups_of_the_api_server_are_its_own() -> None:
    csv = Csv(a_server())
    for group in ("", "apps", "rbac.authorization.k8s.io"):
        assert "the API server serves itself" in api_services.refusal(csv, ApiEntry(an_api(group)), None, ())
