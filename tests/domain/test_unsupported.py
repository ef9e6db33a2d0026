"""One table says what is not supported; the documents list the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from shared.api.views import OperatorGroup
from shared.domain.unsupported import GAPS, unsupported

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("found", "want"),
    [
        pytest.param(OperatorGroup({"spec": {}}), "", id="a plain group"),
        pytest.param(
            OperatorGroup({"spec": {"serviceAccountName": "limited"}}),
            "spec.serviceAccountName 'limited' is refused: installing with the rights of a ServiceAccount is not"
            " supported yet. Remove the field to install with the rights of the operator lifecycle manager",
            id="a group with an account",
        ),
    ],
)
def test_unsupported(found: OperatorGroup, want: str) -> None:
    assert unsupported(found) == want


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
