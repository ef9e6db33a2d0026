"""What `olmf approve` writes beside `spec.approved`: as whom, and for which content."""

from __future__ import annotations

from typing import cast

from eventing.cli.requests.approving import approval_of
from shared import names
from shared.adapters.kube import KubeClient
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan


class Known:
    """An API server that tells who asks, or nothing."""

    def __init__(self, name: str) -> None:
        self.name = name

    def user_name(self) -> str:
        return self.name


def patch(name: str, **annotations: str) -> Manifest:
    return approval_of(cast("KubeClient", Known(name)), InstallPlan({"metadata": {"annotations": annotations}}))


def test_an_approval_names_who_gives_it_and_the_content_that_was_read() -> None:
    assert patch("alice", **{names.PLAN_CONTENT: "sha256:1", "other": "x"}) == {
        "metadata": {"annotations": {names.APPROVED_BY: "alice", names.PLAN_CONTENT: "sha256:1"}},
        "spec": {"approved": True},
    }
    assert patch("alice")["metadata"]["annotations"] == {names.APPROVED_BY: "alice"}, "a plan of OLM has no digest"


def test_who_is_not_known_takes_the_name_of_another_one_away() -> None:
    assert patch("", **{names.APPROVED_BY: "bob"})["metadata"]["annotations"] == {names.APPROVED_BY: None}
