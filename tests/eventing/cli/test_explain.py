"""`resolve`, `explain`, `upgrades` and `versions` over files: tables, sentences, and exit codes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.explain import lines
from eventing.cli.failure import NEGATIVE, UNKNOWN, USAGE, CliError
from eventing.cli.main import app
from eventing.cli.resolve import resolved
from eventing.cli.status_text import is_failing
from eventing.diagnosis.status.package_status import Code as StatusCode
from eventing.diagnosis.status.package_status import PackageStatus
from shared.domain.command import Fix
from shared.domain.command import olmf as command
from shared.domain.resolver.explain.choices import Choice, Passed
from shared.domain.resolver.explain.findings import Fact, Finding
from shared.domain.resolver.explain.findings import Fix as ResolverFix
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog
from shared.domain.resolver.reasons import Code
from shared.domain.resolver.resolve import resolve
from shared.kinds import SUBSCRIPTION
from tests.domain.resolver.scenery import (
    DEPRECATED,
    Blob,
    csv,
    entry,
    gives,
    needs,
    package,
    releases,
    seen,
    sub,
)
from tests.domain.resolver.scenery import catalog as catalog_of
from tests.kit.fbc import a_bundle, a_channel, a_package, an_entry, written

NEWER = package("a", [entry("a.v3", "a.v2"), entry("a.v2", "a.v1"), entry("a.v1")], v3=[DEPRECATED])


@pytest.fixture(autouse=True)
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is kept of catalogs goes to a folder of the test."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))


@pytest.fixture
def catalog(tmp_path: Path) -> str:
    """A folder with the packages a and b."""
    blobs = [*NEWER, *releases("b", 1, v1=[needs("K")])]
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "catalog.yaml").write_text(yaml.safe_dump_all(blobs))
    return str(tmp_path / "cat")


def folder(tmp_path: Path, *objects: Blob) -> str:
    """A folder with the manifests, kinds filled in."""
    place = tmp_path / "objects"
    place.mkdir()
    kinds = [{"kind": "Subscription" if "source" in one["spec"] else "ClusterServiceVersion", **one} for one in objects]
    (place / "all.yaml").write_text(yaml.safe_dump_all(kinds))
    return str(place)


def olmf(*words: str) -> Result:
    return CliRunner().invoke(app, list(words))


def failure(*words: str) -> CliError:
    """How the verb ends."""
    error = olmf(*words).exception
    assert isinstance(error, CliError)
    return error


def test_what_would_be_upgraded_is_a_table(tmp_path: Path, catalog: str) -> None:
    there = folder(tmp_path, sub("a", installed="a.v1"), csv("a.v1"))
    words = ("resolve", "-n", "ns", "--catalog", catalog, "--from", there)
    found = olmf(*words)
    assert found.exit_code == 0
    why = "a.v2 from channel stable of catalog ns/cat in place of a.v1"
    assert " ".join(found.stdout.splitlines()[1].split()) == f"a a.v1 a.v2 {why}"
    assert " ".join(olmf(*words, "--diff").stdout.splitlines()[1].split()) == f"a.v1 a.v2 a {why}"


def test_a_diff_has_what_changes_and_reports_why_the_rest_is_refused(tmp_path: Path, catalog: str) -> None:
    there = folder(tmp_path, sub("a", installed="a.v2"), csv("a.v2"), sub("c"))
    found = olmf("resolve", "-n", "ns", "--catalog", catalog, "--from", there, "--diff", "-o", "json")
    assert found.exit_code == NEGATIVE
    [row] = json.loads(found.stdout)
    assert (row["-"], row["+"], row["subscription"]) == ("", "", "c")
    assert "no operators found in package c" in row["why"]


def test_a_dependency_that_is_new_takes_the_place_of_nothing(tmp_path: Path, catalog: str) -> None:
    blobs = [*releases("a", 1, v1=[needs("K")]), *releases("b", 2, v2=[gives("K")])]
    Path(catalog, "catalog.yaml").write_text(yaml.safe_dump_all(blobs))
    there = folder(tmp_path, sub("a"))
    found = olmf("resolve", "-n", "ns", "--catalog", catalog, "--from", there, "--diff", "-o", "json")
    assert [(one["-"], one["+"]) for one in json.loads(found.stdout)] == [("", "a.v1"), ("", "b.v2")]


def test_what_is_unsatisfiable_or_takes_an_edit_ends_with_one(tmp_path: Path, catalog: str) -> None:
    there = folder(tmp_path, sub("a"), sub("b"))
    found = olmf("resolve", "-n", "ns", "--catalog", f"ns/cat={catalog}", "--from", there, "-o", "json")
    assert found.exit_code == NEGATIVE
    assert [(one["subscription"], one["gets"]) for one in json.loads(found.stdout)] == [("a", "a.v2"), ("b", "")]
    group = {"kind": "OperatorGroup", "metadata": {"name": "og"}, "spec": {}}
    Path(there, "groups.yaml").write_text(yaml.safe_dump_all([group, group]))
    for verb in ("resolve", "explain", "plan"):
        assert olmf(verb, "-n", "ns", "--catalog", catalog, "--from", there).exit_code == NEGATIVE


def test_a_resolution_without_a_result_as_things_are_ends_with_three() -> None:
    key = CatalogKey("ns", "cat")
    inputs = seen(catalog_of(), subs=[sub("a")], whole=False)
    unread = replace(inputs, catalogs={key: Catalog(key, problem="no answer")}, readers={})
    rows, code = resolved(unread, resolve(unread))
    assert ([one["gets"] for one in rows], code) == ([""], UNKNOWN)


def test_an_explanation_reports_why_not_newer_and_what_would_help(tmp_path: Path, catalog: str) -> None:
    there = folder(tmp_path, sub("a"), sub("b", channel="beta"))
    words = ("explain", "-n", "ns", "--catalog", catalog, "--from", there)
    found = olmf(*words, "a")
    assert found.exit_code == 0
    assert found.stdout.splitlines() == [
        "a: a.v2 from channel stable of catalog ns/cat",
        "  not a.v3: Deprecated: a.v3 (channel stable of catalog ns/cat) is deprecated, so nobody gets it",
    ]
    found = olmf(*words, "-o", "json")
    assert found.exit_code == NEGATIVE
    reported = json.loads(found.stdout)
    assert [one["subscriptions"] for one in reported["refused"]] == [["b"]]
    assert [one["code"] for one in reported["refused"][0]["fixes"]] == ["DropSubscription"], (
        "in channel stable K is missing"
    )
    assert failure(*words, "c").code == NEGATIVE


@pytest.mark.parametrize("said", ["mine", "Subscription/mine", "sub/mine", "a"])
def test_a_subscription_may_be_named_with_its_kind_or_by_its_package(said: str, tmp_path: Path, catalog: str) -> None:
    there = folder(tmp_path, sub("mine", package="a"), sub("b", channel="beta"))
    found = olmf("explain", "-n", "ns", "--catalog", catalog, "--from", there, said)
    assert found.stdout.startswith("mine: a.v2 from channel stable")
    assert "b" not in {line.partition(":")[0] for line in found.stdout.splitlines()}


@pytest.mark.parametrize(("named", "why"), [
    ("csv/a.v2", "not a Subscription; `olmf why csv/a.v2` tells of other objects"),
    (str(SUBSCRIPTION.ref("a", "other")), "wanted a name, or Subscription/NAME; its namespace goes with -n"),
])  # fmt: skip
def test_other_objects_and_namespaces_are_refused(named: str, why: str, tmp_path: Path, catalog: str) -> None:
    there = folder(tmp_path, sub("a"))
    error = failure("explain", "-n", "ns", "--catalog", catalog, "--from", there, named)
    assert (error.code, str(error)) == (USAGE, f"{named}: {why}")


def test_files_have_a_phase_where_they_hold_one(tmp_path: Path, catalog: str) -> None:
    settled = sub("a", installed="a.v1")
    settled["status"] |= {"currentCSV": "a.v1", "state": "AtLatestKnown"}
    failed = csv("a.v1", phase="Failed")
    failed["status"]["message"] = "no such mode"
    words = ("explain", "-n", "ns", "--catalog", catalog, "--from", folder(tmp_path, settled, failed))
    found = olmf(*words)
    assert (found.exit_code, "a: a.v1 is Failed: no such mode" in found.stdout) == (NEGATIVE, True)
    Path(tmp_path, "objects", "b.yaml").write_text(yaml.safe_dump({"kind": "Subscription", **sub("b")}))
    found = olmf(*words, "a")
    assert (found.exit_code, "Failed" in found.stdout) == (0, False)
    assert f"# phases are not known from --from {tmp_path}/objects: Subscription b has no status.state" in found.stderr


def test_manifests_may_come_from_stdin(tmp_path: Path, catalog: str) -> None:
    settled, failed = sub("a", installed="a.v1"), csv("a.v1")
    settled["status"] |= {"currentCSV": "a.v1", "state": "AtLatestKnown"}
    failed["status"] = {"phase": "Failed", "reason": "UnsupportedOperatorGroup", "message": "no such mode"}
    content = Path(folder(tmp_path, settled, failed), "all.yaml").read_text()
    words = ["explain", "-n", "ns", "--catalog", catalog, "--from", "-"]
    found = CliRunner().invoke(app, words, input=content)
    assert found.exit_code == NEGATIVE
    assert "a: a.v1 is Failed: no such mode" in found.stdout


def a_choice(name: str, gets: str = "") -> Choice:
    return Choice(name, name, f"{name}.v1", gets, f"{gets} from channel x" if gets else f"{name}.v1 is installed")


def a_row(name: str, phase: str, message: str = "", version: str = "") -> PackageStatus:
    return PackageStatus("ns", name, name, "", version, phase, message=message)


def test_what_does_not_work_is_not_reported_as_installed() -> None:
    found = [a_choice("fine"), a_choice("failed"), a_choice("broken", "broken.v2")]
    rows = [
        a_row("fine", "Succeeded", "held: audit"),
        a_row("failed", "Failed", "no such mode", "failed.v1"),
        a_row("broken", "BundleUnpackFailed", "no such image"),
        a_row("gone", "InstalledCSVMissing", "deleted", "gone.v1"),
        a_row("later", "Succeeded", version="later.v1"),
        a_row("refused", "Succeeded", "told before"),
    ]
    finding = Finding(("refused",), "", (Fact(Code.DEPRECATED, "x", "x"),))
    assert list(lines([finding], found, rows)) == [
        *finding.details(),
        "",
        "fine: fine.v1 is installed",
        "failed: failed.v1 is Failed: no such mode",
        "broken: broken.v2 from channel x",
        "broken: BundleUnpackFailed: no such image",
        "gone: gone.v1 is InstalledCSVMissing: deleted",
        "later: later.v1 is Succeeded",
    ]
    assert [is_failing(row) for row in rows] == [False, True, True, True, False, False]
    assert list(lines([], [], [])) == ["there is no Subscription that waits for an answer"]


def test_the_fix_of_a_conflict_is_a_command_as_everywhere() -> None:
    fixes = (ResolverFix("X", "do x", command("explain")), ResolverFix("Y", "do y", "edit y"))
    finding = Finding(("a",), "", (Fact(Code.DEPRECATED, "x", "x"),), fixes)
    assert list(lines([finding], [], []))[2:4] == ["fix: do x: `olmf explain`", "fix: do y: edit y"]


def test_what_works_and_is_deprecated_says_so() -> None:
    rows = [replace(a_row(name, "Succeeded", version=f"{name}.v1"), deprecated="use b") for name in ("a", "later")]
    assert list(lines([], [a_choice("a")], rows)) == [
        "a: a.v1 is installed", "a: deprecated: use b", "later: later.v1 is Succeeded: deprecated: use b",
    ]  # fmt: skip


def test_the_command_that_approves_a_plan_stands_above_what_comes_after_it() -> None:
    newer = (Passed("a.v3", "AfterPlan", "a plan for a.v2 is under way"),)
    fix = Fix("approve p", command("approve", "p", namespace="ns"))
    waiting = replace(a_row("a", "InstallPlanPending", "RequiresApproval", "a.v2"), plan="p", fixes=(fix,))
    assert list(lines([], [replace(a_choice("a"), newer=newer)], [waiting])) == [
        "a: a.v2 is InstallPlanPending: RequiresApproval; fix: approve p: `olmf approve p -n ns`",
        "  not a.v3: AfterPlan: a plan for a.v2 is under way",
    ]


def test_what_waits_for_approval_or_is_being_installed_is_no_failure() -> None:
    assert not is_failing(a_row("a", "InstallPlanPending", "RequiresApproval", "a.v1"))
    assert not is_failing(replace(a_row("a", "Installing", version="a.v1"), code=StatusCode.INSTALLING))


def test_what_is_refused_or_fails_is_a_failure() -> None:
    unpacking, pending = a_row("a", "BundleUnpacking"), a_row("a", "InstallPlanPending")
    refused, failing = replace(unpacking, code=StatusCode.UNPACK_REFUSED), replace(unpacking, is_failing=True)
    denied = replace(pending, code=StatusCode.PERMISSIONS_LACKING)
    installing = replace(a_row("a", "Installing"), code=StatusCode.INSTALLING, is_failing=True)
    found = [is_failing(one) for one in (unpacking, refused, failing, pending, denied, installing)]
    assert found == [False, True, True, False, True, True]


@pytest.mark.parametrize("verb", ["resolve", "explain"])
def test_a_namespace_that_the_files_do_not_have_is_a_wrong_word(verb: str, tmp_path: Path, catalog: str) -> None:
    there = folder(tmp_path, sub("a"), csv("b.v1"))
    error = failure(verb, "-n", "nss", "--catalog", catalog, "--from", there)
    assert error.code == USAGE
    assert str(error) == f"--from {there}: it has nothing in namespace nss, but in ns (-n)"


@pytest.mark.parametrize("verb", ["resolve", "explain"])
def test_the_only_namespace_with_subscriptions_is_meant(verb: str, tmp_path: Path, catalog: str) -> None:
    elsewhere = csv("b.v1")
    elsewhere["metadata"]["namespace"] = "other"
    there = folder(tmp_path, sub("a"), elsewhere)
    found = olmf(verb, "--catalog", catalog, "--from", there)
    assert (found.exit_code, "a.v2 from channel stable" in found.stdout) == (0, True)
    assert "# namespace ns\n" in found.stderr


@pytest.mark.parametrize(
    ("namespaces", "why"),
    [
        pytest.param(["one", "two"], "has Subscriptions in one, two", id="two may be meant"),
        pytest.param([""], "--from {} has no Subscription with a namespace", id="none says so"),
    ],
)
def test_without_a_namespace_the_candidates_are_listed(
    namespaces: list[str], why: str, tmp_path: Path, catalog: str
) -> None:
    subscriptions = [sub(f"a{number}") for number in range(len(namespaces))]
    for one, namespace in zip(subscriptions, namespaces, strict=True):
        one["metadata"]["namespace"] = namespace
    there = folder(tmp_path, *subscriptions)
    error = failure("resolve", "--catalog", catalog, "--from", there)
    assert (error.code, str(error).startswith("give -n NAMESPACE: ")) == (USAGE, True)
    assert why.format(there) in str(error)


def test_manifests_without_a_namespace_are_in_every_one(tmp_path: Path, catalog: str) -> None:
    anywhere = sub("a")
    del anywhere["metadata"]["namespace"]
    found = olmf("resolve", "-n", "any", "--catalog", catalog, "--from", folder(tmp_path, anywhere), "-o", "json")
    assert [one["gets"] for one in json.loads(found.stdout)] == ["a.v2"]


def test_a_way_is_reported_hop_by_hop(catalog: str) -> None:
    found = olmf("upgrades", "a", "--from", "1.0.0", "--catalog", catalog)
    assert found.stdout.splitlines() == [
        "a.v1 -> a.v2 (channel stable): it replaces a.v1",
        f"  not a.v3: Deprecated: a.v3 (channel stable of catalog {catalog}) is deprecated, so nobody gets it",
    ]
    reported = json.loads(olmf("upgrades", "a", "--from", "a.v2", "--catalog", catalog, "-o", "json").stdout)
    assert reported["hops"] == []
    reported = olmf("upgrades", "a", "--from", "a.v2", "--catalog", catalog).stdout
    assert reported.startswith("a.v2 stays: nothing in channel stable updates it\n")
    assert olmf("upgrades", "b", "--from", "b.v1", "--catalog", catalog).exit_code == NEGATIVE, "what it needs is gone"


def test_a_channel_that_leads_nowhere_is_a_no_that_names_the_channel_that_does(catalog: str) -> None:
    others = [{"schema": "olm.channel", "package": "a", "name": "new", "entries": [entry("a.v3", "a.v2")]}]
    Path(catalog, "more.yaml").write_text(yaml.safe_dump_all(others))
    found = olmf("upgrades", "a", "--from", "a.v1", "--channel", "new", "--catalog", catalog)
    end = "1.0.0 is not in channel new, and nothing there replaces it; the head 3.0.0 cannot be reached from it"
    assert (found.exit_code, found.stdout) == (NEGATIVE, f"a.v1 stays: {end} (go by channel stable)\n")


def test_versions_are_listed_newest_first(catalog: str) -> None:
    rows = json.loads(olmf("versions", "a", "--catalog", catalog, "-o", "json").stdout)
    assert [(one["version"], one["note"]) for one in rows] == [("3.0.0", "deprecated"), ("2.0.0", ""), ("1.0.0", "")]
    assert rows[1]["channels"] == ["stable"]


def test_of_several_catalogs_the_one_that_answers_is_named_and_may_be_chosen(catalog: str) -> None:
    words = ["a", "--catalog", f"x={catalog}", "--catalog", f"team/y={catalog}"]
    for verb in (["versions"], ["upgrades", "--from", "1.0.0"], ["graph"]):
        done = olmf(*verb, *words)
        assert done.stderr == "# from catalog olm/x (also in team/y; --source chooses)\n"
        assert olmf(*verb, *words, "--source", "team/y").stderr == "# from catalog team/y\n"
        reported = json.loads(olmf(*verb, *words, "--source", "y", "-o", "json").stdout)
        assert {one["catalog"] for one in (reported if isinstance(reported, list) else [reported])} == {"team/y"}
    assert not olmf("versions", "a", "--catalog", catalog).stderr, "there is no choice"
    error = failure("versions", *words, "--source", "z")
    assert str(error) == "--source z: no such catalog; there are: olm/x, team/y"
    assert str(failure("versions", "soup", *words[1:], "--source", "x")) == "catalog olm/x has no package soup"


def test_a_catalog_that_cannot_be_read_leads_to_the_verb_that_reports_the_line(tmp_path: Path) -> None:
    (tmp_path / "catalog.yaml").write_text("schema: olm.package\nname: a: b\n")
    error = failure("versions", "a", "--catalog", str(tmp_path))
    assert (error.code, f"`olmf catalog validate {tmp_path}` lists all errors" in str(error)) == (UNKNOWN, True)


def test_versions_of_a_broken_channel_report_it(tmp_path: Path) -> None:
    loop = a_channel("alpha", an_entry("v1", "v2"), an_entry("v2", "v1"), package="tea")
    bundles = a_bundle("v1", "1.0.0", package="tea"), a_bundle("v2", "2.0.0", package="tea")
    (tmp_path / "catalog.json").write_bytes(written(a_package("tea"), loop, *bundles))
    shown = olmf("versions", "tea", "--catalog", str(tmp_path)).stdout.splitlines()
    assert [line.partition("channel ")[2] for line in shown[1:]] == [
        "alpha is broken: no channel head found in graph"
    ] * 2


@pytest.mark.parametrize(
    ("words", "code", "why"),
    [
        pytest.param(("resolve", "-n", "x", "--catalog", "CAT"), USAGE, "name the manifests", id="no manifests"),
        pytest.param(
            ("resolve", "-n", "x", "--catalog", "/none", "--from", "/"), USAGE, "/none: no such file or folder",
            id="no such catalog",
        ),
        pytest.param(("versions", "a", "--state", "/"), UNKNOWN, "name the catalog", id="no catalog"),
        pytest.param(("versions", "z", "--catalog", "CAT"), NEGATIVE, "no catalog has package z", id="no such package"),
        pytest.param(
            ("upgrades", "a", "--from", "9", "--catalog", "CAT"), NEGATIVE, "has no version 9", id="no such version"
        ),
        pytest.param(
            ("upgrades", "a", "--from", "1.0.0", "--channel", "x", "--catalog", "CAT"), NEGATIVE, "there are stable",
            id="no such channel",
        ),
        pytest.param(
            ("versions", "a", "--catalog", "CAT", "--catalog", "CAT"), USAGE, "needs a name", id="which is which?"
        ),
        pytest.param(("plan", "--from", "/none"), USAGE, "--from /none: no such file or folder", id="no such file"),
        pytest.param(("explain", "-o", "svg"), USAGE, "wanted text, json or yaml", id="no such form"),
    ],
)  # fmt: skip
def test_a_wrong_word_is_answered_by_what_to_do(
    words: tuple[str, ...], code: int, why: str, catalog: str, tmp_path: Path
) -> None:
    arguments = [str(tmp_path / "empty") if word == "/" else word.replace("CAT", catalog) for word in words]
    (tmp_path / "empty").mkdir()
    error = failure(*arguments)
    assert (error.code, why in str(error)) == (code, True), str(error)
