"""Which packages a namespace sees, and in which forms (csv.md §13.1, 13.5)."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from shared.domain.serving.package_list import Icon, Listed, chosen, visible

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def listed(name: str, namespace: str, catalog: str = "shop") -> Listed:
    status = {"catalogSource": catalog, "catalogSourceNamespace": namespace, "catalogSourceDisplayName": "The shop"}
    meta = {"name": name, "namespace": namespace, "labels": {}, "creationTimestamp": "2026-01-01T00:00:00Z"}
    return Listed.of({"metadata": meta, "status": status}, Icon(b"", "", ""))


ALL = (listed("tea", "olm"), listed("tea", "olm", "other"), listed("tea", "mine"), listed("cup", "theirs"))


@pytest.mark.parametrize(
    ("namespace", "found"),
    [
        pytest.param("mine", ["tea/olm", "tea/olm", "tea/mine"], id="csv.md 155, 156, 273, 275: its own, the global"),
        pytest.param("olm", ["tea/olm", "tea/olm"], id="csv.md 13.5: the global namespace sees itself"),
        pytest.param("", ["tea/olm", "tea/olm", "tea/mine", "cup/theirs"], id="csv.md 13.5: all, each once"),
        pytest.param("empty", ["tea/olm", "tea/olm"], id="csv.md 155: not those of other namespaces"),
    ],
)
def test_what_a_namespace_sees(namespace: str, found: list[str]) -> None:
    seen = visible(ALL, namespace, "olm")
    assert [f"{one.name}/{one.catalog_namespace}" for one in seen] == found


def test_274_no_packages() -> None:
    assert [*visible((), "mine", "olm")] == []


def test_273_the_namespace_is_rewritten() -> None:
    assert json.loads(ALL[0].json("mine"))["metadata"]["namespace"] == "mine"
    assert json.loads(ALL[0].json(""))["metadata"]["namespace"] == "olm"


def test_270_271_one_by_name() -> None:
    assert chosen(visible(ALL, "mine", "olm"), "mine", "tea") is ALL[2]
    assert chosen(visible(ALL, "else", "olm"), "else", "tea") is ALL[1]  # by catalog: other, shop
    assert chosen(ALL, "mine", "cups") is None


def test_order_and_labels() -> None:
    assert min(one.order for one in ALL) == ("cup", "theirs", "shop")
    assert ALL[0].labels == {}


def test_a_row_of_a_table() -> None:
    assert ALL[0].cells(NOW) == ("tea", "The shop", "24h")


def test_a_package_is_as_large_as_its_status_and_its_picture() -> None:
    found = listed("tea", "olm")
    assert found.size == len(found.status)
    assert replace(found, icon=Icon(b"12345", "", "")).size == len(found.status) + 5
