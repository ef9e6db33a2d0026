"""Which rules are asked."""

from __future__ import annotations

from shared.domain.authoring.validation import OPTIONAL, Subject, validate
from tests.domain.authoring.validation.world import LABELS, PREFIX, files, found


def test_optional_rules_say_nothing_about_a_bundle_without_a_version() -> None:
    given = {**files(labels=LABELS | {f"{PREFIX}mediatype.v1": "plain"}), "manifests/cm.yaml": b"kind: ConfigMap\nmetadata: {name: a}\n"}  # fmt: skip # noqa: E501
    del given["manifests/csv.yaml"], given["manifests/crd.yaml"]
    chosen = set(OPTIONAL) - {"operatorhub"}
    assert validate(Subject(given, "here"), chosen) == ()


def test_fbc_md_11_3_unknown_validators_are_passed_over() -> None:
    assert found("nonsense") == []
