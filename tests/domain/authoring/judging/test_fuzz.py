"""Spoiled catalogs: whatever a file holds, there is a judgement, with places, and soon.

`OLMF_FUZZ=10000 pytest tests/domain/authoring/judging/test_fuzz.py` tries that many; inputs that once went wrong are in
`fuzz_seeds.jsonl` beside this file and are always tried.
"""

from __future__ import annotations

import json
import os
from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from shared.domain.authoring.judging.judge import Reading
from tests.kit.fbc import (
    a_bundle,
    a_channel,
    a_deprecation,
    a_notice,
    a_package,
    a_property,
    an_entry,
    reading,
    written,
)

_EXAMPLES = int(os.environ.get("OLMF_FUZZ", "150"))
_SEEDS = [json.loads(line) for line in Path(__file__).with_name("fuzz_seeds.jsonl").read_text().splitlines()]
_FOO = [
    a_package(icon={"base64data": "aGk=", "mediatype": "image/png"}),
    a_channel("alpha", an_entry("foo.v0.1.0"), an_entry("foo.v0.2.0", "foo.v0.1.0", ("x",), "<0.2.0")),
    a_bundle("foo.v0.1.0", "0.1.0", a_property("olm.gvk", group="g", kind="k", version="v")),
    a_bundle(
        "foo.v0.2.0",
        "0.2.0",
        a_property("olm.bundle.object", data="a2luZDogWA=="),
        a_property("olm.csv.metadata", annotations={"a": "b"}, installModes=[{"type": "x", "supported": True}]),
        relatedImages=[{"name": "x", "image": "quay.io/x@sha256:" + "0" * 64}],
    ),
    a_deprecation(a_notice(), a_notice("olm.bundle", "foo.v0.1.0")),
    {"schema": "com.other", "package": "foo", "x": [1, {"y": None}]},
]
_TEXTS = (
    "", "foo", "alpha", "foo.v0.1.0", "olm.package", "olm.bundle", "olm.channel", "1.0", "v1.0.0", "1.0.0+b", "01.0.0",
    "~1", ">=1.0.0 ||", "quay.io/A", "a" * 64, "é", "\x00", "\ud800", "y", "#", "aGk",
)  # fmt: skip
_VALUES: st.SearchStrategy[Any] = st.sampled_from(
    [*_TEXTS, None, True, 0, -1, 1.5, 1e30, 2**70, [], {}, [None], [[]], [{}], {"a": "b"}]
)
_JUNK = (
    b"null\n", b"---\n",
    b"--- x\n", b"{", b"}", b"[", b'"', b"\\", b"\t", b": ", b"- ", b"&a ", b"*a ", b"<<: ", b"!!int ",
    b"\x00", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"1e400", b".inf", b"\\ud800", b"?", b"|\n", b"%YAML 1.2\n", b"...\n",
)  # fmt: skip


def _places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [place for key, one in children for place in [(*path, key), *_places(one, (*path, key))]]


@st.composite
def _documents(draw: st.DrawFn) -> list[Any]:
    documents: list[Any] = deepcopy(_FOO)
    for _ in range(draw(st.integers(1, 4))):
        *above, key = draw(st.sampled_from(_places(documents)))
        owner = documents
        for step in above:
            owner = owner[step]
        match draw(st.sampled_from(["set", "set", "drop", "double", "respell"])):
            case "set":
                owner[key] = draw(_VALUES)
            case "drop":
                del owner[key]
            case "double":
                documents.append(deepcopy(owner[key]))
            case _ if isinstance(owner, dict):
                owner[draw(st.sampled_from([str(key).upper(), str(key).title()]))] = draw(_VALUES)
        if not documents:
            break
    return documents


@st.composite
def _files(draw: st.DrawFn) -> bytes:
    documents = draw(_documents())
    content: bytes = draw(st.sampled_from([_as_json, _as_lines, _as_yaml]))(documents)
    for _ in range(draw(st.integers(0, 2))):
        at = draw(st.integers(0, len(content)))
        cut = draw(st.integers(0, 5))
        content = content[:at] + draw(st.sampled_from([b"", *_JUNK])) + content[at + cut :]
    return content


def _as_json(documents: list[Any]) -> bytes:
    return written(*documents)


def _as_lines(documents: list[Any]) -> bytes:
    return "".join(json.dumps(document) for document in documents).encode()


def _as_yaml(documents: list[Any]) -> bytes:
    return yaml.safe_dump_all(documents, sort_keys=False, allow_unicode=True).encode("utf-8", "surrogatepass")


@given(_files())
@settings(max_examples=_EXAMPLES, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_file_holds_it_is_judged(content: bytes) -> None:
    found = reading(content, "f")
    result = found.result()
    assert result == reading(content, "f").result()
    assert all(one.message and one.place.file == "f" and one.place.document for one in result.findings)
    assert result.located(lambda _: content).is_valid is result.is_valid
    assert bool(result.text()) is not result.is_valid


@given(_files())
@settings(max_examples=_EXAMPLES // 3 + 1, deadline=None, suppress_health_check=list(HealthCheck))
def test_whatever_a_file_holds_there_may_be_advice(content: bytes) -> None:
    asked = Reading(advice=[])
    asked.add_file("f", content)
    assert all(one.rule and one.message for one in asked.all_advice())


@pytest.mark.parametrize("seed", _SEEDS, ids=[seed["why"] for seed in _SEEDS])
def test_what_once_was_misjudged(seed: dict[str, Any]) -> None:
    assert reading(seed["content"].encode("latin-1")).result().is_valid is seed["ok"]
