"""Secret data never reaches the journal, wherever the Secret hides."""

from __future__ import annotations

import base64
import contextlib
import gzip
import json
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from textwrap import indent
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from eventing.diagnosis.replay import open_capture
from eventing.effects import Effects, Performed
from eventing.journal import JournalIndex, Recorded, Recorder, Run
from eventing.journal.bodies import Bodies
from eventing.journal.encoded import BASE64, LARGEST, LARGEST_YAML
from eventing.journal.outcomes import Decided
from eventing.journal.records import Answer, Decision, unpack_run
from eventing.journal.redact import Redactor, may_hold_secret
from eventing.journal.redacted import holds_stand_in, renamed
from shared import names
from shared.api.manifest import Manifest
from shared.domain.bundle.model import UnpackedBundle
from shared.domain.bundle.payload import load, payload
from shared.kinds import CONFIG_MAP, SECRET, Kind, Ref
from shared.ports import Cluster
from shared.step import Apply, Create, Delete, Merge, Outcome, Replace, SetStatus, Write
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.captures import captured
from tests.kit.cluster import FixedClock
from tests.kit.waiting import costing_at_most

TOKEN = SECRET.ref("token", "olm")
words = st.text(st.characters(codec="utf-8", categories=["L", "N", "P", "S"]), min_size=1, max_size=6)
seeds = st.text("abcdefghijkmnpqrstuvwxyzABCDEFGHJKLMNPQRSTUVWXYZ23456789", min_size=12, max_size=24)


def a_secret(seed: str, field: str, *, names_kind: bool = True) -> Manifest:
    value = base64.b64encode(seed.encode()).decode() if field == "data" else seed
    identity = {"apiVersion": "v1", "kind": "Secret"} if names_kind else {}
    return {**identity, "metadata": {"name": "token", "namespace": "olm"}, field: {"password": value}}


def with_last_applied(secret: Manifest) -> Manifest:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": json.dumps(secret)}
    return {**secret, "metadata": {**secret["metadata"], "annotations": annotations}}


def in_a_plan(secret: Manifest) -> Manifest:
    step = {"resource": {"kind": "Secret", "manifest": json.dumps(secret)}}
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "status": {"plan": [step]}}


def in_a_list(secret: Manifest) -> Manifest:
    return {
        "kind": "SecretList",
        "apiVersion": "v1",
        "metadata": {"name": "x"},
        "items": [{**secret, "kind": None}, secret],
    }


def nested_twice(secret: Manifest) -> Manifest:
    inner = json.dumps({"note": json.dumps(secret)})
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"inner": inner}}


def escaped(secret: Manifest) -> Manifest:
    text = json.dumps(secret).replace("Secret", "\\u0053ecret")
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "data": {"text": text}}


SHAPES = (dict, with_last_applied, in_a_plan, in_a_list, nested_twice, escaped)


class OneAnswer:
    """A Cluster that always gives the same answer."""

    def __init__(self, answer: Manifest) -> None:
        self._answer = answer

    def get(self, ref: Ref) -> Manifest | None:
        return self._answer

    def list(self, kind: Kind, namespace: str = "") -> tuple[Manifest, ...]:
        return (self._answer,)


def record_of(answer: Manifest, write: Write) -> str:
    """A record in which a step reads the answer in three ways, and then writes."""
    recorder, fresh = Recorder(b"key", lambda: 0), dict[str, Any]()
    calls = recorder.calls(fresh)
    cluster = calls.port(Cluster, OneAnswer(answer))
    cluster.get(TOKEN)
    cluster.get(CONFIG_MAP.ref("x", "olm"))
    cluster.list(SECRET, namespace="olm")
    decided = Decided.of(Outcome((write,)))
    performed = Effects(FakeApi([a_secret("none", "data")]), FixedClock()).perform(decided.writes, {}, lambda: True)
    decision = recorder.decision(calls, decided, performed)
    run = Run("run", "demo/step", "v1/Secret/olm/token", 0, 1.0, "0", decisions=[decision])
    return repr(unpack_run(recorder.record(run, fresh))) + "".join(bytes(raw).decode() for raw in fresh.values())


@settings(max_examples=150, deadline=None)
@given(seeds, st.sampled_from(["data", "stringData"]), st.sampled_from(SHAPES), st.sampled_from(SHAPES), st.data())
def test_no_secret_value_is_stored(
    seed: str,
    field: str,
    read: Callable[[Manifest], Manifest],
    written: Callable[[Manifest], Manifest],
    data: st.DataObject,
) -> None:
    secret = a_secret(seed, field)
    patch = a_secret(seed, field, names_kind=False)
    writes: list[Write] = [
        Create(written(secret)),
        Apply(written(secret)),
        Replace(written(secret)),
        Merge(TOKEN, patch),
        SetStatus(CONFIG_MAP.ref("x", "olm"), {"plan": written(secret)}),
    ]
    write = data.draw(st.sampled_from(writes))
    record = record_of(read(secret), write)
    assert seed not in record
    assert base64.b64encode(seed.encode()).decode() not in record
    assert "redacted:" in record or base64.b64encode(b"redacted:")[:10].decode() in record


@pytest.mark.parametrize("ask", [lambda cluster: cluster.get(TOKEN), lambda cluster: cluster.list(SECRET, "olm")])
def test_an_answer_need_not_name_the_kind_secret(ask: Callable[[Any], object]) -> None:
    fresh: dict[str, Any] = {}
    ask(Recorder(b"key").calls(fresh).port(Cluster, OneAnswer(a_secret("hunter2", "stringData", names_kind=False))))
    assert "hunter2" not in repr([bytes(body) for body in fresh.values()])
    assert len(fresh) == 1


@given(st.dictionaries(words, st.one_of(words, st.lists(words), st.none(), st.integers()), max_size=4))
def test_what_is_no_secret_stays_as_it_is(values: dict[str, Any]) -> None:
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "Secret"}, "data": values}
    assert Redactor(b"key").clean(manifest) == manifest


@given(seeds, st.sampled_from(["data", "stringData"]), st.sampled_from(SHAPES))
def test_a_redacted_object_stays_as_it_is(seed: str, field: str, shape: Callable[[Manifest], Manifest]) -> None:
    once = Redactor(b"key").clean(shape(a_secret(seed, field)))
    assert Redactor(b"another key").clean(once) == once


def test_equal_values_have_equal_stand_ins_and_others_do_not() -> None:
    redactor = Redactor(b"key")
    one, same, other = (redactor.clean(a_secret(seed, "data"))["data"]["password"] for seed in ("a", "a", "b"))
    assert one == same != other


def test_a_replaced_value_reveals_nothing_without_the_key() -> None:
    assert Redactor(b"key").stand_in("hunter2") != Redactor(b"other").stand_in("hunter2")


def test_data_of_a_secret_can_still_be_decoded() -> None:
    value = Redactor(b"key").clean(a_secret("x", "data"))["data"]["password"]
    assert base64.b64decode(value, validate=True).startswith(b"redacted:")


def test_keys_of_a_secret_are_kept() -> None:
    assert list(Redactor(b"key").clean(a_secret("x", "data"))["data"]) == ["password"]


MARKER = "hunter2-Kz81xQw-marker"


def yaml_of(_: Manifest) -> str:
    return "apiVersion: v1\nkind: Secret\nmetadata:\n  name: token\nstringData:\n  password: " + MARKER + "\n"


def twice(text: str) -> str:
    return base64.b64encode(base64.b64encode(gzip.compress(text.encode(), mtime=0))).decode()


def a_config_map(**binary: str) -> Manifest:
    return {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "x"}, "binaryData": binary}


def a_subscription(**spec: Any) -> Manifest:
    meta = {"name": "etcd", "namespace": "olm", "annotations": {}}
    return {"apiVersion": "operators.coreos.com/v1alpha1", "kind": "Subscription", "metadata": meta, "spec": spec}


def unpacked(*files: str) -> Manifest:
    """A bundle as our Jobs unpack it."""
    found = payload({f"manifests/{number}.yaml": text.encode() for number, text in enumerate(files)}, "registry/bundle")
    assert isinstance(found, dict)
    return {**a_config_map(**found["binaryData"]), "metadata": {"name": "x", "annotations": found["annotations"]}}


SECRET_OF = a_secret(MARKER, "stringData")
SECRET_IN_YAML = f"kind: Secret\ndata:\n  password: {MARKER}\n"
CONFIG = {"env": [{"name": "HARMLESS", "value": MARKER}, {"name": "FROM", "valueFrom": {"x": "y"}}]}
CSV_YAML = "kind: ClusterServiceVersion\nmetadata: {name: etcd.v1}\nspec: {}\n"
HIDDEN = [
    pytest.param(unpacked(CSV_YAML, yaml_of(SECRET_OF)), id="a YAML manifest of an unpacked bundle"),
    pytest.param(unpacked(json.dumps(SECRET_OF)), id="a JSON manifest of an unpacked bundle"),
    pytest.param(unpacked(json.dumps(SECRET_OF, indent=3)), id="a manifest with other blanks"),
    pytest.param(unpacked(json.dumps(a_secret(MARKER, "data"))), id="one whose data is base64 itself"),
    pytest.param(unpacked(CSV_YAML + "---\n" + yaml_of(SECRET_OF)), id="the second document of a file"),
    pytest.param(a_config_map(a=base64.b64encode(yaml_of(SECRET_OF).encode()).decode()), id="base64 alone"),
    pytest.param({**a_config_map(), "data": {"a": yaml_of(SECRET_OF)}}, id="plain YAML"),
    pytest.param({**a_config_map(), "data": {"a": twice(yaml_of(SECRET_OF))}}, id="packed in a text field"),
    pytest.param(
        {**a_config_map(), "data": {"a": json.dumps([json.dumps([twice(json.dumps(SECRET_OF))])])}}, id="deep"
    ),
    pytest.param(in_a_plan(json.loads(json.dumps(SECRET_OF))), id="a step of an InstallPlan"),
    pytest.param({"status": {"plan": [{"resource": {"manifest": yaml_of(SECRET_OF)}}]}}, id="a step in YAML"),
    pytest.param(a_subscription(config=CONFIG), id="the environment that a Subscription gives"),
    pytest.param(with_last_applied(a_subscription(config=CONFIG)), id="the same, as it was last applied"),
    pytest.param({"spec": {"env": [{"name": "DB_PASSWORD", "value": MARKER}]}}, id="a variable whose name says so"),
    pytest.param({"spec": {"env": [{"value": MARKER, "name": "apiToken"}]}}, id="another, the other way round"),
    *(
        pytest.param({**a_config_map(), "data": {"a": yaml_of(SECRET_OF) + end}}, id=f"YAML that ends with {end!r}")
        for end in ("x: !vault y", "---\n\tbroken", "x: {{ .Values.y }}", "x: &a b\ny: *c", "x: \x00")
    ),
    pytest.param({**a_config_map(), "data": {"a": json.dumps(SECRET_OF)[:-1]}}, id="JSON that was cut"),
    pytest.param({**a_config_map(), "data": {"a": "|\n" + indent(yaml_of(SECRET_OF), "  ")}}, id="text in YAML"),
    pytest.param(a_config_map(a=base64.b64encode(f"{yaml_of(SECRET_OF)}\t".encode()).decode()), id="broken, in base64"),
    pytest.param({"spec": {"image": f"https://user:{MARKER}@registry.example/catalog:v1"}}, id="a password in a URL"),
]


def looks(text: str, depth: int = 0) -> bool:
    """Whether the marker is in a text: as it is, in hexadecimal, or inside base64 and gzip."""
    forms = [MARKER, MARKER.encode().hex()]
    for before in range(3):
        whole = base64.b64encode(b"\0" * before + MARKER.encode()).decode()
        forms.append(whole[4 if before else 0 : -4])
    if any(form in text for form in forms):
        return True
    if depth == 6:
        return False
    for run in re.findall(r"[A-Za-z0-9+/]{16,}={0,2}", text.replace("\\n", " ")):
        try:
            data = base64.b64decode(run + "=" * (-len(run) % 4))
            data = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
        except (ValueError, OSError, EOFError, zlib.error):
            continue
        if looks(data.decode("latin-1"), depth + 1):
            return True
    return False


@pytest.mark.parametrize("hidden", HIDDEN)
def test_a_secret_is_found_wherever_it_hides(hidden: Manifest) -> None:
    recorder, fresh = Recorder(b"key", lambda: 0), dict[str, Any]()
    calls = recorder.calls(fresh)
    calls.port(Cluster, OneAnswer(hidden)).get(CONFIG_MAP.ref("x", "olm"))
    decided = Decided.of(Outcome((Create(hidden) if "kind" in hidden else Delete(TOKEN),)))
    decision = recorder.decision(calls, decided, Performed())
    run = Run("run", "demo/step", "v1/ConfigMap/olm/x", 0, 1.0, "0", decisions=[decision], message=json.dumps(hidden))
    record = recorder.record(run, fresh)
    assert looks(json.dumps(hidden)), "the test itself finds it"
    assert not looks(repr(unpack_run(record)) + "".join(bytes(raw).decode() for raw in fresh.values()))


@pytest.mark.parametrize("hidden", HIDDEN)
def test_what_was_cleaned_stays_as_it_is_and_reports_it(hidden: Manifest) -> None:
    once = Redactor(b"key").clean(hidden)
    assert Redactor(b"another").clean(once) == once
    assert (holds_stand_in(once), holds_stand_in(hidden)) == (True, False)


@pytest.mark.parametrize("hidden", HIDDEN)
def test_stand_ins_get_other_names_wherever_they_are(hidden: Manifest) -> None:
    once, other = (json.dumps(Redactor(key).clean(hidden)).encode() for key in (b"key", b"other"))
    found = renamed(once, key=b"capture")
    assert found == renamed(once, key=b"capture")
    assert (
        len({bytes(each) for each in (once, other, found, renamed(once, key=b"next"), renamed(other, key=b"capture"))})
        == 5
    )
    assert words_in(once).isdisjoint(words_in(found))
    assert len(words_in(once)) == len(words_in(found)) > 0


def words_in(text: bytes) -> set[str]:
    """The stand-ins in a text, and inside base64 and gzip in it."""
    found = set(re.findall(r"redacted:[0-9a-f]{32}", text.decode("latin-1")))
    for run in re.findall(rb"[A-Za-z0-9+/]{16,}={0,2}", text):
        with contextlib.suppress(ValueError, OSError, EOFError, zlib.error):
            data = base64.b64decode(run + b"=" * (-len(run) % 4))
            found |= words_in(gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data)
    return found


def test_what_holds_no_stand_in_is_not_written_otherwise() -> None:
    text = json.dumps(a_config_map(a=twice(yaml_of(SECRET_OF))), indent=3).encode()
    assert renamed(text, key=b"capture") is text


def test_stand_ins_beside_what_is_nested_too_deeply_get_other_names() -> None:
    word = Redactor(b"key").stand_in("hunter2")
    deep = '{"a":' * 5000 + json.dumps(word) + "}" * 5000
    found = renamed(deep.encode(), key=b"capture").decode()
    assert (len(found), word in found) == (len(deep), False)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("kind:Secret,\n data:x", id="no YAML but one line"),
        pytest.param("# kind: Secret\n# data:\n#   a: b", id="comments"),
        pytest.param("kind: SecretStore\ndata: {{ x }}", id="another kind"),
        pytest.param("kind: Secret\nmetadata: {{ x }}", id="a Secret without data"),
    ],
)
def test_text_that_only_speaks_of_secrets_stays_as_it_is(text: str) -> None:
    assert Redactor(b"key").clean({"a": text}) == {"a": text}


def test_an_unpacked_bundle_is_still_one() -> None:
    csv = "apiVersion: operators.coreos.com/v1alpha1\n" + CSV_YAML
    bundle = unpacked(csv, yaml_of(SECRET_OF))
    before, after = (load(each) for each in (bundle, Redactor(b"key").clean(bundle)))
    assert isinstance(before, UnpackedBundle)
    assert isinstance(after, UnpackedBundle)
    assert after.csv == before.csv
    assert [one["metadata"] for one in after.objects] == [one["metadata"] for one in before.objects]


def test_a_bundle_without_secrets_is_kept_byte_for_byte() -> None:
    bundle = unpacked(CSV_YAML, "kind: ConfigMap\nmetadata: {name: a}\ndata: {b: kind}\n")
    assert Redactor(b"key").clean(bundle) == bundle


def test_text_that_grows_without_end_is_replaced_as_a_whole() -> None:
    bomb = a_config_map(a=base64.b64encode(gzip.compress(b" " * (LARGEST + 1))).decode())
    (value,) = Redactor(b"key").clean(bomb)["binaryData"].values()
    assert value.startswith("redacted:")


def a_secret_in_yaml(letters: int) -> str:
    """Text that becomes a stand-in when it is not parsed, and a manifest with stand-ins when it is."""
    return SECRET_IN_YAML + "# " + "x" * (letters - len(SECRET_IN_YAML) - 2)


def test_large_yaml_is_replaced_as_a_whole_without_a_look() -> None:
    redactor = Redactor(b"key")
    small, large = a_secret_in_yaml(LARGEST_YAML), a_secret_in_yaml(LARGEST_YAML + 1)
    assert json.loads(redactor.clean({"a": small})["a"])["kind"] == "Secret", "it was parsed"
    assert redactor.clean({"a": large}) == {"a": redactor.stand_in(large)}


def test_many_texts_of_one_object_may_together_be_as_large_as_one() -> None:
    redactor = Redactor(b"key")
    half, small = a_secret_in_yaml(LARGEST_YAML // 2), a_secret_in_yaml(200)
    cleaned = redactor.clean({"a": [half, half + "x", half, small]})["a"]
    assert cleaned[1::2] == [redactor.stand_in(half + "x"), redactor.stand_in(small)]
    assert cleaned[::2] == [redactor.clean({"a": small})["a"]] * 2, "each object has its own"


def test_compressed_texts_of_one_object_may_together_be_as_large_as_one() -> None:
    packed = base64.b64encode(gzip.compress(b" " * (LARGEST // 2 + 1))).decode()
    cleaned = Redactor(b"key").clean(a_config_map(a=packed, b=packed))["binaryData"]
    assert (cleaned["a"], cleaned["b"].startswith("redacted:")) == (packed, True)


def a_yaml_bomb(layers: int) -> str:
    """A kilobyte of YAML that its aliases make 9^layers values."""
    each = [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 9)}]" for n in range(1, layers)]
    return "\n".join(["kind: Secret", "data:", "  x: y", "a0: &a0 [x]", *each])


@pytest.mark.parametrize(
    "hostile",
    [
        pytest.param(a_yaml_bomb(40), id="aliases of aliases"),
        pytest.param("kind: Secret\ndata: &a [*a]", id="an alias of itself"),
        pytest.param("kind: Secret\ndata: " + "[" * 5000 + "]" * 5000, id="brackets in YAML"),
    ],
)
def test_a_text_that_would_take_for_ever_is_replaced_as_a_whole(hostile: str) -> None:
    cleaned = Redactor(b"key").clean({"metadata": {"annotations": {"a": hostile, "b": "stays"}}})
    assert cleaned["metadata"]["annotations"]["a"].startswith("redacted:")
    assert cleaned["metadata"]["annotations"]["b"] == "stays"
    assert not holds_stand_in({"a": hostile})


TYPED = [
    pytest.param("x: !!bool foo", id="no truth value"),
    pytest.param("x: !!int ''", id="a number without digits"),
    pytest.param("x: !!timestamp foo", id="no time"),
    pytest.param("x: 1" + ":59" * 1000 + ".5", id="a number that has no floating point"),
    pytest.param("x: 0x" + "f" * 5000, id="a number that is not printed"),
    pytest.param("? !!binary aGk=\n: x", id="a key of bytes"),
    pytest.param(f"stringData: {{a: {{1: x, b: {MARKER}}}}}", id="keys of several types"),
    pytest.param(f"stringData: {{a: 0x{'f' * 5000}, b: {MARKER}}}", id="a secret number that is not printed"),
]
"""Lines of YAML whose values a parser of types, or an encoder of JSON, does not take."""


@pytest.mark.parametrize("line", TYPED)
def test_whatever_the_types_in_yaml_are_a_step_reads_and_writes_it(line: str) -> None:
    hostile = {"metadata": {"annotations": {"a": SECRET_IN_YAML + line, "b": "stays"}}}
    record = record_of(hostile, Merge(CONFIG_MAP.ref("x", "olm"), hostile))
    assert "stays" in record
    assert not looks(record)
    assert not holds_stand_in(hostile)


def test_a_value_that_json_has_no_word_for_has_a_stand_in() -> None:
    redactor, large = Redactor(b"key"), 1 << 20_000
    assert redactor.clean({"kind": "Secret", "stringData": large})["stringData"] == redactor.stand_in(large)
    assert redactor.stand_in({1: "x", "b": "y"}).startswith("redacted:")


def test_brackets_in_json_take_no_time_and_are_replaced() -> None:
    hostile = '{"kind": "Secret", "data": ' + "[" * 900 + "]" * 900 + "}"
    cleaned = Redactor(b"key").clean({"metadata": {"annotations": {"a": hostile, "b": "stays"}}})
    kept = json.loads(cleaned["metadata"]["annotations"]["a"])
    assert base64.b64decode(kept["data"]).startswith(b"redacted:")
    assert cleaned["metadata"]["annotations"]["b"] == "stays"


@pytest.mark.parametrize("others", [1 << 70, "\ud800", float("nan")], ids=["a large number", "half a letter", "NaN"])
def test_a_part_that_json_has_no_word_for_is_looked_at(others: object) -> None:
    text = json.dumps({"kind": "List", "items": [{"kind": "Secret", "stringData": {"a": MARKER}, "beside": others}]})
    assert MARKER not in json.dumps(Redactor(b"key").clean({"a": text}))


@pytest.mark.parametrize("between", ["\x01", "\x7f", "%01"], ids=repr)
def test_a_password_in_a_url_with_any_letter(between: str) -> None:
    url = f"postgres://user:{MARKER}{between}@host/db"
    others = {"name": "TOKEN", "value": "x"}
    stored = Bodies(Redactor(b"key"), lambda: 0).raw({"metadata": {"annotations": {"a": url}}, "env": [others]})
    assert MARKER.encode() not in stored


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(
            b'{"value":1,"name":"' + b"secre" * 200_000 + b'"}', id="a name that nearly tells, again and again"
        ),
        pytest.param(b'{"value":1,"name":"' + b"secret" * 200_000, id="a name that tells, without an end"),
        pytest.param(b'"value' + b"\\" * 1_000_000, id="backslashes"),
        pytest.param(b'"value' + b'"name\\' * 200_000, id="names without a colon"),
        pytest.param(b'"value' + b'"name":"' * 200_000, id="names of nothing"),
        pytest.param(b"@" + b"://a:" * 200_000, id="addresses without an end"),
        pytest.param(b"Secret" + b"kind" * 200_000 + b" " * 200_000, id="kinds of nothing"),
    ],
)
def test_hostile_text_is_looked_at_in_linear_time(text: bytes) -> None:
    with costing_at_most(30, "what is quadratic takes a quarter of an hour"):
        may_hold_secret(text)


@pytest.mark.parametrize(
    "text",
    [
        pytest.param("U2VjcmV0" + "A" * 16 + " " * 400_000 + "!", id="nearly base64, with blanks"),
        pytest.param("U2VjcmV0" * 50_000 + "=" * 400_000 + "!", id="nearly base64, with ends"),
        pytest.param(SECRET_IN_YAML + "x: 1" + ":1" * 260_000, id="a number in base 60"),
        pytest.param(SECRET_IN_YAML + "<<: {}\n" * 20_000, id="merged keys"),
        pytest.param(SECRET_IN_YAML + "kind: " * 80_000, id="kinds of nothing"),
        pytest.param("://" + ":" * 400_000 + "Secret", id="an address without an end"),
    ],
)
def test_hostile_text_is_cleaned_in_linear_time(text: str) -> None:
    with costing_at_most(10, "what is quadratic takes minutes"):
        Redactor(b"key").clean({"metadata": {"annotations": {"a": text}}})


@given(st.text("Aa+/ \n=!", max_size=40))
def test_base64_is_recognized_as_if_every_division_were_tried(text: str) -> None:
    assert bool(BASE64.fullmatch(text)) == bool(re.fullmatch(r"[A-Za-z0-9+/\s]{16,}={0,2}\s*", text))


def test_a_variable_is_found_wherever_its_name_is() -> None:
    variable = {"name": "DB_PASSWORD", "note": "x", "value": MARKER}
    assert MARKER.encode() not in Bodies(Redactor(b"key"), lambda: 0).raw({"env": [variable]})


def test_aliases_of_an_ordinary_manifest_are_followed() -> None:
    text = f"kind: Secret\nmetadata: &m {{name: a}}\nother: *m\nstringData: {{password: {MARKER}}}\n"
    cleaned = json.loads(Redactor(b"key").clean({"a": text})["a"])
    assert cleaned["other"] == {"name": "a"}
    assert cleaned["stringData"]["password"].startswith("redacted:")


def test_an_object_that_is_nested_too_deeply_is_replaced_as_a_whole() -> None:
    value: Any = a_secret(MARKER, "stringData")
    for _ in range(500):
        value = {"a": value}
    kept = Bodies(Redactor(b"key"), lambda: 0).raw(value)
    assert kept.startswith(b'"redacted:')


@pytest.mark.parametrize("value", [MARKER, "0"])
def test_what_a_subscription_gives_is_replaced_in_its_deployment(value: str) -> None:
    bodies = Bodies(Redactor(b"key"), lambda: 0)
    env = [{"name": "HARMLESS", "value": value}]
    container = {"name": "one", "env": [*env, {"name": "OTHER", "value": "plain"}, {"name": "ANOTHER", "value": "0"}]}
    deployment = {"kind": "Deployment", "spec": {"template": {"spec": {"containers": [container]}}}}
    bodies.raw(a_subscription(config={"env": env}))
    kept = json.loads(bodies.raw(deployment))["spec"]["template"]["spec"]["containers"][0]["env"]
    assert [one["value"][:9] for one in kept] == ["redacted:", "plain", "0"]


def test_a_capture_knows_what_its_subscriptions_give(tmp_path: Path) -> None:
    container = {"name": "one", "env": [{"name": "HARMLESS", "value": MARKER}]}
    deployment = {
        "apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "one", "namespace": "olm"},
        "spec": {"template": {"spec": {"containers": [container]}}},
    }  # fmt: skip
    answer = Answer("Cluster", "get", ["apps/v1/Deployment/olm/one"], body="d1")
    run = Run("run-1", "a/step", "apps/v1/Deployment/olm/one", 1, 1.0, "0", decisions=[Decision([answer], "outcome")])
    index = JournalIndex.of([Recorded(run, {"d1": msgspec.Raw(json.dumps(deployment).encode())})])
    captured(index, file := tmp_path / "capture.tar", [a_subscription(config=CONFIG), deployment])
    assert not looks(file.read_bytes().decode("latin-1"))
    assert len(open_capture(file).objects) == 2


@pytest.mark.parametrize("pack", [lambda text: text, lambda text: gzip.compress(text, mtime=0)], ids=["plain", "gzip"])
def test_objects_of_a_revision_are_kept_without_their_secrets(pack: Callable[[bytes], bytes]) -> None:
    def locked(value: object) -> str:
        return base64.b64encode(pack(json.dumps(value).encode())).decode()

    settings = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"size": "1"}}
    data = {
        "a": locked(settings),
        "b": locked(a_secret("hunter2", "data")),
        "c": locked("hunter2"),
        "d": "hunter2",
        "e": None,
    }
    meta = {"name": "etcd-1-0", "namespace": "olm"}
    packed = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "type": names.V1_OBJECT_DATA, "data": data}
    cleaned = Redactor(b"key").clean(packed)["data"]
    assert cleaned["a"] == data["a"], "a replay unpacks the same bytes"
    assert "hunter2" not in repr({key: opened_wholly(text) for key, text in cleaned.items()})
    assert json.loads(opened_wholly(cleaned["b"]))["kind"] == "Secret"
    for key in ("c", "d"):
        assert opened_wholly(cleaned[key]).startswith("redacted:")
    assert isinstance(Redactor(b"key").clean({**packed, "data": "hunter2"})["data"], str)
    assert Redactor(b"key").clean({**packed, "data": None})["data"] is None


def opened_wholly(text: Any) -> str:
    if text is None:
        return ""
    content = base64.b64decode(text)
    return (gzip.decompress(content) if content.startswith(b"\x1f\x8b") else content).decode()
