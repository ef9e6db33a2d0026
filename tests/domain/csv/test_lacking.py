import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv.lacking import lacking

RULES = [{"message": f"rule {number}", "status": "NotSatisfied"} for number in (1, 2)]
MET = {"kind": "Account", "name": "met", "status": "Present"}


@pytest.mark.parametrize(
    ("requirements", "want"),
    [
        pytest.param([], "the message", id="without requirements the message of the phase"),
        pytest.param([MET], "the message", id="requirements that are met say nothing"),
        pytest.param(
            [MET, {"kind": "CRD", "name": "a", "status": "NotPresent"}], "CRD a: NotPresent", id="the bare status"
        ),
        pytest.param(
            [{"kind": "Account", "name": "a", "status": "NotPresent", "message": "none"}], "Account a: none",
            id="the message of a requirement",
        ),
        pytest.param(
            [{"kind": "Account", "name": "a", "status": "No", "dependents": RULES[:1]}], "Account a: No (rule 1)",
            id="the right that is lacking",
        ),
        pytest.param(
            [{"kind": "Account", "name": "a", "status": "No", "dependents": RULES}],
            "Account a: No (rule 1 and 1 more)",
            id="the first of several rights",
        ),
    ],
)  # fmt: skip
def test_what_a_version_lacks(requirements: list[Manifest], want: str) -> None:
    assert lacking(Csv({"status": {"message": "the message", "requirementStatus": requirements}})) == want
