from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv.preparation import upgrade_refusal
from shared.kinds import OPERATOR_CONDITION
from tests.domain.csv.builders import a_csv


def a_condition(overrides: Any = None, conditions: Any = None) -> Manifest:
    meta = {"name": "a.v1", "namespace": "ns", "generation": 2}
    return {"metadata": meta, "spec": {"overrides": overrides}, "status": {"conditions": conditions}}


def upgradeable(status: str, message: str = "", generation: int = 2) -> list[Manifest]:
    return [{"type": "Upgradeable", "status": status, "message": message, "observedGeneration": generation}]


HELD = "the operator is not upgradeable: held by admin"


@pytest.mark.parametrize(
    ("condition", "want"),
    [
        pytest.param(None, "", id="csv.md 11.4: no condition object"),
        pytest.param(a_condition(), "", id="csv.md 11.4: it says nothing"),
        pytest.param(a_condition(upgradeable("True"), upgradeable("False")), "", id="csv.md 11.4: override True"),
        pytest.param(
            a_condition(upgradeable("False", "held by admin"), upgradeable("True")), HELD,
            id="csv.md 18 row 68: override False wins over status True",
        ),
        pytest.param(a_condition(upgradeable("Unknown", "held by admin")), HELD, id="csv.md 11.4: override Unknown"),
        pytest.param(
            a_condition(None, upgradeable("True", generation=1)),
            'the operatorcondition status "Upgradeable"="True" is outdated', id="csv.md 18 row 67: outdated",
        ),
        pytest.param(
            a_condition(None, upgradeable("False", "held by admin")), HELD, id="csv.md 18 row 66: status False"
        ),
        pytest.param(a_condition(None, upgradeable("True")), "", id="csv.md 18 row 66: status True"),
        pytest.param(a_condition(None, upgradeable("Unknown")), "", id="csv.md 11.4: status Unknown"),
        pytest.param(a_condition(None, [{"type": "Other"}]), "", id="csv.md 11.4: another type"),
    ],
)  # fmt: skip
def test_refusal(condition: Manifest | None, want: str) -> None:
    assert upgrade_refusal(Csv(a_csv()), {OPERATOR_CONDITION.ref("a.v1", "ns"): condition}) == want
