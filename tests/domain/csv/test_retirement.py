import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv, OperatorGroup
from shared.domain.csv import retirement
from shared.domain.csv.phases import status_of
from shared.domain.csv.transition import Transition
from shared.kinds import CLUSTER_SERVICE_VERSION
from tests.domain.csv.builders import NOW, a_csv, a_group, a_status

FORWARD = a_group(upgradeStrategy="TechPreviewUnsafeFailForward")


def in_phase(name: str, phase: str, replaces: str = "", reason: str = "") -> Manifest:
    return a_csv(name, replaces=replaces, status=a_status(phase, reason))


def begun(csv: Manifest, namespace_csvs: list[Manifest], group: Manifest) -> Transition | None:
    return retirement.begin(Csv(csv), Csv.each(namespace_csvs), [OperatorGroup(group)], status_of(Csv(csv), NOW))


SECOND = in_phase("v2", "Pending", "v1")


@pytest.mark.parametrize(
    ("csv", "namespace_csvs", "group", "want"),
    [
        pytest.param(
            in_phase("v1", "Succeeded"), [SECOND], a_group(), "being replaced by csv: v2", id="csv.md 18 row 50"
        ),
        pytest.param(in_phase("v1", "Succeeded"), [], a_group(), None, id="csv.md 18 row 283: no successor"),
        pytest.param(in_phase("v1", "Failed"), [SECOND], a_group(), None, id="csv.md 18 row 54: default strategy"),
        pytest.param(
            in_phase("v1", "Failed"), [SECOND], FORWARD,
            "Fail Forward is enabled, allowing Failed csv to be replaced by csv: v2", id="csv.md 18 row 54: forward",
        ),
        pytest.param(
            in_phase("v2", "Failed", "v1"), [in_phase("v1", "Replacing"), in_phase("v3", "Pending", "v2")], FORWARD,
            "Fail Forward is enabled, allowing Failed csv to be replaced by csv: v3", id="csv.md 18 row 55: the middle",
        ),
        pytest.param(in_phase("v1", "Pending"), [SECOND], FORWARD, None, id="csv.md 4.2: not from Pending"),
    ],
)  # fmt: skip
def test_begin(csv: Manifest, namespace_csvs: list[Manifest], group: Manifest, want: str | None) -> None:
    found = begun(csv, namespace_csvs, group)
    if want is None:
        assert found is None
        return
    assert found
    assert (found.status.phase, found.status.reason, found.status.message) == ("Replacing", "BeingReplaced", want)
    assert len(found.enqueues) == 1


def test_another_namespace_s_group_does_not_fail_forward() -> None:
    elsewhere = {**FORWARD, "metadata": {**FORWARD["metadata"], "namespace": "other"}}
    assert begun(in_phase("v1", "Failed"), [SECOND], elsewhere) is None


@pytest.mark.parametrize(
    ("csv", "group", "want"),
    [
        pytest.param(in_phase("v1", "Failed", reason="InstallComponentFailed"), FORWARD, ["v1"], id="csv.md 4.6-1"),
        pytest.param(in_phase("v1", "Failed"), a_group(), [], id="csv.md 4.6-1: default strategy"),
        pytest.param(in_phase("v1", "Pending"), FORWARD, [], id="csv.md 4.2: not from Pending"),
        pytest.param(in_phase("v0", "Failed"), FORWARD, [], id="csv.md 4.6-1: no successor"),
        pytest.param(
            in_phase("v1", "Failed", reason="UnsupportedOperatorGroup"), FORWARD, [], id="csv.md 3.2-6 comes first"
        ),
        pytest.param(
            in_phase("v1", "Failed", reason="InstallComponentFailedNoRetry"), FORWARD, [], id="csv.md 3.2-0 comes first"
        ),
    ],
)
def test_whom_a_change_of_the_group_releases(csv: Manifest, group: Manifest, want: list[str]) -> None:
    assert [one.name for one in retirement.released(OperatorGroup(group), Csv.each((csv, SECOND)))] == want


def finished(csv: Manifest, *namespace_csvs: Manifest) -> Transition:
    return retirement.finish(Csv(csv), Csv.each((csv, *namespace_csvs)), status_of(Csv(csv), NOW))


OVER = ("Deleting", "Replaced", "has been replaced by a newer ClusterServiceVersion that has successfully installed.")


@pytest.mark.parametrize(
    ("csv", "namespace_csvs"),
    [
        pytest.param(
            in_phase("v1", "Replacing"), [in_phase("v2", "Succeeded", "v1")], id="csv.md 18 row 51: it succeeded"
        ),
        pytest.param(
            in_phase("v1", "Replacing"), [in_phase("v2", "Replacing", "v1"), in_phase("v3", "Succeeded", "v2")],
            id="csv.md 18 row 52 and 19-9: the end of the chain succeeded",
        ),
        pytest.param(
            in_phase("v1", "Replacing"), [in_phase("v2", "Succeeded", "v1"), in_phase("v3", "Pending", "v2")],
            id="csv.md 4.7-4: the next one succeeded before it is replaced itself",
        ),
        pytest.param(
            in_phase("v2", "Replacing", "v1"), [in_phase("v3", "Succeeded", "v2")],
            id="csv.md 18 row 53: the oldest is gone",
        ),
    ],
)  # fmt: skip
def test_it_may_go(csv: Manifest, namespace_csvs: list[Manifest]) -> None:
    status = finished(csv, *namespace_csvs).status
    assert (status.phase, status.reason, status.message) == OVER


@pytest.mark.parametrize(
    ("csv", "namespace_csvs", "waits_for"),
    [
        pytest.param(
            in_phase("v2", "Replacing", "v1"), [in_phase("v1", "Deleting"), in_phase("v3", "Succeeded", "v2")],
            "v1 to be deleted first", id="csv.md 4.7-1 and 18 row 53: only the oldest goes",
        ),
        pytest.param(
            in_phase("v1", "Replacing"), [in_phase("v2", "Installing", "v1")], "v2 to succeed", id="csv.md 4.7-5"
        ),
        pytest.param(
            in_phase("v1", "Replacing", "v1"), [],
            "marked as replacement, but no replacement CSV found in cluster", id="csv.md 18 row 56: it replaces itself",
        ),
        pytest.param(
            in_phase("v1", "Replacing"), [], "marked as replacement, but no replacement CSV found in cluster",
            id="csv.md 4.7-3: nothing follows",
        ),
    ],
)  # fmt: skip
def test_it_waits_without_writing(csv: Manifest, namespace_csvs: list[Manifest], waits_for: str) -> None:
    found = finished(csv, *namespace_csvs)
    assert found.waits_for == waits_for
    assert found.status.manifest == csv["status"]
    assert found.enqueues == ()


def test_a_successor_that_is_held_back_asks_again_csv_md_11_4() -> None:
    found = finished(in_phase("v1", "Replacing"), in_phase("v2", "Pending", "v1"))
    assert found.enqueues == (CLUSTER_SERVICE_VERSION.ref("v2", "ns"),)


def test_deleting_stays_deleting_csv_md_4_8() -> None:
    csv = in_phase("v1", "Deleting", reason="Replaced")
    assert finished(csv).status.manifest == csv["status"]


def test_who_waits_for_a_version() -> None:
    chain = [in_phase("v1", "Replacing"), in_phase("v2", "Succeeded", "v1"), in_phase("v3", "Pending", "v2")]

    def refs(*names: str) -> tuple[object, ...]:
        return tuple(CLUSTER_SERVICE_VERSION.ref(name, "ns") for name in names)

    assert retirement.related(Csv(chain[1]), Csv.each(chain)) == refs("v1", "v3")
    assert retirement.related(Csv(chain[0]), Csv.each(chain)) == refs("v2")
    assert retirement.left_behind(CLUSTER_SERVICE_VERSION.ref("v1", "ns"), Csv.each(chain[1:])) == refs("v2")
