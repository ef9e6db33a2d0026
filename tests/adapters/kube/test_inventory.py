from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from shared import kinds
from shared.adapters.kube import ApiError, KubeClient, KubeInventory
from shared.adapters.kube.transport import Transport


class PagedServer:
    """Answers with the given pages of names, one after the other; a page may be an error. Stands for a `Transport`."""

    is_remote = True

    def __init__(self, *pages: list[str] | ApiError) -> None:
        self._pages = list(pages)
        self.asked: list[Mapping[str, str]] = []
        self.accepted: set[str] = set()

    def request(
        self, verb: str, path: str, _: object, *, query: Mapping[str, str], accept: str, **rest: object
    ) -> dict[str, Any]:
        assert (verb, path) == ("GET", "/apis/rbac.authorization.k8s.io/v1/roles")
        self.asked.append(query)
        self.accepted.add(accept.partition(",")[0])
        page = self._pages.pop(0)
        if isinstance(page, ApiError):
            raise page
        items = [{"metadata": {"name": name, "namespace": "ns", "resourceVersion": f"v-{name}"}} for name in page]
        meta = {"continue": "more"} if self._pages else {}
        return {"kind": "PartialObjectMetadataList", "items": items, "metadata": meta}


def versions(server: PagedServer, **labels: str) -> list[tuple[str, str]]:
    found = KubeInventory(KubeClient(cast("Transport", server))).versions(kinds.ROLE, labels=labels)
    return [(str(ref), version) for ref, version in found]


A, B = (("rbac.authorization.k8s.io/v1/Role/ns/" + name, f"v-{name}") for name in "ab")


def test_only_metadata_is_read_page_by_page() -> None:
    """DESIGN §4: the audit lists cheaply."""
    server = PagedServer(["a"], ["b"])

    assert versions(server, mine="1", also="2") == [A, B]
    first = {"limit": "100", "labelSelector": "also=2,mine=1"}
    assert server.asked == [first, {**first, "continue": "more"}]
    assert server.accepted == {"application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1"}


@pytest.mark.parametrize(
    ("pages", "want"),
    [
        pytest.param(
            [["a"], ApiError(410, "Expired", ""), ["a"], ["b"]], [A, B], id="expired between pages: read again"
        ),
        pytest.param([ApiError(404, "NotFound", "")], [], id="a kind that is not served has no objects"),
    ],
)
def test_errors_that_mean_something(pages: list[list[str] | ApiError], want: list[tuple[str, str]]) -> None:
    assert versions(PagedServer(*pages)) == want


def test_nothing_has_labels_that_no_object_can_have() -> None:
    """The name of a version may be longer than the value of a label."""
    server = PagedServer()
    assert (versions(server, owner="v" * 64), server.asked) == ([], [])


def test_other_errors_are_the_callers() -> None:
    with pytest.raises(ApiError):
        versions(PagedServer(ApiError(403, "Forbidden", "no")))
