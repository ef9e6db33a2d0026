from __future__ import annotations

from typing import Any

import pytest
from google.protobuf.struct_pb2 import Struct
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.catalog_api.structs import from_struct, to_struct
from shared.adapters.catalog_client.messages import BUNDLE, PACKAGE
from shared.adapters.catalog_client.wire import BadMessage, Field, Message, decode, encode

_ALL = Message(
    "all", (Field(1, "i", "int"), Field(2, "b", "bool"), Field(3, "d", "double"), Field(4, "s"), Field(5, "y", "bytes"))
)


def test_fields_are_written_under_their_numbers() -> None:
    assert encode(PACKAGE, {"name": "tea", "defaultChannelName": "s"}) == b"\x0a\x03tea\x1a\x01s"


def test_what_is_written_is_read() -> None:
    value = {"i": 300, "b": True, "d": 1.5, "s": "é", "y": b"\xff"}
    assert decode(_ALL, encode(_ALL, value)) == value


def test_defaults_are_not_written() -> None:
    assert encode(_ALL, {"i": 0, "b": False, "d": 0.0, "s": "", "y": b""}) == b""


def test_unknown_fields_are_passed_over() -> None:
    unknown = b"\xa8\x01\x01" + b"\xa2\x01\x01x" + b"\xa5\x01\0\0\0\0" + b"\xa1\x01\0\0\0\0\0\0\0\0"
    assert decode(PACKAGE, unknown + b"\x0a\x03tea") == {"name": "tea", "channels": []}


@pytest.mark.parametrize("content", [b"\x0a\x05tea", b"\x0a", b"\xff" * 11, b"\x0b", b"\x0a\xff"])
def test_what_is_no_message_is_refused(content: bytes) -> None:
    with pytest.raises(BadMessage):
        decode(PACKAGE, content)


@given(st.binary(max_size=60))
def test_no_bytes_do_more_than_be_refused(content: bytes) -> None:
    try:
        decode(BUNDLE, content)
    except BadMessage:
        return


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=5), _JSON, max_size=4))
def test_a_struct_is_what_the_inventors_of_the_format_read_and_write(value: dict[str, Any]) -> None:
    theirs = Struct()
    theirs.update(value)
    assert from_struct(theirs.SerializeToString()) == value
    read = Struct.FromString(to_struct(value))
    assert read == theirs
