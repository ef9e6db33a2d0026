"""Annotations of OLM with other capitals."""

from __future__ import annotations

import pytest

from tests.domain.authoring.validation.world import an_object, errors


@pytest.mark.parametrize("version", ["v1", "v1alpha2"])
def test_fbc_md_11_6_groups_are_checked_for_case_only(version: str) -> None:
    group = an_object("OperatorGroup", metadata={"name": "g", "annotations": {"olm.providedapis": "x"}})
    found_errors = errors("operatorgroup", g=group | {"apiVersion": f"operators.coreos.com/{version}"})
    desired = (
        "Error: Value g: provided annotation olm.providedapis uses wrong case and should be olm.providedAPIs instead"
    )
    assert desired in found_errors
    assert desired not in errors("operatorgroup", g=group)
