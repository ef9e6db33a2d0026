from __future__ import annotations

from typing import Any

import pytest

from shared.api.views import Csv
from shared.domain.csv.copies import Copy, dangling


def a_version(namespace: str, **annotations: str) -> dict[str, Any]:
    marked = {f"olm.{key}": value for key, value in annotations.items()}
    return {"metadata": {"name": "op", "namespace": namespace, "annotations": marked}}


@pytest.mark.parametrize(
    ("targets", "reason"),
    [
        pytest.param({}, None, id="csv.md 10.4: missing targets mean all namespaces"),
        pytest.param({"targetNamespaces": "a,b"}, None, id="csv.md 10.4: one of the targets"),
        pytest.param(
            {"targetNamespaces": "b"}, "its original no longer watches this namespace", id="csv.md 10.4: none"
        ),
    ],
)
def test_where_a_copy_may_stay(targets: dict[str, str], reason: str | None) -> None:
    parent = a_version("ns", operatorNamespace="ns", **targets)

    assert dangling(Copy.of(Csv(a_version("a", operatorNamespace="ns"))), Csv(parent)) == reason


def test_a_copy_beside_its_original_has_no_place() -> None:
    """csv.md 10.4: parent namespace == copy namespace."""
    copy = a_version("ns", operatorNamespace="ns")

    assert (
        dangling(Copy.of(Csv(copy)), Csv(a_version("ns", operatorNamespace="ns")))
        == "its original lives in the same namespace"
    )
