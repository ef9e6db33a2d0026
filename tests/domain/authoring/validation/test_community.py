"""Whether a bundle stays on an OpenShift that has its old APIs."""

from __future__ import annotations

import pytest

from shared.domain.authoring.validation import Options
from tests.domain.authoring.validation.world import a_crd, a_csv, errors, found, warnings

OLD = {"apiVersion": "apiextensions.k8s.io/v1beta1"}


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
    found_errors = errors(
        "community", csv=csv, crd=a_crd(preserveUnknownFields=False) | OLD, options=Options(dockerfile=dockerfile)
    )
    assert len(found_errors) == bool(words)
    assert all(words in sentence for sentence in found_errors)


@pytest.mark.parametrize("limit", ["4.8.1", "4.8.0-rc.1"])
def test_fbc_md_11_6_the_community_warns_of_a_limit_with_a_patch_and_of_labels_it_cannot_see(limit: str) -> None:
    csv = a_csv({"olm.properties": MAX.replace("4.8", limit)})
    found_errors = [one for one in warnings("community", csv=csv, crd=a_crd() | OLD) if "(tea.v1.0.0)" in one]
    assert f"olm.maxOpenShiftVersion must specify only major.minor: {limit}" in found_errors[0]
    assert "please name the Dockerfile in the option index-path" in found_errors[1]
    assert 'or migrate the API(s) for CRD: (["pots.tea.io"])' in found_errors[1]


def test_fbc_md_11_6_the_community_wants_nothing_of_new_apis() -> None:
    assert found("community") == []
