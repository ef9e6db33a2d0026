"""Which Service a client dials, of the name that it dials it by."""

from __future__ import annotations

import pytest

from shared.domain.serving.authority import dialled_service


@pytest.mark.parametrize(
    "authority",
    [
        "tea.olm.svc:50051", "tea.olm.svc", "tea.olm", "tea.olm:50051", "TEA.Olm.SVC",
        "tea.olm.svc.cluster.local:50051", "tea.olm.svc.cluster.local.", "tea.olm.svc.cluster.local.:1",
    ],
)  # fmt: skip
def test_the_names_of_a_service(authority: str) -> None:
    assert dialled_service(authority) == ("olm", "tea")


@pytest.mark.parametrize(
    "authority",
    [
        "", ":", ".", "tea", "tea:50051", "10.0.0.7:50051", "[fd00::7]:50051", "localhost:1", "tea.olm.pod", "a..svc",
        "tea.olm.svc:", "tea.olm.svc:x", "tea.olm.svc:123456", "user@tea.olm.svc", "tea.olm.svc/x", "tea.olm.svc\n",
        "-tea.olm.svc", "te\u00e4.olm.svc", "tea.ol\u212a.svc", "../olm.svc", "%74ea.olm.svc", "tea.olm..svc",
        f"{'a' * 64}.olm.svc", "tea.olm.svc." + "a." * 130, "a." * 100_000,
    ],
)  # fmt: skip
def test_any_other_text_names_none(authority: str) -> None:
    assert dialled_service(authority) is None
