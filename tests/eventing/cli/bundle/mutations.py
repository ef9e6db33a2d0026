"""Broken bundles: each is made from a sound one by a number, so that it can be made again."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any

import orjson

from shared.domain.bundle.model import Files
from tests.domain.authoring.validation.world import a_csv, a_rule, an_object, files, installing, modes, with_permissions

LIMIT = 12
VALUES: tuple[Any, ...] = (
    None, True, 0, -1, 2**40, 2**70, 0.5, "", "x", "1.0.0", "olm.package", "é\u2028<", "\ud800", "a" * 300, [], {},
    [None], [{}], {"a": {"b": ["c"]}}, "ClusterServiceVersion", "CustomResourceDefinition", "Secret",
    [[[[[[]]]]]],
)  # fmt: skip
JUNK: tuple[bytes, ...] = (
    b"\xff\xfe", b"\x00", b"---\n", b": ", b"{", b"[", b"&a [*a]", b"!!binary ", b"- ", b"\t", b"<<: ", b"\n...\n",
    b"*b", b"'", b'"', b"%YAML 1.2\n", b"? ", b"\r", b"#", b"a: &a [x,x]\nb: [*a,*a,*a]\n", b"[" * 400, b'{"a":' * 400,
)  # fmt: skip


def broken(seed: int) -> Files:
    """The bundle of a number."""
    rng = random.Random(seed)
    made = dict(_sound(rng))
    for _ in range(rng.randint(1, 3)):
        path = rng.choice(sorted(made))
        made[path] = rng.choice((_restructured, _restructured, _scrambled))(made[path], rng)
        if rng.random() < 0.05:
            made[rng.choice(("manifests/.x", "manifests/a/b.yaml", "metadata/z.yaml", "Dockerfile"))] = made[path]
        if rng.random() < 0.05 and len(made) > 1:
            del made[path]
    return made


def _sound(rng: random.Random) -> Files:
    dependencies = [
        {"type": "olm.package", "value": {"packageName": "milk", "version": ">=1.0.0"}},
        {"type": "olm.gvk", "value": {"group": "milk.io", "version": "v1", "kind": "Jug"}},
        {"type": "olm.constraint", "value": {"all": {"constraints": [{"cel": {"rule": "true"}}]}}},
    ]
    csv = a_csv(
        {"olm.properties": '[{"type": "x", "value": 1}]', "categories": "Database"},
        install=with_permissions(a_rule("", "pods", "get"), side="permissions"),
        relatedImages=[{"name": "a", "image": "quay.io/a/b:1"}],
        webhookdefinitions=[{"generateName": "a", "type": "ConversionWebhook", "conversionCRDs": ["pots.tea.io"]}],
        installModes=modes("AllNamespaces"),
        icon=[{"base64data": "eA==", "mediatype": "image/png"}],
        maintainers=[{"name": "a", "email": "a@b.c"}],
    )
    others = {
        "pdb": an_object("PodDisruptionBudget", spec={"maxUnavailable": 1}),
        "role": an_object("Role", rules=[a_rule("policy", "poddisruptionbudgets", "get")]),
        "metadata__dependencies": {"dependencies": dependencies},
        "metadata__properties": {"properties": [{"type": "olm.maxOpenShiftVersion", "value": "4.9"}]},
    }
    return files(csv=csv if rng.random() < 0.9 else a_csv(install=installing()), **others)


def _restructured(content: bytes, rng: random.Random) -> bytes:
    """One value somewhere in the document is another, gone, or further down."""
    try:
        document = orjson.loads(content)
    except orjson.JSONDecodeError:
        return _scrambled(content, rng)
    holders = _holders(document)
    if not holders:
        return content
    holder, key = rng.choice(holders)
    change: Callable[[Any], Any] = rng.choice(
        (
            lambda _: rng.choice(VALUES),
            lambda _: rng.choice(VALUES),
            lambda old: [old] * 2,
            lambda old: _deep(old, rng),
        )
    )
    if rng.random() < 0.2:
        del holder[key]
    else:
        holder[key] = change(holder[key])
    return json.dumps(document).encode()


def _deep(value: Any, rng: random.Random) -> Any:
    for _ in range(rng.choice((3, 100, 190, 250))):
        value = {"a": value} if rng.random() < 0.5 else [value]
    return value


def _holders(value: Any) -> list[tuple[Any, Any]]:
    if isinstance(value, dict):
        return [pair for key in value for pair in ((value, key), *_holders(value[key]))]
    if isinstance(value, list):
        return [pair for index in range(len(value)) for pair in ((value, index), *_holders(value[index]))]
    return []


def _scrambled(content: bytes, rng: random.Random) -> bytes:
    at, to = sorted((rng.randint(0, len(content)), rng.randint(0, len(content))))
    return rng.choice(
        (
            content[:at],
            content[:at] + rng.choice(JUNK) + content[at:],
            content[:at] + content[to:],
            content + content[at:to] * 3,
            content[:at] + bytes(rng.randrange(256) for _ in range(4)) + content[at + 4 :],
        )
    )
