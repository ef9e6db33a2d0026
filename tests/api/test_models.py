from __future__ import annotations

from typing import Any

import pytest
from pydantic import ValidationError

from shared.api.catalog_source import CatalogSource
from shared.api.cluster_service_version import ClusterServiceVersion
from shared.api.olm_config import OLMConfig
from shared.api.operator_condition import OperatorCondition
from shared.api.operator_group import OperatorGroup
from shared.api.resource import Resource
from shared.api.subscription import Subscription


def an_object(kind: str, spec: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"apiVersion": "operators.coreos.com/v1", "kind": kind, "metadata": {"name": "a"}, "spec": spec, **more}


def written(read: Resource) -> dict[str, Any]:
    """The fields that were given, under their Kubernetes names."""
    return read.model_dump(by_alias=True, exclude_unset=True)


A_WEBHOOK = {
    "generateName": "v.example.com",
    "type": "ConversionWebhook",
    "sideEffects": "None",
    "admissionReviewVersions": ["v1"],
    "targetPort": "https",
    "conversionCRDs": ["things.example.com"],
}

A_CSV = an_object(
    "ClusterServiceVersion",
    {
        "displayName": "A",
        "MinKubeVersion": "1.20.0",
        "nativeAPIs": [{"group": "", "version": "v1", "kind": "Pod"}],
        "icon": [{"base64data": "aGk=", "mediatype": "image/png"}],
        "install": {
            "strategy": "deployment",
            "spec": {"deployments": [{"name": "d", "spec": {"replicas": 1, "template": {"spec": {"x": [1.5, None]}}}}]},
        },
        "customresourcedefinitions": {
            "owned": [
                {
                    "name": "things.example.com",
                    "version": "v1",
                    "kind": "Thing",
                    "specDescriptors": [{"path": "size", "x-descriptors": ["urn:x"], "later": True}],
                }
            ]
        },
        "webhookdefinitions": [A_WEBHOOK],
    },
    status={"phase": "Succeeded", "lastUpdateTime": "2026-01-01T00:00:00Z", "ours": {"deep": 1}},
)


@pytest.mark.parametrize(
    ("model", "manifest"),
    [
        pytest.param(ClusterServiceVersion, A_CSV, id="csv.md 2.1: every field of a version, known or not"),
        pytest.param(
            Subscription,
            an_object(
                "Subscription",
                {
                    "name": "p",
                    "source": "s",
                    "sourceNamespace": "olm",
                    "startingCSV": "p.v1",
                    "config": {"env": [{"name": "A", "valueFrom": {"x": 1}}], "resources": {}},
                },
                status={"lastUpdated": "2026-01-01T00:00:00Z", "installedCSV": "p.v1"},
            ),
            id="catalog.md 3.1: CSV in names keeps its capitals",
        ),
        pytest.param(
            CatalogSource,
            an_object(
                "CatalogSource", {"sourceType": "grpc", "updateStrategy": {}, "grpcPodConfig": {"memoryTarget": 5}}
            ),
            id="catalog.md 2.2: an empty updateStrategy stays empty",
        ),
        pytest.param(
            OperatorGroup,
            an_object("OperatorGroup", {"staticProvidedAPIs": True, "upgradeStrategy": "Default"}),
            id="csv.md 8.1: a static group",
        ),
        pytest.param(
            OperatorCondition,
            an_object(
                "OperatorCondition",
                {"overrides": [{"type": "Upgradeable", "status": "True", "reason": "Mine", "message": ""}]},
            ),
            id="csv.md 11.1: an override needs no time",
        ),
        pytest.param(
            OLMConfig,
            an_object("OLMConfig", {"features": {"disableCopiedCSVs": False, "packageServerSyncInterval": "1h30m"}}),
            id="csv.md 10.5: the switch for copies",
        ),
    ],
)
def test_an_object_survives_a_round_trip(model: type[Resource], manifest: dict[str, Any]) -> None:
    assert written(model.model_validate(manifest)) == manifest


def test_null_means_absent() -> None:
    spec = {"name": "p", "source": "s", "sourceNamespace": "olm"}

    read = Subscription.model_validate(an_object("Subscription", {**spec, "channel": None}))

    assert read.spec.channel == ""
    assert written(read)["spec"] == spec


@pytest.mark.parametrize(
    ("model", "spec", "where"),
    [
        pytest.param(Subscription, {"name": "p", "source": "s"}, "spec.sourceNamespace", id="catalog.md 3.1: required"),
        pytest.param(
            CatalogSource,
            {"sourceType": "grpc", "priority": "1"},
            "spec.priority",
            id="catalog.md 2.1: a text is no int",
        ),
        pytest.param(
            CatalogSource,
            {"sourceType": "grpc", "grpcPodConfig": {"securityContextConfig": "open"}},
            "spec.grpcPodConfig.securityContextConfig",
            id="catalog.md 2.1: legacy or restricted",
        ),
        pytest.param(
            OLMConfig,
            {"features": {"packageServerSyncInterval": "soon"}},
            "spec.features.packageServerSyncInterval",
            id="csv.md 10.5: an interval is a duration",
        ),
        pytest.param(
            OperatorCondition,
            {"conditions": [{"type": "Upgradeable", "status": "True", "reason": "Mine", "message": ""}]},
            "spec.conditions.0.lastTransitionTime",
            id="csv.md 11.1: a report needs a time",
        ),
    ],
)
def test_a_wrong_object_is_refused_with_its_place(model: type[Resource], spec: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as caught:
        model.model_validate(an_object("X", spec))

    assert [".".join(map(str, error["loc"])) for error in caught.value.errors()] == [where]
