"""Options of requests: which are refused, and in which words."""

from __future__ import annotations

import pytest

from tests.conformance.api.objects import a_config_map, core
from tests.conformance.http import Answer, Api


def _is_refused(answer: Answer, sentence: str) -> None:
    assert (answer.status, answer.body["reason"]) == (422, "Invalid"), answer.body
    assert sentence in answer.body["message"]


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        pytest.param(
            "fieldValidation=Bad", 'Unsupported value: "Bad": supported values: "", "Ignore", "Strict", "Warn"'
        ),
        pytest.param(
            f"fieldManager={'x' * 129}", "fieldManager: Too long: may not be more than 128 bytes", id="manager"
        ),
    ],
)
def test_an_option_of_a_write_is_checked(http: Api, namespace: str, query: str, sentence: str) -> None:
    answer = http.post(f"{core(namespace, 'configmaps')}?{query}", a_config_map())
    _is_refused(answer, f'CreateOptions.meta.k8s.io "" is invalid: {query.partition("=")[0]}: ')
    assert sentence in answer.body["message"]


def test_only_an_apply_is_forced(http: Api, namespace: str) -> None:
    http.post(core(namespace, "configmaps"), a_config_map())
    answer = http.patch(f"{core(namespace, 'configmaps', 'a')}?force=true", {})
    _is_refused(answer, "force: Forbidden: may not be specified for non-apply patch")


def test_the_sort_of_a_patch_is_checked_first(http: Api, namespace: str) -> None:
    assert http.patch(core(namespace, "configmaps", "absent"), {}, "nonsense").status == 415


@pytest.mark.parametrize(
    ("query", "status", "sentence"),
    [
        pytest.param("resourceVersion=abc", 400, 'invalid resource version: resourceVersion: Invalid value: "abc"'),
        pytest.param(
            "resourceVersionMatch=Exact", 422, "resourceVersionMatch is forbidden unless resourceVersion is provided"
        ),
        pytest.param("resourceVersion=1&resourceVersionMatch=Bad", 422, 'Unsupported value: "Bad": supported values:'),
        pytest.param(
            "resourceVersion=0&resourceVersionMatch=Exact", 422,
            'resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
        ),
        pytest.param("resourceVersion=999999999", 504, "Too large resource version"),
        pytest.param("sendInitialEvents=true", 422, "sendInitialEvents is forbidden for list"),
        pytest.param("limit=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        pytest.param("timeoutSeconds=x", 400, 'strconv.ParseInt: parsing "x": invalid syntax'),
        pytest.param(f"limit={10**20}", 400, "value out of range", id="a limit that is too large"),
        pytest.param(f"limit={'9' * 5000}", 400, "value out of range", id="a limit with too many digits"),
        pytest.param(f"resourceVersion={10**20}", 400, "value out of range", id="a version that is too large"),
        pytest.param(f"resourceVersion={'9' * 5000}", 400, "value out of range", id="a version with too many digits"),
        pytest.param("watch=1&resourceVersion=%C2%B2", 500, 'parsing "²": invalid syntax', id="a digit of no number"),
        pytest.param(f"watch=1&resourceVersion={10**20}", 500, "value out of range", id="a watch of such a version"),
        pytest.param("labelSelector=a%3D1,", 400, "found '', expected: identifier after ','"),
    ],
)  # fmt: skip
def test_an_option_of_a_list_is_checked(http: Api, namespace: str, query: str, status: int, sentence: str) -> None:
    answer = http.get(f"{core(namespace, 'configmaps')}?{query}")
    assert answer.status == status, answer.body
    assert sentence in answer.body["message"]


def test_a_limit_below_zero_is_none(http: Api, namespace: str) -> None:
    assert http.get(f"{core(namespace, 'configmaps')}?limit=-1").status == 200


@pytest.mark.parametrize(
    ("query", "status"),
    [
        pytest.param("resourceVersion=0", 200, id="any version"),
        pytest.param("resourceVersion=1", 400, id="a version"),
        pytest.param("resourceVersion=1&resourceVersionMatch=NotOlderThan", 422, id="how versions match"),
    ],
)
def test_a_next_page_has_the_version_of_the_first(http: Api, namespace: str, query: str, status: int) -> None:
    for name in "ab":
        http.post(core(namespace, "configmaps"), a_config_map(name))
    token = http.get(f"{core(namespace, 'configmaps')}?limit=1").body["metadata"]["continue"]
    assert http.get(f"{core(namespace, 'configmaps')}?limit=1&continue={token}&{query}").status == status
