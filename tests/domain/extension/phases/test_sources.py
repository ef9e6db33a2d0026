"""Where the objects of a ClusterObjectSet come from (v1.md §21.6)."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import pytest

from shared.domain.extension.phases.order import Phase
from shared.domain.extension.phases.packing import Unreadable
from shared.domain.extension.phases.sources import mutable, references, resolved

Object = dict[str, Any]
MAP: Object = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}}


def ref(key: str = "plain", name: str = "s") -> Object:
    return {"ref": {"namespace": "n", "name": name, "key": key}}


def revision(*objects: Object) -> Object:
    return {"spec": {"phases": [{"name": "deploy", "objects": list(objects)}]}}


def a_secret(*, immutable: object = True) -> Object:
    text = json.dumps(MAP).encode()
    stored = {"plain": text, "gzip": gzip.compress(text), "bad": b"{"}
    return {"immutable": immutable, "data": {key: base64.b64encode(data).decode() for key, data in stored.items()}}


THERE = {("n", "s"): a_secret()}


@pytest.mark.parametrize("one", [{"object": MAP}, ref(), ref("gzip")], ids=["inline", "plain", "gzip"])
def test_v1_md_21_6_ref_resolution(one: Object) -> None:
    assert resolved(revision(one), THERE) == (Phase("deploy", (MAP,)),)


@pytest.mark.parametrize(
    ("one", "why"),
    [
        pytest.param(
            ref(name="gone"), 'resolving ref in phase "deploy": getting Secret n/gone: secrets "gone" not found',
            id="v1.md 21.6: missing Secret",
        ),
        pytest.param(
            ref("none"), 'resolving ref in phase "deploy": key "none" not found in Secret n/s',
            id="v1.md 21.6: missing key",
        ),
        pytest.param(
            ref("bad"),
            'resolving ref in phase "deploy": unmarshaling object from key "bad" in Secret n/s: '
            "unexpected end of JSON input",
            id="v1.md 21.6: bad JSON",
        ),
        pytest.param({}, 'object in phase "deploy" has neither object nor ref', id="v1.md 21.6: neither"),
    ],
)  # fmt: skip
def test_what_cannot_be_had(one: Object, why: str) -> None:
    with pytest.raises(Unreadable) as caught:
        resolved(revision({"object": MAP}, one), THERE)
    assert str(caught.value) == why


@pytest.mark.parametrize(
    ("objects", "secrets", "want"),
    [
        pytest.param((ref(),), THERE, "", id="v1.md 21.6 immutability: all are"),
        pytest.param(({"object": MAP},), {}, "", id="v1.md 21.6 immutability: inline objects are skipped"),
        pytest.param((ref(),), {}, "", id="v1.md 21.6 immutability: a missing Secret is skipped"),
        pytest.param(
            (ref(), ref("gzip"), ref(name="t")),
            {("n", "s"): a_secret(immutable=None), ("n", "t"): a_secret(immutable=False)},
            "the following secrets are not immutable (referenced secrets must have immutable set to true): n/s, n/t",
            id="v1.md 21.6 immutability, 26.9 V6: each mutable one is told once",
        ),
    ],
)
def test_immutability(objects: tuple[Object, ...], secrets: dict[tuple[str, str], Object], want: str) -> None:
    assert mutable(revision(*objects), secrets) == want


def test_v1_md_21_6_each_secret_is_checked_once() -> None:
    assert references(revision(ref(), {"object": MAP}, ref("gzip"), ref(name="t"))) == (("n", "s"), ("n", "t"))
