import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv
from shared.domain.csv.blockage import Blockage, blockage
from tests.domain.csv.builders import a_csv, a_status

OWNED = {
    "kind": "ServiceAccount",
    "name": "sa",
    "status": "PresentNotSatisfied",
    "message": "Service account is owned by another ClusterServiceVersion",
}
TAKEN = {**a_status("Pending", "RequirementsNotMet", "no"), "requirementStatus": [OWNED]}
REFUSED = a_status("Failed", "InstallComponentFailed", "install strategy failed:\n  the selector does not match")
WAITING = a_status("Pending", "InstallWaiting", "waiting for v1")
FORWARD = ", or with `upgradeStrategy: TechPreviewUnsafeFailForward` in OperatorGroup og"


def after_deleting(*names: str, sooner: str = "") -> str:
    return f"; the upgrade goes on when that changes{sooner}, or after `kubectl -n ns delete csv {' '.join(names)}`"


def found(*statuses: Manifest, **more: object) -> Blockage | None:
    """What v<n> waits for, above v1, v2, … in these states."""
    csvs = [
        a_csv(f"v{number}", replaces=f"v{number - 1}", status=status, **more)
        for number, status in enumerate((*statuses, WAITING), start=1)
    ]
    return blockage(Csv(csvs[-1]), Csv.each(csvs))


@pytest.mark.parametrize(
    ("statuses", "root", "sentence"),
    [
        pytest.param(
            (TAKEN, WAITING), "v1",
            f"v1 is Pending (ServiceAccount sa: {OWNED['message']}){after_deleting('v1')}",
            id="csv.md 4.2-9, 5.6: a version below the predecessor lacks an account",
        ),
        pytest.param(
            (REFUSED,), "v1",
            "v1 is Failed (install strategy failed: the selector does not match)"
            f"{after_deleting('v1', sooner=FORWARD)}",
            id="csv.md 4.2-9, 4.6-1: the predecessor failed",
        ),
        pytest.param(
            (a_status("Replacing"), REFUSED, WAITING), "v2",
            "v2 is Failed (install strategy failed: the selector does not match)"
            f"{after_deleting('v2', 'v1', sooner=FORWARD)}",
            id="csv.md 4.7-3: what is being replaced goes with the version that replaces it",
        ),
        pytest.param(
            (a_status("Failed", "InstallComponentFailedNoRetry", "no"),), "v1",
            f"v1 is Failed (no){after_deleting('v1')}", id="csv.md 3.2-0: fail-forward does not help",
        ),
        pytest.param(
            (a_status("Installing", "InstallWaiting", "installing"), WAITING), "v1", "v1 is Installing (installing)",
            id="csv.md 4.4: it goes on by itself",
        ),
        pytest.param(
            (a_status("Replacing"), a_status("Pending", "OperatorConditionNotUpgradeable", "busy")), "v2",
            "v2 is Pending (busy)", id="csv.md 11.4: the operator holds it back",
        ),
        pytest.param(({},), "v1", "v1 is new", id="csv.md 4.1: it has no phase yet"),
    ],
)  # fmt: skip
def test_the_root_of_the_chain_is_named_with_what_helps(
    statuses: tuple[Manifest, ...], root: str, sentence: str
) -> None:
    blocked = found(*statuses)
    assert blocked
    assert (blocked.root, blocked.message) == (root, sentence)


@pytest.mark.parametrize("phase", ["Succeeded", "Replacing", "Deleting"])
def test_a_version_that_gives_way_blocks_nobody(phase: str) -> None:
    """csv.md 4.5-1, 4.7."""
    assert found(a_status(phase)) is None


def test_a_predecessor_that_is_a_copy_is_named_with_its_namespace_and_never_to_be_deleted() -> None:
    """csv.md 10: it would come back."""
    copy = a_csv("v1", status=a_status("Succeeded", "Copied"), meta={"labels": {"olm.copiedFrom": "x"}})
    sentence = (
        "v1 is a copy of what namespace x installed, and is replaced only there; delete v2, or leave namespace ns out "
        "of the OperatorGroup of x"
    )
    assert blockage(Csv(a_csv("v2", replaces="v1")), [Csv(copy)]) == Blockage("v1", sentence)


def test_a_copy_below_the_predecessor_does_not_matter() -> None:
    copy = a_csv("v1", status=REFUSED, meta={"labels": {"olm.copiedFrom": "x"}})
    middle = a_csv("v2", replaces="v1", status=a_status("Installing", "InstallWaiting", "installing"))
    assert blockage(Csv(a_csv("v3", replaces="v2")), [Csv(copy), Csv(middle)]) == Blockage(
        "v2", "v2 is Installing (installing)"
    )


def test_nothing_is_below_a_version_that_replaces_nothing() -> None:
    """csv.md 18 row 57."""
    assert found() is None


def test_a_group_that_is_not_known_is_not_named() -> None:
    """csv.md 3.3: the version is no member of a group yet."""
    blocked = found(REFUSED, annotations={})
    assert blocked
    assert blocked.message.endswith("`kubectl -n ns delete csv v1`")


def test_a_long_message_is_shortened() -> None:
    blocked = found(a_status("Failed", "InstallComponentFailed", "word " * 100))
    assert blocked
    assert " word …)" in blocked.message
    assert len(blocked.message) < 500
