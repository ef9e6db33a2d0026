"""The generated module is that of our messages, and the messages are those that clients of OLM know."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from google.protobuf.message import DecodeError
from hypothesis import given
from hypothesis import strategies as st

from shared.adapters.catalog_client.registry_pb2 import Bundle, Package

ROOT = Path(__file__).parents[3]
PROTO = Path("shared/adapters/catalog_client/registry.proto")


def test_the_module_is_what_is_generated_from_the_messages(tmp_path: Path) -> None:
    words = ["-I.", f"--python_out={tmp_path}", str(PROTO)]
    subprocess.run([sys.executable, "-m", "grpc_tools.protoc", *words], cwd=ROOT, check=True)
    place = PROTO.with_name("registry_pb2.py")
    assert (ROOT / place).read_text() == (tmp_path / place).read_text(), "run `make stubs`"


def test_fields_are_written_under_their_numbers() -> None:
    assert Package(name="tea", defaultChannelName="s").SerializeToString() == b"\x0a\x03tea\x1a\x01s"


def test_defaults_are_not_written() -> None:
    assert Bundle(csvName="", object=[], version="").SerializeToString() == b""


def test_unknown_fields_are_passed_over() -> None:
    unknown = b"\xa8\x01\x01" + b"\xa2\x01\x01x" + b"\xa5\x01\0\0\0\0" + b"\xa1\x01\0\0\0\0\0\0\0\0"
    found = Package.FromString(unknown + b"\x0a\x03tea")
    assert (found.name, list(found.channels)) == ("tea", [])


@pytest.mark.parametrize("content", [b"\x0a\x05tea", b"\x0a", b"\xff" * 11, b"\x0b", b"\x0a\xff"])
def test_what_is_no_message_is_refused(content: bytes) -> None:
    with pytest.raises(DecodeError):
        Package.FromString(content)


@given(st.binary(max_size=60))
def test_no_bytes_do_more_than_be_refused(content: bytes) -> None:
    try:
        Bundle.FromString(content)
    except DecodeError:
        return
