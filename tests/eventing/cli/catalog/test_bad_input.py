"""Issue 4 §5: whatever a verb is given, it ends with a sentence and an exit code, never with a traceback."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kit import many_verbs
from tests.kit.fbc import a_bundle, a_channel, a_package, written
from tests.kit.verbs import olmf

_SOUND = written(a_package(), a_channel(), a_bundle())
_DEEP = b'{"schema": "olm.bundle", "name": "a", "package": "foo", "properties": [{"type": "x", "value": %s1%s}]}'
_BOMB = "schema: x\na: &a [x, x]\n" + "".join(
    f"{b}: &{b} [{f'*{a}, ' * 9}]\n" for a, b in zip("abcdefgh", "bcdefghi", strict=True)
)
_NOT_UTF8 = os.fsdecode(b"\xff-folder")
INPUTS = {
    "truncated": _SOUND[:-20],
    "no_text": bytes(range(256)) * 9,
    "not_utf8": _SOUND.replace(b"quay", b"\xff\xfe"),
    "brackets": b"[" * 100_000,
    "deep_json": _DEEP % (b'{"a":' * 50_000, b"}" * 50_000),
    "deep_yaml": b"schema: x\na: " + b"[" * 5000 + b"]" * 5000,
    "bomb": _BOMB.encode(),
    "cycle": b"schema: x\na: &a\n  b: *a\n",
    "twice": b'{"schema": "olm.package", "schema": "olm.channel", "name": "a", "name": "b"}',
    "huge_number": b'{"schema": "olm.channel", "package": "foo", "name": "a", "entries": [{"name": %s}]}'
    % (b"9" * 9000),
    "no_pair": b'{"schema": "x", "name": "\\ud800"}',
    "wrong_types": b'{"schema": 1}{"schema": "olm.package", "name": []}{"schema": "olm.channel", "entries": {"a": 1}}',
    "no_objects": b"[1, 2]",
}
VERBS = [
    "validate PATH", "validate PATH -o opm", "render PATH", "render PATH -o yaml --migrate", "list packages PATH",
    "list bundles PATH foo", "head PATH foo", "graph PATH", "lint PATH", "diff PATH PATH", "cache fill PATH",
    "migrate PATH NEW", "build PATH -t oci:NEW:1", "template basic FILE", "template semver FILE",
    "template substitutes FILE", "template convert basic PATH",
]  # fmt: skip


def folders(root: Path) -> Iterator[Path]:
    for name, content in INPUTS.items():
        (root / name).mkdir(parents=True)
        (root / name / ("c.yaml" if content[:1] != b"{" else "c.json")).write_bytes(content)
        yield root / name
    for name in ("loop", "pipe", "far", _NOT_UTF8):
        (root / name).mkdir()
        (root / name / "c.json").write_bytes(_SOUND)
        yield root / name
    (root / "loop" / "self").symlink_to("self")
    os.mkfifo(root / "pipe" / "p")
    root.joinpath("far", *["d"] * 300).mkdir(parents=True)
    yield root / "absent"


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_ends_with_a_sentence(verb: str, tmp_path: Path) -> None:
    commands = []
    for number, folder in enumerate(folders(tmp_path / "in")):
        file = next(folder.glob("c.*"), folder)
        arguments = {"PATH": str(folder), "FILE": str(file), "NEW": str(tmp_path / f"new{number}")}
        commands.append(
            ["catalog", *(arguments.get(word, word.replace("NEW", arguments["NEW"])) for word in verb.split())]
        )
    environ = os.environ | {"OLMF_CONTENT": str(tmp_path / "content")}
    done = olmf(environ=environ, stdin=json.dumps(commands), seconds=300, program=many_verbs.__name__)
    ends = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(ends) == len(commands), done.stderr
    assert [end for end in ends if end[1] not in (0, 1, 2, 3)] == []
