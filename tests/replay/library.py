"""The library of captures of real runs; `python -m tests.replay.library sandbox|real [NAME…]` records them anew.

Each is what an installation received and decided during one test of `tests/conformance/lifecycle`.
"""

from __future__ import annotations

import subprocess
import sys
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from types import MappingProxyType

from eventing.diagnosis.replay import open_capture, replay

FOLDER = Path(__file__).with_name("captures")
LIFECYCLE = Path(__file__).parents[1] / "conformance" / "lifecycle"
MOST_BYTES = 128 * 1024
"""Of one capture."""
MOST_BYTES_OF_ALL = 2 * 1024 * 1024

SANDBOX: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "test_install": (
        "an_automatic_install", "an_operator_with_a_definition_and_a_service", "a_manual_plan_waits_for_its_approval",
        "an_upgrade_follows_the_channel_to_its_head", "an_uninstall_removes_what_olm_removes",
        "a_deleted_csv_is_not_reinstalled_and_the_subscription_reports_it",
        "a_subscription_to_nothing_reports_what_is_missing", "a_good_subscription_beside_a_broken_one_is_installed",
        "two_operator_groups_stop_the_namespace_with_a_sentence", "an_unsupported_install_mode_is_named",
        "a_global_operator_is_copied_to_other_namespaces", "a_deleted_deployment_comes_back",
        "subscription_config_reaches_the_deployment_in_one_rollout",
    ),
    "test_scoped": (
        "a_plan_waits_for_each_right_of_its_account", "an_account_that_loses_its_permissions_in_the_middle_of_a_plan",
        "an_account_that_comes_and_goes",
    ),
    "test_extensions": (
        "an_extension_is_installed", "an_extension_is_upgraded", "what_an_extension_has_comes_back",
        "an_extension_takes_nothing_of_others", "an_extension_outlives_its_catalog", "nothing_of_an_extension_is_left",
    ),
    "test_object_sets": ("a_kind_that_is_defined_later_is_waited_for", "an_object_that_no_cluster_takes_is_reported"),
    "test_plans": (
        "nobody_but_an_approver_gets_a_plan_executed",
        "a_failed_plan_is_an_upgrade_that_failed_where_the_group_fails_forward",
        "a_failed_version_is_replaced_once_the_group_fails_forward",
        "a_plan_made_by_hand_copies_a_pull_secret_and_reports_warnings",
        "a_catalog_image_follows_the_version_of_the_api_server",
    ),
    "test_ownership": ("the_roles_of_an_api_go_with_its_definition", "what_two_versions_own_goes_with_the_second"),
    "test_tenants": (
        "a_required_api_wakes_the_version_when_it_comes_and_goes",
        "roles_go_while_another_server_serves_the_api_group", "a_claim_to_secrets_makes_nobody_read_them",
    ),
    "test_config_maps": (
        "an_operator_of_a_config_map_is_installed_and_updated", "a_config_map_that_comes_late_or_again",
        "a_config_map_that_is_no_catalog",
    ),
    "test_cluster_catalogs": (
        "a_cluster_catalog_is_served", "an_unavailable_cluster_catalog_is_not_served",
        "a_deleted_cluster_catalog_is_not_served", "an_image_that_is_not_there_is_tried_again",
    ),
    "test_isolation": ("nobody_connects_to_the_pods_that_unpack",),
    "test_operators": ("an_installed_package_is_an_operator_that_comes_back",),
    "test_blocking_webhooks": ("a_webhook_that_holds_an_operator_up_is_named_until_it_goes_Deployments",),
    "test_openshift": ("the_proxy_of_the_cluster_reaches_operators",),
    "test_serving_operators": (
        "no_call_fails_during_an_upgrade", "what_was_harmed_is_repaired_the_Secret_is_deleted",
        "what_was_harmed_is_repaired_the_conversion_has_another_CA",
    ),
    "test_webhooks": ("what_leads_to_an_operator_goes_with_it",),
    "test_faults": ("redis_forgets_everything_in_mid_flow", "plans_are_deleted_at_any_time"),
})  # fmt: skip
REAL: Mapping[str, tuple[str, ...]] = MappingProxyType({
    "test_install": (
        "an_automatic_install", "a_manual_plan_waits_for_its_approval", "an_upgrade_follows_the_channel_to_its_head",
        "an_uninstall_removes_what_olm_removes", "a_deleted_deployment_comes_back",
        "a_global_operator_is_copied_to_other_namespaces",
    ),
    "test_scoped": (
        "a_plan_waits_for_each_right_of_its_account", "an_account_that_loses_its_permissions_in_the_middle_of_a_plan",
    ),
    "test_extensions": ("an_extension_is_upgraded", "nothing_of_an_extension_is_left"),
    "test_object_sets": ("a_kind_that_is_defined_later_is_waited_for",),
    "test_config_maps": ("a_config_map_that_comes_late_or_again",),
    "test_isolation": ("nobody_connects_to_the_pods_that_unpack",),
    "test_plans": ("nobody_but_an_approver_gets_a_plan_executed",),
})  # fmt: skip
TARGETS: Mapping[str, Mapping[str, tuple[str, ...]]] = MappingProxyType({"sandbox": SANDBOX, "real": REAL})
"""By target: the names of captures, by the module of their tests."""


def paths() -> dict[Path, str]:
    """The file of each capture, and its target."""
    return {
        FOLDER / target / f"{name}.tar.xz": target
        for target, modules in TARGETS.items()
        for names in modules.values()
        for name in names
    }


def record(target: str, only: tuple[str, ...] = ()) -> int:
    """Run the tests, and keep their captures where all went well; returns the exit code."""
    desired = {name: module for module, names in TARGETS[target].items() for name in names if name in only or not only}
    files = [str(LIFECYCLE / f"{module}.py") for module in dict.fromkeys(desired.values())]
    marks = "conformance" if target == "real" else "not conformance"
    with TemporaryDirectory(prefix="captures-") as folder:
        options = ["-p", "tests.replay.recording", "--captures", folder, "--named", ",".join(desired), "-m", marks]
        if code := subprocess.run([sys.executable, "-m", "pytest", *options, *files], check=False).returncode:
            return code
        for name in desired:
            found, place = Path(folder, f"{name}.tar.xz"), FOLDER / target / f"{name}.tar.xz"
            if (report := replay(found)).exit_code:
                sys.stderr.write(f"{name}: {report.count('different')} decisions differ at once: not kept\n")
                return 1
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(found.read_bytes())
    (FOLDER / "README.md").write_text("".join(f"{line}\n" for line in table()))
    return 0


def table() -> Iterator[str]:
    """The README of the captures: what each is of, and how much."""
    yield "# Captures of real runs"
    yield ""
    yield "Written by `python -m tests.replay.library`; [what they are for](../README.md)."
    yield ""
    yield "| capture | target | events | runs | decisions | steps | bytes |"
    yield "|---|---|---|---|---|---|---|"
    for path, target in sorted(paths().items(), key=lambda each: (each[0].stem, each[1])):
        index = open_capture(path).index
        decisions = Counter(run.step for run in index.runs.values() for _ in run.decisions)
        counts = (len(index.events), len(index.runs), decisions.total(), len(decisions), path.stat().st_size)
        name = path.name.partition(".")[0].replace("_", " ")
        yield f"| {name} | {target} | {' | '.join(map(str, counts))} |"


if __name__ == "__main__":
    sys.exit(record(sys.argv[1], tuple(sys.argv[2:])))
