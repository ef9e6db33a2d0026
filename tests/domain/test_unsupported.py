"""One table says what is not supported; the documents list the same."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from shared.domain.unsupported import BUNDLE, CATALOG, GAPS, GROUP, VERSION, unsupported

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kind", "described", "want"),
    [
        pytest.param(VERSION, {}, "", id="a plain version"),
        pytest.param(
            VERSION,
            {"spec": {"webhookdefinitions": [{"generateName": "a.b"}, {"generateName": "c.d"}]}},
            "webhooks are not supported yet: a.b, c.d",
            id="webhooks",
        ),
        pytest.param(
            VERSION,
            {"spec": {"apiservicedefinitions": {"owned": [{"version": "v1", "group": "g"}]}}},
            "aggregated APIs are not supported yet: v1.g",
            id="APIServices of its own",
        ),
        pytest.param(
            VERSION, {"spec": {"apiservicedefinitions": {"required": [{"version": "v1"}]}}}, "", id="required ones are"
        ),
        pytest.param(GROUP, {"spec": {}}, "", id="a plain group"),
        pytest.param(
            GROUP,
            {"spec": {"serviceAccountName": "limited"}},
            "spec.serviceAccountName 'limited' is refused: installing with the rights of a ServiceAccount is not"
            " supported yet. Remove the field to install with the rights of the operator lifecycle manager",
            id="a group with an account",
        ),
        pytest.param(CATALOG, {"spec": {"sourceType": "grpc"}}, "", id="a catalog image"),
        pytest.param(
            CATALOG,
            {"spec": {"sourceType": "configmap"}},
            "catalogs of sourcetype configmap are not served yet: give spec.image instead",
            id="a catalog in a ConfigMap",
        ),
        pytest.param(BUNDLE, {"image": "i"}, "", id="a bundle image"),
        pytest.param(
            BUNDLE,
            {"image": ""},
            "the bundle names no image; bundles inside catalogs are not served yet",
            id="a bundle in its catalog",
        ),
        pytest.param("Pod", {"spec": {"serviceAccountName": "x"}}, "", id="a kind without gaps"),
    ],
)
def test_unsupported(kind: str, described: dict[str, Any], want: str) -> None:
    assert unsupported(kind, described) == want


TOPICS = [gap.topic for gaps in GAPS.values() for gap in gaps]


def test_the_list_for_people_who_come_from_olm_has_these_topics_and_no_other() -> None:
    section = (ROOT / "k8s" / "COMING_FROM_OLM.md").read_text().split("## Not yet\n")[1].split("\n## ")[0]
    listed = [line.removeprefix("- ").partition(":")[0] for line in section.splitlines() if line.startswith("- ")]
    assert listed == TOPICS


@pytest.mark.parametrize("document", ["README.md", "CHANGELOG.md"])
def test_other_documents_name_these_topics(document: str) -> None:
    text = " ".join((ROOT / document).read_text().split())
    told = text.replace("*", "").split("Not yet:")[1].partition("status")[0]
    assert [topic for topic in TOPICS if topic not in told] == []
