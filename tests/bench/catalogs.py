"""What judging a real catalog costs, and reading YAML. Needs the community catalog for the first."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import orjson
import yaml

from shared.adapters.judging import judge
from shared.domain.go import yaml as goyaml
from tests.bench.row import Row
from tests.bench.timing import ROUNDS, best, of_children

COMMUNITY: Final = Path(__file__).parents[3] / "data" / "community" / "community"
"""331 packages, 194 MB: `../shared/data/community-catalog.tar.zst`, unpacked to `../data/community`."""
BUNDLES: Final = COMMUNITY.parents[1] / "bundles"
"""70 raw bundles: `../shared/data/bundles.tar.zst`, unpacked to `../data/bundles`."""
_MANIFESTS: Final = 200


def rows() -> Iterable[Row]:
    """Every row of this page; only those whose data is here."""
    if COMMUNITY.is_dir():
        files = sorted(COMMUNITY.rglob("*.json"))
        size = sum(file.stat().st_size for file in files) / 2**20
        parse = best(lambda: _parse(files))
        both = [_judged() for _ in range(ROUNDS)]
        yield Row(
            "judging the community catalog on two processors, against orjson", min(map(max, both)) / parse, 2.5, "times"
        )
        yield Row("peak memory of the two processes that judge it", _peak_megabytes(), 1.5 * size, "MB")
    else:
        sys.stdout.write(f"{COMMUNITY} is not here: no rows about judging a real catalog\n")
    if BUNDLES.is_dir():
        texts = _readable(sorted(BUNDLES.rglob("*.yaml"))[:_MANIFESTS])
        ours = best(lambda: [goyaml.load_value(text) for text in texts])
        theirs = best(lambda: [yaml.load(text, Loader=yaml.CSafeLoader) for text in texts])
        yield Row("YAML of real bundles, quicker than PyYAML's C loader", theirs / ours, 2, "times", is_at_least=True)
    else:
        sys.stdout.write(f"{BUNDLES} is not here: no row about reading YAML\n")


def _judged() -> tuple[float, float]:
    """The processor seconds of each of the two processes that judge the catalog."""
    before = time.process_time(), of_children()
    result = judge(str(COMMUNITY))
    assert result.is_valid, result.text()
    return time.process_time() - before[0], of_children() - before[1]


def _parse(files: list[Path]) -> None:
    """Read the files and parse their objects, which begin on lines of their own."""
    for file in files:
        content, start = file.read_bytes(), 0
        view = memoryview(content)
        while (end := content.find(b"\n}\n{", start)) >= 0:
            orjson.loads(view[start : end + 2])
            start = end + 2
        orjson.loads(view[start:])


_MEMORY: Final = """
import resource, sys
from shared.adapters.judging import judge
assert judge(sys.argv[1]).is_valid
print(sum(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024)
"""


def _peak_megabytes() -> float:
    """Of both processes together."""
    command = [sys.executable, "-c", _MEMORY, str(COMMUNITY)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def _readable(files: list[Path]) -> list[bytes]:
    """The manifests that PyYAML can read, too."""
    texts = []
    for file in files:
        text = file.read_bytes()
        try:
            yaml.load(text, Loader=yaml.CSafeLoader)
        except yaml.YAMLError:
            continue
        texts.append(text)
    return texts
