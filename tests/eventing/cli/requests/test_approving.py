"""What `olmf approve` writes beside `spec.approved`: as whom, and for which content."""

from __future__ import annotations

from typing import cast

import pytest

from eventing.cli.requests.approving import approval_of
from shared import names
from shared.adapters.kube import ApiError, KubeClient
from shared.api.manifest import Manifest
from shared.api.views import InstallPlan


class Known:
    """An API server that tells who asks, or why it does not."""

    def __init__(self, answer: Manifest | ApiError) -> None:
        self.answer = answer

    def request(self, method: str, path: str, body: Manifest) -> Manifest:
        assert (method, path) == ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews")
        assert body == {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        if isinstance(self.answer, ApiError):
            raise self.answer
        return self.answer


ALICE: Manifest = {"status": {"userInfo": {"username": "alice"}}}


def patch(answer: Manifest | ApiError, **annotations: str) -> Manifest:
    return approval_of(cast("KubeClient", Known(answer)), InstallPlan({"metadata": {"annotations": annotations}}))


def test_an_approval_names_who_gives_it_and_the_content_that_was_read() -> None:
    assert patch(ALICE, **{names.PLAN_CONTENT: "sha256:1", "other": "x"}) == {
        "metadata": {"annotations": {names.APPROVED_BY: "alice", names.PLAN_CONTENT: "sha256:1"}},
        "spec": {"approved": True},
    }
    assert patch(ALICE)["metadata"]["annotations"] == {names.APPROVED_BY: "alice"}, "a plan of OLM has no digest"


@pytest.mark.parametrize("status", [403, 404])
def test_who_is_not_known_takes_the_name_of_another_one_away(status: int) -> None:
    found = patch(ApiError(status, "no", "not told"), **{names.APPROVED_BY: "bob"})
    assert found["metadata"]["annotations"] == {names.APPROVED_BY: None}


def test_an_api_server_that_fails_is_told() -> None:
    with pytest.raises(ApiError, match="it rests"):
        patch(ApiError(503, "down", "it rests"))
