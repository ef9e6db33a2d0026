"""Writes are performed in order, the first failure stops them, and what would change nothing is not sent."""

from __future__ import annotations

from datetime import timedelta
from itertools import count

import pytest

from eventing.effects import SLICE, Effects, Performed
from eventing.effects.notes import event_ref
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, uid_of
from shared.kinds import CONFIG_MAP, EVENT, SUBSCRIPTION, Ref
from shared.step import Apply, Create, Delete, Merge, Record, Replace, SetStatus, Try, Write
from tests.eventing.effects.fake_api import FakeApi
from tests.kit.cluster import FixedClock

SUB = SUBSCRIPTION.ref("etcd", "olm")


def a_map(name: str = "one", **data: str) -> Manifest:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "namespace": "olm"},
        "data": data or {"key": "value"},
    }


def a_subscription(**status: str) -> Manifest:
    sub = {
        "apiVersion": SUB.api_version,
        "kind": SUB.kind,
        "metadata": {"name": "etcd", "namespace": "olm"},
        "spec": {"name": "etcd"},
    }
    return {**sub, "status": status} if status else sub


def perform(api: FakeApi, *writes: Write, read: tuple[Ref, ...] = ()) -> Performed:
    reads = {ref: api.get(ref) for ref in read}
    api.calls.clear()
    return Effects(api, FixedClock()).perform(writes, reads, lambda: True)


def version(api: FakeApi, ref: Ref) -> str:
    return str(api.objects[ref]["metadata"]["resourceVersion"])


MAP = Ref.of(a_map())


def test_writes_go_out_in_order_and_the_answers_are_kept() -> None:
    api = FakeApi()
    done = perform(api, Create(a_map("one")), Create(a_map("two")))
    assert api.calls == ["create one", "create two"]
    assert [(written.did, written.resource_version) for written in done.written] == [("sent", "101"), ("sent", "102")]


@pytest.mark.parametrize(
    ("must_be_new", "did"),
    [
        pytest.param(False, "exists", id="an object that came meanwhile counts as done"),
        pytest.param(True, "refused", id="one that must be new is a conflict"),
    ],
)
def test_what_came_meanwhile(must_be_new: bool, did: str) -> None:
    done = perform(FakeApi([a_map()]), Create(a_map(), must_be_new=must_be_new))
    assert [written.did for written in done.written] == [did]
    assert (done.failure.kind if done.failure else "") == ("conflict" if must_be_new else "")


def test_what_we_have_made_ourselves_is_no_conflict() -> None:
    done = perform(FakeApi(), *[Create(a_map(), must_be_new=True)] * 2)
    assert [written.did for written in done.written] == ["sent", "same"]


def test_what_is_known_is_a_conflict_where_it_must_be_new() -> None:
    done = perform(FakeApi([a_map()]), Create(a_map(), must_be_new=True), read=(MAP,))
    assert done.failure is not None
    assert (done.failure.kind, done.failure.ref) == ("conflict", MAP)


def test_the_first_failure_stops_the_rest() -> None:
    api = FakeApi()
    api.refuse("create", "two", ApiError(403, "Forbidden", "no"))
    done = perform(api, *(Create(a_map(name)) for name in ("one", "two", "three")))
    assert done.failure is not None
    assert (done.failure.kind, done.failure.index, done.failure.ref.name) == ("forbidden", 1, "two")
    assert api.calls == ["create one", "create two"]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (0, "unavailable"),
        (400, "invalid"),
        (401, "unavailable"),
        (403, "forbidden"),
        (404, "gone"),
        (409, "conflict"),
        (410, "gone"),
        (422, "invalid"),
        (429, "unavailable"),
        (500, "unavailable"),
        (503, "unavailable"),
        (504, "unavailable"),
    ],
)
def test_refusals_are_typed_by_their_status(status: int, kind: str) -> None:
    assert refusal(status, "said so") == (kind, "said so")


def test_a_webhook_that_does_not_answer_is_distinguished() -> None:
    message = 'Internal error occurred: failed calling webhook "a.example.com": no endpoints available for service "a"'
    assert refusal(500, message) == ("unanswered", message)
    assert refusal(403, f'admission webhook "b.example.com" denied the request: {message}')[0] == "forbidden"


def refusal(status: int, message: str) -> tuple[str, str]:
    api = FakeApi()
    api.refuse("apply", "one", ApiError(status, "Any", message))
    failure = perform(api, Apply(a_map())).failure
    assert failure is not None
    return failure.kind, failure.message


@pytest.mark.parametrize(
    "writes",
    [
        pytest.param((Create(a_map()),), id="a Create of what was read as present"),
        pytest.param((Apply(a_map()),), id="an Apply of what is there"),
        pytest.param((Merge(MAP, {"data": {"key": "value", "absent": None}}),), id="a Merge that changes nothing"),
        pytest.param((Replace(a_map()),), id="a Replace by the same"),
        pytest.param((SetStatus(SUB, {"state": "AtLatestKnown"}, "102"),), id="the status that was read"),
        pytest.param((Delete(CONFIG_MAP.ref("none", "olm")),), id="a Delete of what was read as absent"),
    ],
)
def test_a_write_equal_to_what_was_read_is_not_sent(writes: tuple[Write, ...]) -> None:
    api = FakeApi([a_map(), a_subscription(state="AtLatestKnown")])
    if isinstance(writes[0], Replace):
        writes = (Replace({**api.objects[MAP]}),)
    done = perform(api, *writes, read=(MAP, SUB, CONFIG_MAP.ref("none", "olm")))
    assert done.failure is None
    assert api.calls == []


@pytest.mark.parametrize(
    ("write", "call"),
    [
        pytest.param(Apply(a_map(key="other")), "apply one", id="an Apply of another value"),
        pytest.param(Merge(MAP, {"data": {"key": None}}), "merge one", id="a Merge that removes a key"),
        pytest.param(SetStatus(SUB, {"state": "New"}, "102"), "replace_status etcd", id="another status"),
        pytest.param(SetStatus(SUB, {}, "102"), "replace_status etcd", id="a status with a field less"),
        pytest.param(Delete(MAP), "delete one", id="a Delete of what is there"),
    ],
)
def test_a_write_that_changes_something_is_sent(write: Write, call: str) -> None:
    api = FakeApi([a_map(), a_subscription(state="Old")])
    assert perform(api, write, read=(MAP, SUB)).failure is None
    assert api.calls == [call]


def test_an_empty_list_is_what_the_server_calls_null() -> None:
    role = {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "Role",
        "metadata": {"name": "one", "namespace": "olm"},
    }
    api = FakeApi([{**role, "rules": None}])
    perform(api, Apply({**role, "rules": []}), read=(Ref.of(role),))
    assert api.calls == []


def test_an_apply_is_sent_when_a_field_of_ours_is_given_up() -> None:
    owned: Manifest = {"f:data": {"f:key": {}, "f:former": {}}}
    entry = {"manager": "olmf", "operation": "Apply", "fieldsV1": owned}
    there = a_map(key="value", former="still here")
    there["metadata"]["managedFields"] = [entry]
    api = FakeApi([there])
    perform(api, Apply(a_map()), read=(MAP,))
    assert api.calls == ["apply one"]


def test_a_create_that_meets_an_object_of_its_name_is_done() -> None:
    api = FakeApi([a_map(key="older")])
    done = perform(api, Create(a_map()), Create(a_map("two")))
    assert [written.did for written in done.written] == ["exists", "sent"]
    assert api.objects[MAP]["data"] == {"key": "older"}


@pytest.mark.parametrize("uid", ["", "uid-of-another"])
def test_a_delete_of_what_is_not_there_is_done(uid: str) -> None:
    api = FakeApi([a_map()] if uid else [])
    done = perform(api, Delete(MAP, uid=uid))
    assert [written.did for written in done.written] == ["absent"]
    assert (MAP in api.objects) == bool(uid)


def test_what_is_being_deleted_is_not_deleted_again() -> None:
    """A finalizer may keep it for ever, and each DELETE would count towards the limit of a run."""
    going = [a_map(f"m{number}") for number in range(SLICE + 1)]
    for one in going:
        one["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z"
    api = FakeApi(going)
    refs = tuple(map(Ref.of, going))
    done = perform(api, *map(Delete, refs), Create(a_map("last")), read=refs)
    assert [written.did for written in done.written] == ["same"] * len(refs) + ["sent"]
    assert (done.is_complete, api.calls) == (True, ["create last"])


@pytest.mark.parametrize("uid", ["", "of-the-object"])
def test_another_conflict_of_a_delete_is_one(uid: str) -> None:
    """As the API server answers a delete that loses a race, or that its store cannot carry out."""
    api = FakeApi([a_map()])
    api.refuse("delete", "one", ApiError(409, "Conflict", "the object has been modified; please apply your changes"))
    done = perform(api, Delete(MAP, uid=uid))
    assert [written.did for written in done.written] == ["refused"]
    assert done.failure is not None
    assert done.failure.kind == "conflict"


def test_what_changed_since_it_was_read_is_not_deleted() -> None:
    api = FakeApi([a_map()])
    read = version(api, MAP)
    api.merge(MAP, {"data": {"key": "changed"}})
    done = perform(api, Delete(MAP, uid=uid_of(api.objects[MAP]), resource_version=read))
    assert done.failure is not None
    assert (done.failure.kind, MAP in api.objects) == ("conflict", True)
    assert perform(api, Delete(MAP, resource_version=version(api, MAP))).is_complete
    assert MAP not in api.objects


def test_a_status_is_put_with_the_version_that_the_step_read() -> None:
    api = FakeApi([a_subscription()])
    stale = api.get(SUB)
    api.merge(SUB, {"spec": {"channel": "alpha"}})
    done = Effects(api, FixedClock()).perform([SetStatus(SUB, {"state": "x"}, "101")], {SUB: stale}, lambda: True)
    assert done.failure is not None
    assert done.failure.kind == "conflict"
    assert "status" not in api.objects[SUB]


def test_a_status_after_the_create_of_its_object_is_merged() -> None:
    api = FakeApi()
    perform(api, Create(a_subscription()), SetStatus(SUB, {"state": "New"}), read=(SUB,))
    assert api.calls == ["create etcd", "merge status etcd"]
    assert api.objects[SUB]["status"] == {"state": "New"}


def test_a_status_without_version_never_overwrites_that_of_somebody_else() -> None:
    api = FakeApi([a_subscription(state="AtLatestKnown")])
    done = perform(api, Create(a_subscription()), SetStatus(SUB, {"state": "New"}))
    assert done.failure is not None
    assert (done.failure.kind, done.failure.index) == ("conflict", 1)
    assert api.objects[SUB]["status"] == {"state": "AtLatestKnown"}


def test_a_status_follows_a_locked_write_of_the_same_run() -> None:
    api = FakeApi([a_subscription()])
    read = version(api, SUB)
    locked = Merge(SUB, {"metadata": {"labels": {"a": "b"}}}, resource_version=read)
    assert perform(api, locked, SetStatus(SUB, {"state": "New"}, read), read=(SUB,)).failure is None
    assert api.objects[SUB]["status"] == {"state": "New"}
    assert api.objects[SUB]["metadata"]["labels"] == {"a": "b"}


def test_a_lost_lease_stops_before_the_next_write() -> None:
    api = FakeApi()
    answers = iter((True, False))
    writes = (Create(a_map("one")), Create(a_map("two")))
    done = Effects(api, FixedClock()).perform(writes, {}, lambda: next(answers))
    assert done.is_lost
    assert api.calls == ["create one"]


def test_many_writes_go_in_slices_and_each_run_does_the_next() -> None:
    api = FakeApi()
    writes = [(Create if index % 2 else Apply)(a_map(f"map-{index}")) for index in range(2 * SLICE + 7)]
    runs = count()
    while next(runs) < 10 and perform(api, *writes).is_partial:
        assert len([call for call in api.calls if call.startswith(("create", "apply"))]) <= 2 * SLICE + 7
    assert len(api.objects) == 2 * SLICE + 7
    assert next(runs) <= 4


def test_a_run_that_is_over_leaves_the_rest_to_the_next_one() -> None:
    api = FakeApi([a_map("read")])
    writes = (Create(a_map("one")), Create(a_map("two")))
    reads = {Ref.of(a_map(name)): None for name in ("one", "two")}
    done = Effects(api, FixedClock()).perform(writes, reads, lambda: True, lambda: True)
    assert (done.is_partial, api.calls) == (True, ["create one"])


@pytest.mark.parametrize("write", [Apply(a_map("one")), Merge(MAP, {"data": {"key": "value"}})], ids=["apply", "merge"])
def test_a_run_does_not_rest_behind_a_write_that_the_next_one_would_send_again(write: Write) -> None:
    """It would never come to the end."""
    api = FakeApi([a_map()])
    done = Effects(api, FixedClock()).perform((write, Create(a_map("two"))), {}, lambda: True, lambda: True)
    assert done.is_complete


def test_an_owner_without_uid_is_looked_up_once() -> None:
    api = FakeApi([a_subscription()])
    owner = {"apiVersion": SUB.api_version, "kind": SUB.kind, "name": "etcd"}
    owned = [{**a_map(name), "metadata": {**a_map(name)["metadata"], "ownerReferences": [owner]}} for name in "ab"]
    assert perform(api, *map(Apply, owned)).failure is None
    assert api.calls == ["get etcd", "apply a", "apply b"]
    assert api.objects[CONFIG_MAP.ref("a", "olm")]["metadata"]["ownerReferences"] == [{**owner, "uid": "uid-101"}]
    assert "uid" not in owner


def test_an_owner_that_does_not_exist_refuses_the_write() -> None:
    owned = a_map()
    owned["metadata"]["ownerReferences"] = [{"apiVersion": "v1", "kind": "ConfigMap", "name": "none"}]
    failure = perform(FakeApi(), Apply(owned)).failure
    assert failure is not None
    assert failure.kind == "gone"
    assert "v1/ConfigMap/olm/none" in failure.message


def test_equal_records_within_an_hour_are_counted() -> None:
    """csv.md 0, 14.4: Events come from OLM's component."""
    api = FakeApi([a_subscription()])
    record = Record(SUB, "Warning", "NoOperatorGroup", "there is no OperatorGroup in olm")
    start = FixedClock().now()
    for minutes in (0, 10, 59, 200):
        Effects(api, FixedClock(start + timedelta(minutes=minutes))).perform([record], {}, lambda: True)
    (event,) = [manifest for ref, manifest in api.objects.items() if ref.kind == EVENT.kind]
    assert (event["source"], event["reportingComponent"]) == (
        {"component": "operator-lifecycle-manager"},
        "olm-functions",
    )
    assert event["involvedObject"]["name"] == "etcd"
    assert (event["count"], event["lastTimestamp"]) == (1, "2026-01-01T03:20:00Z")
    assert [call.split()[0] for call in api.calls] == ["create", *3 * ["create", "get", "merge"]]


def test_a_record_is_counted_up_within_the_hour() -> None:
    api = FakeApi()
    record = Record(SUB, "Normal", "Any", "any")
    for _ in range(3):
        Effects(api, FixedClock()).perform([record], {}, lambda: True)
    (event,) = api.objects.values()
    assert event["count"] == 3


def test_a_refused_record_stops_nothing() -> None:
    api = FakeApi()
    record = Record(SUB, "Normal", "Any", "any")
    Effects(api, FixedClock()).perform([record], {}, lambda: True)
    (event,) = api.objects
    api.objects.clear()
    api.refuse("create", event.name, ApiError(403, "Forbidden", "the namespace is being terminated"))
    done = perform(api, record, Create(a_map()))
    assert [written.did for written in done.written] == ["refused", "sent"]


def a_record(number: int) -> Record:
    return Record(SUB, "Warning", "CRDValidation", f"warning {number}")


def events(api: FakeApi) -> set[str]:
    return {manifest["message"] for ref, manifest in api.objects.items() if ref.kind == EVENT.kind}


def test_records_come_last_and_do_not_count() -> None:
    api = FakeApi([a_subscription()])
    records = [a_record(number) for number in range(SLICE + 5)]
    done = perform(api, *records, SetStatus(SUB, {"state": "New"}, version(api, SUB)), read=(SUB,))
    assert done.is_complete
    assert [written.did for written in done.written] == ["sent"] * (SLICE + 6)
    assert api.calls[0] == "replace_status etcd"
    assert len(events(api)) == SLICE + 5


def test_records_are_not_lost_where_a_status_silences_the_next_run() -> None:
    subscriptions = [
        {**a_subscription(), "metadata": {"name": f"sub-{number}", "namespace": "olm"}} for number in range(SLICE + 3)
    ]
    api = FakeApi(subscriptions)
    refs = [Ref.of(one) for one in subscriptions]
    statuses = [SetStatus(ref, {"state": "New"}, version(api, ref)) for ref in refs]
    first = perform(api, *statuses, a_record(1), read=tuple(refs))
    assert first.is_partial
    assert perform(api, *statuses[SLICE:], read=tuple(refs)).is_complete
    assert events(api) == {"warning 1"}


def test_a_record_behind_a_refused_write_is_not_made() -> None:
    api = FakeApi()
    api.refuse("create", "two", ApiError(409, "Conflict", "no"))
    done = perform(api, Create(a_map("one")), a_record(1), Create(a_map("two")), a_record(2))
    assert [written.did for written in done.written] == ["sent", "sent", "refused"]
    assert events(api) == {"warning 1"}


def test_no_record_is_made_without_the_lease() -> None:
    api = FakeApi()
    answers = iter((True, False))
    done = Effects(api, FixedClock()).perform([a_record(1), Create(a_map())], {}, lambda: next(answers))
    assert done.is_lost
    assert [written.did for written in done.written] == ["", "sent"]
    assert events(api) == set()


def a_note(message: str = "warning(s) generated") -> Record:
    return Record(SUB, "Warning", "AppliedWithWarnings", message, "status.plan[0]")


@pytest.mark.parametrize("write", [Create(a_map("two"), a_note()), Replace(a_map("one", key="new"), a_note())])
def test_what_the_server_warns_about_is_reported(write: Write) -> None:
    """catalog.md 4.5.4: an Event that counts the warnings and names the part of the object."""
    api = FakeApi([a_map()])
    api.warned = dict.fromkeys(("one", "two"), ("a is old", "b is going"))
    done = perform(api, write)
    (event,) = [manifest for ref, manifest in api.objects.items() if ref.kind == EVENT.kind]
    assert event["message"] == "2 warning(s) generated: a is old, b is going"
    assert event["involvedObject"]["fieldPath"] == "status.plan[0]"
    assert [written.did for written in done.written] == ["sent"]
    assert done.warned == 1, "catalog.md 6: each step is counted once, however many warnings it has"


@pytest.mark.parametrize(
    "write",
    [
        pytest.param(Create(a_map(), a_note()), id="nothing was sent"),
        pytest.param(Create(a_map("two"), a_note()), id="no warning"),
        pytest.param(Create(a_map("three")), id="nobody wants to know"),
    ],
)
def test_otherwise_nothing_is_reported(write: Write) -> None:
    api = FakeApi([a_map()])
    api.warned = {"one": ("a",), "three": ("a",)}
    assert perform(api, write, read=(MAP,)).warned == 0
    assert [ref for ref in api.objects if ref.kind == EVENT.kind] == []


def test_warnings_that_cannot_be_written_stop_nothing() -> None:
    api = FakeApi()
    api.warned = {"one": ("a",)}
    record = Record(SUB, "Warning", "AppliedWithWarnings", "1 warning(s) generated: a")
    api.refuse("create", event_ref(record).name, ApiError(403, "Forbidden", "full"))
    done = perform(api, Create(a_map(), a_note()), Create(a_map("two")))
    assert [(written.did, written.message) for written in done.written] == [
        ("sent", "its warnings could not be written: Forbidden (403): full"), ("sent", ""),
    ]  # fmt: skip
    assert done.warned == 1


def test_every_write_of_a_batch_is_tried_and_what_stands_behind_it_is_not() -> None:
    api = FakeApi()
    for name in ("one", "two"):
        api.refuse("create", name, ApiError(403, "Forbidden", f"not {name}"))
    batch = [Create(a_map(name), batch=1) for name in ("one", "two", "three")]
    done = perform(api, *batch, Create(a_map("four"), batch=2))
    assert api.calls == ["create one", "create two", "create three"]
    assert done.failure is not None
    assert [(one.message, one.batch) for one in (done.failure, *done.others)] == [("not one", 1), ("not two", 1)]
    assert [written.did for written in done.written] == ["refused", "refused", "sent"]


def test_a_server_that_serves_nobody_ends_a_batch() -> None:
    api = FakeApi()
    api.refuse("create", "one", ApiError(429, "TooManyRequests", "later"))
    perform(api, *[Create(a_map(name), batch=1) for name in ("one", "two")])
    assert api.calls == ["create one"]


@pytest.mark.parametrize(("seconds", "tried"), [
    pytest.param(0, 4, id="webhooks whose servers refuse a connection"),
    pytest.param(3, 2, id="short timeouts"),
    pytest.param(30, 1, id="the longest that a webhook may have"),
])  # fmt: skip
def test_a_run_does_not_wait_for_one_webhook_after_the_other(seconds: int, tried: int) -> None:
    class Clock(FixedClock):
        def wait(self) -> None:
            self._now += timedelta(seconds=seconds)

    class Hanging(FakeApi):
        def create(self, manifest: Manifest, *, field_manager: str = "") -> Manifest:
            clock.wait()
            raise ApiError(500, "InternalError", f'failed calling webhook "a": {manifest["metadata"]["name"]}')

    clock = Clock()
    batch = [Create(a_map(name), batch=1) for name in ("one", "two", "three", "four")]
    done = Effects(Hanging(), clock).perform(batch, {}, lambda: True)
    assert [(one.kind, one.ref.name) for one in (done.failure, *done.others) if one] == [
        ("unanswered", name) for name in ("one", "two", "three", "four")[:tried]
    ]


def test_a_refusal_counts_more_than_a_conflict_of_the_same_batch() -> None:
    api = FakeApi([a_map("one")])
    api.refuse("create", "two", ApiError(403, "Forbidden", "no"))
    done = perform(api, *[Create(a_map(name), must_be_new=True, batch=1) for name in ("one", "two")])
    assert (done.failure.kind if done.failure else "", [one.kind for one in done.others]) == ("forbidden", ["conflict"])


def test_a_trial_stores_nothing_and_is_refused_like_the_write() -> None:
    api = FakeApi()
    done = perform(api, Try(a_map("one")), Create(a_map("one")))
    assert api.calls == ["try_out one", "create one"]
    assert [written.did for written in done.written] == ["tried", "sent"]
    api.refuse("try_out", "two", ApiError(422, "Invalid", "no"))
    assert perform(api, Try(a_map("two"), batch=-1), Create(a_map("two"), batch=1)).failure is not None
    assert api.calls == ["try_out two"]


def test_a_trial_follows_a_write_of_this_run_to_the_object() -> None:
    api = FakeApi([a_map()])
    read = version(api, MAP)
    manifest = {**a_map(key="new"), "metadata": {**a_map()["metadata"], "resourceVersion": read}}
    done = perform(api, Merge(MAP, {"data": {"other": "x"}}, read), Try(manifest), read=(MAP,))
    assert [written.did for written in done.written] == ["sent", "tried"]
    assert perform(api, Try(manifest)).failure is not None, "nobody but this run may have changed it"


def test_an_apply_follows_a_write_of_this_run_to_the_object() -> None:
    api = FakeApi([a_map()])
    read = version(api, MAP)
    manifest = {**a_map(key="new"), "metadata": {**a_map()["metadata"], "resourceVersion": read}}
    done = perform(api, Merge(MAP, {"data": {"other": "x"}}, read), Apply(manifest), read=(MAP,))
    assert done.failure is None
    assert [written.did for written in done.written] == ["sent", "sent"]
