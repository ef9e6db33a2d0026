"""As whom an API server knows who asks; one that does not answer that is no failure."""

from __future__ import annotations

import pytest

from shared.adapters.kube.errors import ApiError
from shared.adapters.kube.own_name import own_name
from shared.api.manifest import Manifest


def answering(answer: Manifest | ApiError) -> str:
    def request(method: str, path: str, body: Manifest) -> Manifest:
        assert (method, path) == ("POST", "/apis/authentication.k8s.io/v1/selfsubjectreviews")
        assert body == {"apiVersion": "authentication.k8s.io/v1", "kind": "SelfSubjectReview"}
        if isinstance(answer, ApiError):
            raise answer
        return answer

    return own_name(request)


def test_the_name_is_that_of_the_user() -> None:
    assert answering({"status": {"userInfo": {"username": "alice", "groups": ["x"]}}}) == "alice"


@pytest.mark.parametrize("status", [403, 404])
def test_who_may_not_ask_has_no_name(status: int) -> None:
    assert answering(ApiError(status, "no", "not told")) == ""


def test_a_server_that_fails_is_no_answer() -> None:
    with pytest.raises(ApiError, match="it rests"):
        answering(ApiError(503, "down", "it rests"))
