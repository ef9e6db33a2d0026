"""Whatever a registry sends, it is used as it was promised or refused with a sentence."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shared.adapters.oci.credentials import Credentials
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.layers import Tree
from shared.adapters.oci.limits import Limits
from shared.adapters.oci.mirrors import Mirrors
from shared.adapters.oci.reference import Reference
from shared.adapters.oci.verify import Descriptor, document
from tests.kit.image_registry import a_file, a_layer, a_link, in_zstd

_LIMITS = Limits(unpacked_bytes=1_000_000, kept_bytes=100_000, files=100, entries=1000)
_LAYER = a_layer(a_file("manifests/a", b"A" * 700), a_link("manifests/l", "a"), a_file("manifests/b"), compressed=False)


def refusal(act: Callable[[], object]) -> OciError | None:
    """Why it was refused, if it was."""
    try:
        act()
    except OciError as error:
        return error
    return None


def laid(layer: bytes) -> dict[str, bytes]:
    tree: Tree[bytes] = Tree(("",), lambda stream: stream.read(), _LIMITS)
    tree.add(io.BytesIO(layer))
    return tree.complete()


@settings(max_examples=400, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(_LAYER) - 1), st.integers(0, 255)), max_size=6), st.integers(0, len(_LAYER))
)
@example([(156, 50)], len(_LAYER))
def test_a_changed_archive(changes: list[tuple[int, int]], length: int) -> None:
    layer = bytearray(_LAYER)
    for position, value in changes:
        layer[position] = value
    cut = bytes(layer[:length])
    for content in (cut, gzip.compress(cut, mtime=0), in_zstd(cut)):
        error = refusal(partial(laid, content))
        assert error is not None or all(".." not in path.split("/") for path in laid(content))


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=300))
def test_no_archive_at_all(content: bytes) -> None:
    for layer in (content, b"\x1f\x8b" + content, b"\x28\xb5\x2f\xfd" + content):
        error = refusal(partial(laid, layer))
        assert error is None or error.reason in ("Malformed", "TooLarge")


_WORDS = (
    "digest",
    "size",
    "auths",
    "auth",
    "credsStore",
    "spec",
    "imageDigestMirrors",
    "source",
    "mirrors",
    "username",
)
_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(_WORDS) | st.text(max_size=4), inner, max_size=4)
    ),
    max_leaves=10,
)


@settings(max_examples=300, deadline=None)
@given(_JSON)
def test_documents_of_any_shape(value: object) -> None:
    content = json.dumps(value).encode()
    for read in (
        lambda: document(content, "x"),
        lambda: Descriptor.of(value, "x"),
        lambda: Credentials.of_config(content),
        lambda: Credentials.of_secrets([{"data": {".dockerconfigjson": value}}]),
    ):
        error = refusal(read)
        assert error is None or error.message


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
@example("a" * 300)
@example("[::1]:5000/a")
def test_a_reference_is_one_or_is_refused(text: str) -> None:
    error = refusal(lambda: Reference.parse(text))
    if error is None:
        assert Reference.parse(str(Reference.parse(text))) == Reference.parse(text)
    else:
        assert error.reason == "Malformed"


@pytest.mark.parametrize("content", [b"", b"[", b"registry = 3", b"[[registry]]\nmirror = 3", b"[registry]\nx = 1"])
def test_a_registries_conf_of_any_shape(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "registries.conf"
    path.write_bytes(content)
    error = refusal(lambda: Mirrors.of_files([path]))
    assert error is None or "registries.conf" in error.message
