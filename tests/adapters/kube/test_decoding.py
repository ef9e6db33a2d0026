"""Answers of an API server are decoded within the memory of a run, whatever their size."""

from __future__ import annotations

import subprocess
import sys

import orjson
import pytest

from shared.adapters.kube.decoding import LARGE_BYTES, decoded

LONG = "x" * LARGE_BYTES
IN_LITTLE_MEMORY = """
import resource
from shared.adapters.kube.decoding import LARGE_BYTES, decoded

small, large = (b'["%s"]' % (b"x" * count) for count in (LARGE_BYTES - 4, 8 * LARGE_BYTES))
taken = next(int(line.split()[1]) * 1024 for line in open("/proc/self/status") if line.startswith("VmData"))
resource.setrlimit(resource.RLIMIT_DATA, (taken + {more} * LARGE_BYTES,) * 2)
try:
    print(len(decoded({which})[0]))
except MemoryError:
    print("no memory")
"""


@pytest.mark.parametrize(
    "value",
    [
        pytest.param({"items": [1, 2.5, None, True, "é\n"]}, id="small"),
        pytest.param({"items": [1, 2.5, None, True, "é\n"], "text": LONG}, id="large"),
    ],
)
def test_every_size_is_decoded_the_same(value: object) -> None:
    assert decoded(orjson.dumps(value)) == value


@pytest.mark.parametrize(
    ("data", "said"),
    [
        pytest.param(b'{"a": ', "unexpected end of data", id="cut"),
        pytest.param(b'{"a": "' + LONG.encode(), "Unterminated string", id="large, cut"),
        pytest.param(b'["' + LONG.encode() + b'", NaN]', "NaN is no JSON", id="large, with what JavaScript has"),
        pytest.param(b'["' + LONG.encode() + b'", \xff]', "can't decode byte 0xff", id="large, not UTF-8"),
        pytest.param(b"[" * LARGE_BYTES * 2, "nested too deep", id="nested too deep"),
    ],
)
def test_what_is_no_json_is_told(data: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        decoded(data)


@pytest.mark.parametrize(
    ("which", "more", "printed"),
    [
        pytest.param("large", 40, str(8 * LARGE_BYTES), id="a large text in five times its size"),
        pytest.param("small", 4, "no memory", id="a lack of memory is no fault of the text"),
    ],
)
def test_in_little_memory(which: str, more: int, printed: str) -> None:
    script = IN_LITTLE_MEMORY.format(which=which, more=more)
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (done.stdout.strip(), done.stderr) == (printed, "")
