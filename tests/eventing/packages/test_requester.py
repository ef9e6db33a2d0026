"""For whom the API server asks: what its front proxy says, read as it is written there."""

from __future__ import annotations

import json

import pytest

from eventing.packages.requester import FrontProxy, User

HEADERS = [
    ("X-Remote-User", "ann"),
    ("X-Remote-Group", "team"),
    ("X-Remote-Extra-Authentication.kubernetes.io%2fcredential-id", "JTI=1"),
    ("X-Remote-Extra-Scopes", "a"),
    ("X-Remote-Extra-Scopes", "b"),
]


def reported(**changed: str) -> FrontProxy:
    lists = {
        "username-headers": ["X-Remote-User"], "group-headers": ["X-Remote-Group"],
        "extra-headers-prefix": ["X-Remote-Extra-"], "allowed-names": ["front-proxy-client"],
    }  # fmt: skip
    data = {f"requestheader-{key}": json.dumps(value) for key, value in lists.items()} | changed
    return FrontProxy.of({"data": {"requestheader-client-ca-file": "a CA", **data}})


def test_a_user_with_groups_and_extra_keys_as_they_were_before_they_became_headers() -> None:
    extra = (("authentication.kubernetes.io/credential-id", ("JTI=1",)), ("scopes", ("a", "b")))
    assert reported().user(["front-proxy-client"], HEADERS) == User("ann", ("team",), extra)


def test_another_certificate_of_that_authority_speaks_for_nobody() -> None:
    assert reported().user(["somebody"], HEADERS) is None


def test_without_names_every_certificate_of_the_authority_counts() -> None:
    assert reported(**{"requestheader-allowed-names": "[]"}).user(["somebody"], HEADERS) is not None


@pytest.mark.parametrize("names", ["front-proxy-client", '{"a": 1}', "[1]"])
def test_names_that_cannot_be_read_are_no_leave_for_anybody(names: str) -> None:
    proxy = reported(**{"requestheader-allowed-names": names})
    assert proxy.user(["front-proxy-client"], HEADERS) is None
    assert proxy.user(["anybody"], HEADERS) is None
