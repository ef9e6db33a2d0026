from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import pytest

from shared.adapters.kube import ApiError, KubeClient
from shared.adapters.kube.copies import KubeCopies
from shared.adapters.kube.transport import Transport
from shared.domain.csv.copies import Copy

PATH = "/apis/operators.coreos.com/v1alpha1/clusterserviceversions"


class PagedServer:
    """Answers with the given pages, one after the other; a page may be an error. Stands for a `Transport`."""

    is_remote = True

    def __init__(self, *pages: list[str] | ApiError) -> None:
        self._pages = list(pages)
        self.asked: list[Mapping[str, str]] = []

    def request(self, verb: str, path: str, _: object, *, query: Mapping[str, str], **rest: object) -> dict[str, Any]:
        assert (verb, path) == ("GET", PATH)
        self.asked.append(query)
        page = self._pages.pop(0)
        if isinstance(page, ApiError):
            raise page
        items = [{"metadata": {"name": "op", "namespace": name}, "spec": {"big": "x"}} for name in page]
        meta = {"continue": "more"} if self._pages else {}
        return {"kind": "ClusterServiceVersionList", "items": items, "metadata": meta}


def copies_of(server: PagedServer) -> KubeCopies:
    return KubeCopies(KubeClient(cast("Transport", server)))


def read(server: PagedServer, name: str = "") -> list[str]:
    copies = copies_of(server).made_from("ns", name)
    assert all(isinstance(copy, Copy) for copy in copies)
    return [copy.namespace for copy in copies]


def test_copies_are_read_in_small_pages() -> None:
    """Issue 3 §4: 10 operators in 500 namespaces fit into 256 MB."""
    server = PagedServer(["c", "a"], ["b"])

    assert read(server) == ["a", "b", "c"]
    first = {"limit": "50", "labelSelector": "olm.copiedFrom=ns"}
    assert server.asked == [first, {**first, "continue": "more"}]


def test_the_copies_of_one_version_are_picked_by_the_server() -> None:
    server = PagedServer(["a"])

    assert read(server, "op") == ["a"]
    assert server.asked[0]["fieldSelector"] == "metadata.name=op"


def test_versions_of_the_same_name_elsewhere_are_told_apart_by_the_server() -> None:
    server = PagedServer(["a", "ns"])

    assert copies_of(server).others("ns", "op") == {"a"}
    assert server.asked == [{"labelSelector": "olm.copiedFrom!=ns", "fieldSelector": "metadata.name=op"}]


def test_the_copies_of_all_originals() -> None:
    server = PagedServer(["a"])

    assert [copy.namespace for copy in copies_of(server).made_from("")] == ["a"]
    assert server.asked[0]["labelSelector"] == "olm.copiedFrom"


def test_a_list_that_expired_between_pages_is_read_again() -> None:
    server = PagedServer(["a"], ApiError(410, "Expired", "too old"), ["a"], ["b"])

    assert read(server) == ["a", "b"]


def test_other_errors_are_the_callers() -> None:
    with pytest.raises(ApiError):
        read(PagedServer(ApiError(403, "Forbidden", "no")))
