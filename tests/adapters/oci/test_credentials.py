from __future__ import annotations

import base64
import json

import pytest

from shared.adapters.oci.credentials import Credentials, Login
from shared.adapters.oci.reference import Reference


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


def a_secret(auths: object, *, key: str = ".dockerconfigjson") -> dict[str, object]:
    content = {"auths": auths} if key == ".dockerconfigjson" else auths
    return {"data": {key: encoded(json.dumps(content))}}


def login(credentials: Credentials, image: str) -> Login | None:
    return credentials.of(Reference.parse(image))


@pytest.mark.parametrize(
    ("secret", "image", "user"),
    [
        pytest.param(a_secret({"quay.io": {"auth": encoded("me:pass:word")}}), "quay.io/a/b", "me", id="auth"),
        pytest.param(a_secret({"quay.io": {"username": "me", "password": "x"}}), "quay.io/a", "me", id="username"),
        pytest.param(a_secret({"quay.io": {"auth": encoded("me:x")}}, key=".dockercfg"), "quay.io/a", "me", id="cfg"),
        pytest.param(a_secret({"https://index.docker.io/v1/": {"auth": encoded("me:x")}}), "a/b", "me", id="Docker"),
        pytest.param(a_secret({"quay.io": {"auth": encoded("me:x")}}), "quay.io.evil.com/a", None, id="another host"),
        pytest.param(
            a_secret({"quay.io": {"auth": encoded("all:x")}, "quay.io/a": {"auth": encoded("a:x")}}),
            "quay.io/a/b",
            "a",
            id="the longest beginning wins",
        ),
        pytest.param(a_secret({"quay.io/a": {"auth": encoded("a:x")}}), "quay.io/ab", None, id="whole parts only"),
        pytest.param({"data": {".dockerconfigjson": "%"}}, "quay.io/a", None, id="not base64"),
        pytest.param({"data": {".dockerconfigjson": encoded("{")}}, "quay.io/a", None, id="not JSON"),
        pytest.param(a_secret([]), "quay.io/a", None, id="auths of the wrong type"),
        pytest.param(a_secret({"quay.io": {"auth": encoded("no colon")}}), "quay.io/a", None, id="no colon"),
        pytest.param({"data": {"other": "x"}}, "quay.io/a", None, id="another kind of secret"),
        pytest.param({}, "quay.io/a", None, id="an empty secret"),
    ],
)
def test_a_pull_secret_opens_the_registries_it_names(secret: dict[str, object], image: str, user: str | None) -> None:
    found = login(Credentials.of_secrets([secret]), image)
    assert (found.user if found else None) == user


def test_a_password_may_hold_colons() -> None:
    found = login(Credentials.of_secrets([a_secret({"quay.io": {"auth": encoded("me:pass:word")}})]), "quay.io/a")
    assert found is not None
    assert found.password == "pass:word"


def test_the_first_secret_that_names_a_registry_wins() -> None:
    secrets = [a_secret({"quay.io": {"auth": encoded(f"{user}:x")}}) for user in ("first", "second")]
    found = login(Credentials.of_secrets(secrets), "quay.io/a")
    assert found is not None
    assert found.user == "first"


def test_a_password_is_never_printed() -> None:
    credentials = Credentials.of_secrets([a_secret({"quay.io": {"auth": encoded("me:hidden")}})])
    assert "hidden" not in repr(credentials)
