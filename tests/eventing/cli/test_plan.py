"""`olmf plan`: what would happen to each object, and whether it is safe; of files."""

from __future__ import annotations

import base64
import errno
import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copytree
from typing import Any

import pytest
import yaml
from typer.testing import CliRunner, Result

from eventing.cli.extension.report import Report, as_markdown, as_text, as_value
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.inputs.bundle_files import files_of
from eventing.cli.main import app
from eventing.cli.namespace_inputs import NamespaceInputs, read_inputs
from shared import names
from shared.adapters.oci.reference import Reference
from shared.domain.extension.outlook import Change, Difference, Effect
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog
from shared.kinds import NAMESPACE
from tests.kit.image_registry import ScriptedRegistry, a_file, a_layer, scripted_registry
from tests.kit.installation import SAMPLES, a_subscription, an_operator_group
from tests.replay.living import LivingWorld
from tests.replay.stories import an_object

Json = Any
MEDIA_TYPE = {"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1"}


@pytest.fixture(autouse=True)
def registry(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ScriptedRegistry]:
    """A registry with two bundles, and a catalog of them, a folder of objects with a Subscription to it."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    monkeypatch.chdir(tmp_path)
    with scripted_registry() as found:
        write_catalog(tmp_path, {one: put(found, SAMPLES / "beacon" / one) for one in ("1.0.0", "1.1.0")})
        subscription = a_subscription("beacon", "here", source="local", channel="stable", startingCSV="beacon.v1.0.0")
        write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)))
        yield found


def put(registry: ScriptedRegistry, bundle: Path, *, by_digest: bool = False) -> str:
    """Serve a bundle folder, `<package>/<version>`; the image, as catalogs name it."""
    package, version = bundle.parts[-2:]
    files = [path for path in sorted(bundle.rglob("*")) if path.is_file()]
    entries = [a_file(str(path.relative_to(bundle)), path.read_bytes()) for path in files]
    labels = {**MEDIA_TYPE, "operators.operatorframework.io.bundle.package.v1": package}
    digest = registry.put(package, version, [a_layer(*entries)], labels)
    return f"{registry.address}/{package}" + (f"@{digest}" if by_digest else f":{version}")


def write_catalog(folder: Path, images: dict[str, str], package: str = "beacon") -> None:
    first, second = f"{package}.v1.0.0", f"{package}.v1.1.0"
    documents: list[Json] = [
        {"schema": "olm.package", "name": package, "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": package, "name": "stable", "entries": [
            {"name": first}, {"name": second, "replaces": first},
        ]},
    ]  # fmt: skip
    for version, image in images.items():
        identity = {"type": "olm.package", "value": {"packageName": package, "version": version}}
        documents.append(
            {
                "schema": "olm.bundle",
                "package": package,
                "name": f"{package}.v{version}",
                "image": image,
                "properties": [identity],
            }
        )
    (folder / "cat").mkdir(exist_ok=True)
    (folder / "cat" / "catalog.json").write_text("\n".join(map(json.dumps, documents)))


def write_objects(folder: Path, *objects: Json) -> None:
    (folder / "objects").mkdir(exist_ok=True)
    (folder / "objects" / "all.yaml").write_text(yaml.safe_dump_all(objects))


def plan(*words: str, catalog: str = "cat") -> Result:
    return CliRunner().invoke(app, ["plan", "-n", "here", "--catalog", catalog, "--from", "objects", *words])


def effects(result: Result) -> dict[str, str]:
    return {one["object"]: one["effect"] for one in json.loads(result.stdout)["objects"]}


def test_issue_15_1_5_an_install_is_listed_object_by_object() -> None:
    result = plan("-o", "json")
    assert result.exit_code == 0, result.output
    found = effects(result)
    assert found["ClusterServiceVersion here/beacon.v1.0.0"] == "create"
    assert set(found.values()) == {"create"}
    reported = json.loads(result.stdout)
    assert reported["wouldDo"]
    assert {one["kind"] for one in reported["permissions"]} <= {"Role", "ClusterRole"}
    assert any(line.startswith("image ") for line in reported["remarks"])


LAMPS = SAMPLES.parent / "webhooks" / "lamps"


@pytest.fixture
def lamps(registry: ScriptedRegistry, tmp_path: Path) -> None:
    """A catalog of an operator with webhooks of every type and an aggregated API."""
    write_catalog(tmp_path, {one: put(registry, LAMPS / one) for one in ("1.0.0", "1.1.0")}, "lamps")


def planned() -> list[Json]:
    """The rows of the objects, with their manifests."""
    result = plan("-o", "json")
    assert result.exit_code == 0, result.output
    return list(json.loads(result.stdout)["objects"])


@pytest.mark.usefixtures("lamps")
def test_what_webhooks_and_aggregated_apis_need_is_listed(tmp_path: Path) -> None:
    """csv.md 7.1: no plan names certificates, Services and configurations, but the installation makes them."""
    write_objects(tmp_path, a_subscription("lamps", "here", source="local"), an_operator_group("here"))
    found = {one["object"]: one for one in planned()}
    served = {"Secret", "Service", "APIService", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"}
    assert served <= {one.partition(" ")[0] for one in found}
    assert found["Secret here/lamps-controller-service-cert"]["effect"] == "create"
    assert found["RoleBinding kube-system/lamps-controller-service-auth-reader"]["effect"] == "create"
    conversion = found["CustomResourceDefinition lamps.samples.olmf.io"]["manifest"]["spec"]["conversion"]
    assert conversion["webhook"]["clientConfig"]["service"]["name"] == "lamps-controller-service"
    assert [one["manifest"]["webhooks"][0].get("namespaceSelector") for one in configurations(found.values())] == [
        None
    ] * 2


def configurations(found: Iterable[Json]) -> list[Json]:
    return [one for one in found if "WebhookConfiguration" in one["object"]]


@pytest.mark.usefixtures("lamps")
def test_webhooks_are_for_the_namespaces_of_their_group(tmp_path: Path) -> None:
    """csv.md 7.6: a group that is not global narrows rules to namespaced objects."""
    group = an_operator_group("here", targets=("here",))
    group = {**group, "metadata": {**group["metadata"], "uid": "u"}, "status": {"namespaces": ["here"]}}
    write_objects(tmp_path, a_subscription("lamps", "here", source="local"), group)
    result = plan("-o", "json")
    hooks = [one["manifest"]["webhooks"][0] for one in configurations(json.loads(result.stdout)["objects"])]
    assert [one["namespaceSelector"] for one in hooks] == [{"matchLabels": {"olm.operatorgroup.uid/u": ""}}] * 2
    assert {rule["scope"] for one in hooks for rule in one["rules"]} == {"Namespaced"}


@pytest.mark.usefixtures("lamps")
def test_an_upgrade_reports_which_configurations_come_and_go(tmp_path: Path) -> None:
    """csv.md 18 row 104: those of the old version go with it; the Service, the Secret and the APIService stay."""
    subscription = a_subscription("lamps", "here", source="local", channel="stable", startingCSV="lamps.v1.0.0")
    write_objects(tmp_path, subscription, an_operator_group("here"))
    csv, *others = [one["manifest"] for one in planned()]
    installed = {"installedCSV": "lamps.v1.0.0", "currentCSV": "lamps.v1.0.0", "state": "AtLatestKnown"}
    there = {**csv, "status": {"phase": "Succeeded"}}
    write_objects(tmp_path, subscription | {"status": installed}, an_operator_group("here"), there, *others)
    found = planned()
    effects = sorted(one["effect"] for one in configurations(found))
    assert effects == ["create", "create", "remove", "remove"]
    names = {one["object"] for one in configurations(found)}
    assert len(names) == 4
    kept = {one["object"].partition(" ")[0]: one["effect"] for one in found}
    assert (kept["Secret"], kept["Service"], kept["APIService"]) == ("keep", "keep", "change")


def write_installed(folder: Path) -> None:
    """The first version works."""
    first = json.loads(plan("-o", "json").stdout)["objects"]
    csv, *others = [one["manifest"] for one in first]
    there = {**csv, "status": {"phase": "Succeeded"}}
    installed = {"installedCSV": "beacon.v1.0.0", "currentCSV": "beacon.v1.0.0", "state": "AtLatestKnown"}
    subscription = a_subscription("beacon", "here", source="local", channel="stable") | {"status": installed}
    write_objects(folder, subscription, an_operator_group("here", targets=("here",)), there, *others)


def test_a_newer_version_that_cannot_be_installed_is_told(tmp_path: Path) -> None:
    write_installed(tmp_path)
    file = tmp_path / "cat" / "catalog.json"
    *others, newest = map(json.loads, file.read_text().splitlines())
    moon = {"type": "olm.gvk.required", "value": {"group": "x.io", "version": "v1", "kind": "Moon"}}
    newest["properties"].append(moon)
    file.write_text("\n".join(map(json.dumps, [*others, newest])))
    result = plan()
    passed = "beacon.v1.0.0 is installed, and beacon.v1.1.0, which would replace it, cannot be installed now"
    command = "`olmf explain beacon -n here --from objects --catalog cat`"
    assert f"  beacon stays: {passed}; {command} shows more" in result.stdout.splitlines()
    assert (result.stdout.splitlines()[-1], result.exit_code) == ("Nothing would be done.", 0)


def test_an_upgrade_reports_what_changes_and_what_goes(tmp_path: Path) -> None:
    write_installed(tmp_path)
    result = plan("-o", "json")
    found = effects(result)
    assert found["ClusterServiceVersion here/beacon.v1.1.0"] == "create"
    assert found["ClusterServiceVersion here/beacon.v1.0.0"] == "remove"
    assert "beacon.v1.0.0 -> beacon.v1.1.0" in plan().output
    markdown = plan("-o", "markdown").stdout
    assert markdown.startswith("### Would be done")
    assert "| remove | `ClusterServiceVersion here/beacon.v1.0.0` |" in markdown


@pytest.mark.parametrize(
    ("phase", "under_way", "end"),
    [
        pytest.param("Installing", ["beacon.v1.0.0 is Installing: waits for Pods"], "Nothing more would be done.",
                     id="it is being installed"),
        pytest.param("Failed", ["beacon.v1.0.0 is Failed: waits for Pods"], "Nothing more would be done.",
                     id="it failed"),
        pytest.param("Succeeded", [], "Nothing would be done.", id="it works"),
    ],
)  # fmt: skip
def test_what_is_under_way_is_told(tmp_path: Path, phase: str, under_way: list[str], end: str) -> None:
    found = [one["manifest"] for one in json.loads(plan("-o", "json").stdout)["objects"]]
    for one in found:
        if one["kind"] == "ClusterServiceVersion":
            one["status"] = {"phase": phase, "reason": "InstallWaiting", "message": "waits for Pods"}
    version = "beacon.v1.0.0"
    status = {"installedCSV": version, "currentCSV": version, "state": "AtLatestKnown"}
    subscription = a_subscription("beacon", "here", source="local", channel="stable") | {"status": status}
    subscription["metadata"]["annotations"] = {names.VERSION: version}
    write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)), *found)
    assert json.loads(plan("-o", "json").stdout)["underWay"] == under_way
    result = plan()
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines()[-1] == end
    assert all(f"  {one}" in result.stdout.splitlines() for one in under_way)
    assert all(f"- under way already: {one}" in plan("-o", "markdown").stdout for one in under_way)


def a_waiting_subscription() -> Json:
    pending = {"type": "InstallPlanPending", "status": "True", "reason": "RequiresApproval"}
    status = {
        "currentCSV": "beacon.v1.0.0", "state": "UpgradePending", "conditions": [pending],
        "installPlanRef": {"name": "install-1", "namespace": "here"},
    }  # fmt: skip
    return a_subscription("beacon", "here", source="local", channel="stable") | {"status": status}


def with_plans(*words: Any, version: str = "beacon.v1.0.0", **more: Any) -> NamespaceInputs:
    """What files hold, with the plan that a cluster would tell of."""
    found = read_inputs(*words, **more)
    waits = "InstallPlan install-1 is under way"
    every = found.inputs.subscribers
    named = [replace(one, waits=waits, planned_csv=version) if one.name == "beacon" else one for one in every]
    return replace(found, inputs=replace(found.inputs, subscribers=tuple(named)))


def test_what_is_refused_does_not_block_what_waits_for_approval(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eventing.cli.plan.read_inputs", with_plans)
    bad = a_subscription("bad", "here", name="bad", source="nonsuch", channel="stable")
    write_objects(tmp_path, a_waiting_subscription(), bad, an_operator_group("here", targets=("here",)))
    result = plan("-o", "json", catalog="olm/local=cat")
    found = json.loads(result.stdout)
    assert result.exit_code == NEGATIVE
    assert [one.partition(":")[0] for one in found["blockers"]] == ["bad"]
    assert any("install-1 waits for approval; `olmf approve install-1 -n here" in one for one in found["reasons"])
    assert found["objects"], "what its plan will make is shown"


def test_a_plan_under_way_whose_version_is_there_already_still_replaces_the_former_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    former, version = "beacon.v1.0.0", "beacon.v1.1.0"
    there = [one["manifest"] for one in json.loads(plan("-o", "json").stdout)["objects"]]
    csv = next(one for one in there if one["kind"] == "ClusterServiceVersion")
    meta = {**csv["metadata"], "name": version}
    new = {**csv, "metadata": meta, "spec": {**csv["spec"], "replaces": former}, "status": {"phase": "Pending"}}
    csv["status"] = {"phase": "Replacing"}
    status = {"installedCSV": version, "currentCSV": version, "state": "UpgradePending"}
    subscription = a_subscription("beacon", "here", source="local", channel="stable") | {"status": status}
    write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)), *there, new)
    monkeypatch.setattr("eventing.cli.plan.read_inputs", partial(with_plans, version=version))
    found = effects(plan("-o", "json"))
    assert found[f"ClusterServiceVersion here/{version}"] == "keep"
    assert found[f"ClusterServiceVersion here/{former}"] == "remove"
    assert found["Deployment here/beacon-controller"] == "change"


def test_a_catalog_that_cannot_be_read_leaves_open_only_what_needs_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def with_sick_catalog(*words: Any, **more: Any) -> NamespaceInputs:
        found, sick = with_plans(*words, **more), CatalogKey("olm", "sick")
        catalogs = {**found.inputs.catalogs, sick: Catalog(sick, problem="no answer")}
        return replace(found, inputs=replace(found.inputs, catalogs=catalogs))

    monkeypatch.setattr("eventing.cli.plan.read_inputs", with_sick_catalog)
    bad = a_subscription("bad", "here", source="sick", channel="stable")
    write_objects(tmp_path, a_waiting_subscription(), bad, an_operator_group("here", targets=("here",)))
    result = plan("-o", "json", catalog="olm/local=cat")
    found = json.loads(result.stdout)
    assert result.exit_code == UNKNOWN, result.output
    assert any("bad: error using catalogsource olm/sick: no answer" in one for one in unknown_of(result))
    assert any(one.startswith("beacon: beacon.v1.0.0 is planned already") for one in found["reasons"])


def test_a_namespace_with_two_groups_is_blocked_with_what_helps(tmp_path: Path) -> None:
    made = [an_operator_group("here", targets=("here",)) for _ in "ab"]
    for group, name in zip(made, "ab", strict=True):
        group["metadata"]["name"] = name
    write_objects(tmp_path, a_subscription("beacon", "here", source="local", channel="stable"), *made)
    result = plan("-o", "json")
    assert result.exit_code == NEGATIVE, result.output
    (blocker,) = json.loads(result.stdout)["blockers"]
    assert blocker.startswith("beacon: expected 1 OperatorGroup in the namespace, found 2; fix: ")
    assert blocker.endswith("to keep a: `kubectl -n here delete operatorgroup b`")
    printed = plan("--grants")
    assert (printed.exit_code, printed.stdout, printed.stderr) == (NEGATIVE, "", f"# blocked: {blocker}\n")


ACCOUNT: Json = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "limited", "namespace": "here"}}


RBAC = "rbac.authorization.k8s.io/v1"
BINDING: Json = {
    "apiVersion": RBAC, "kind": "RoleBinding", "metadata": {"name": "few", "namespace": "here"},
    "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "Role", "name": "few"},
    "subjects": [{"kind": "ServiceAccount", "name": "limited", "namespace": "here"}],
}  # fmt: skip
ROLE: Json = {"apiVersion": RBAC, "kind": "Role", "metadata": {"name": "few", "namespace": "here"}, "rules": []}


def scoped(*more: Json) -> list[Json]:
    """A Subscription in a namespace whose group names an account, the account, and a role without rules."""
    subscription = a_subscription("beacon", "here", source="local", channel="stable", startingCSV="beacon.v1.0.0")
    group = an_operator_group("here", targets=("here",))
    limited = {**group, "spec": {**group["spec"], "serviceAccountName": "limited"}}
    return [subscription, limited, ACCOUNT, *(more or (ROLE, BINDING))]


def test_what_the_account_of_the_group_lacks_is_printed_to_be_applied(tmp_path: Path) -> None:
    write_objects(tmp_path, *scoped())
    blocked = plan()
    assert blocked.exit_code == NEGATIVE
    again = "`olmf plan --grants -n here --from objects --catalog cat`"
    assert f"{again} prints roles and bindings with what the account lacks for beacon.v1.0.0, beacon" in blocked.stdout
    printed = plan("--grants")
    assert (printed.exit_code, printed.stderr) == (0, "# for beacon.v1.0.0, beacon.v1.1.0\n")
    found = list(yaml.safe_load_all(printed.stdout))
    assert [one["kind"] for one in found] == ["Role", "RoleBinding"]
    reported = json.loads(plan("-o", "json").stdout)
    assert (reported["grants"], reported["grantsFor"]) == (found, ["beacon.v1.0.0", "beacon.v1.1.0"])
    assert json.loads(plan("--grants", "-o", "json").stdout) == {"apiVersion": "v1", "kind": "List", "items": found}
    write_objects(tmp_path, *scoped(), *found)
    assert plan().exit_code == 0
    lacks_nothing = plan("--grants", "-o", "json")
    assert "nothing is lacking" in lacks_nothing.stderr
    assert json.loads(lacks_nothing.stdout)["items"] == []


def test_grants_are_enough_for_the_versions_that_come_later(tmp_path: Path) -> None:
    """What the first version makes, the second one changes: whoever is asked once is not asked again."""
    write_objects(tmp_path, *scoped())
    granted = list(yaml.safe_load_all(plan("--grants").stdout))
    write_objects(tmp_path, *scoped(), *granted)
    csv, *others = [one["manifest"] for one in json.loads(plan("-o", "json").stdout)["objects"]]
    status = {"installedCSV": "beacon.v1.0.0", "currentCSV": "beacon.v1.0.0", "state": "AtLatestKnown"}
    subscription, *rest = scoped()
    there = [subscription | {"status": status}, *rest, {**csv, "status": {"phase": "Succeeded"}}, *others]
    write_objects(tmp_path, *there, *granted)
    second = plan("--grants")
    assert (second.exit_code, second.stdout, second.stderr) == (0, "", "# nothing is lacking\n")
    assert "update" in {verb for one in granted for rule in one.get("rules", ()) for verb in rule["verbs"]}


def test_grants_count_on_from_a_plan_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("eventing.cli.plan.read_inputs", with_plans)
    write_objects(tmp_path, a_waiting_subscription(), *scoped()[1:])
    assert plan("--grants").stderr == "# for beacon.v1.0.0, beacon.v1.1.0\n"


def test_grants_are_also_for_what_dependencies_become(tmp_path: Path, registry: ScriptedRegistry) -> None:
    """The plan of the first version makes a Subscription for what it needs; without that version it goes on alone."""
    needs = {"type": "olm.package.required", "value": {"packageName": "tide", "versionRange": "<0.2.0"}}
    file = tmp_path / "cat" / "catalog.json"
    documents = [json.loads(line) for line in file.read_text().splitlines()]
    next(one for one in documents if one["name"] == "beacon.v1.0.0")["properties"].append(needs)
    replacing = [{"name": "tide.v0.1.0"}, {"name": "tide.v0.2.0", "replaces": "tide.v0.1.0"}]
    documents += [
        {"schema": "olm.package", "name": "tide", "defaultChannel": "stable"},
        {"schema": "olm.channel", "package": "tide", "name": "stable", "entries": replacing},
    ]
    for version in ("0.1.0", "0.2.0"):
        identity = {"type": "olm.package", "value": {"packageName": "tide", "version": version}}
        image = put(registry, SAMPLES / "tide" / version)
        bundle = {"schema": "olm.bundle", "package": "tide", "name": f"tide.v{version}", "image": image}
        documents.append({**bundle, "properties": [identity]})
    file.write_text("\n".join(map(json.dumps, documents)))
    write_objects(tmp_path, *scoped())
    reported = json.loads(plan("-o", "json", catalog="olm/local=cat").stdout)
    assert sorted(reported["grantsFor"]) == ["beacon.v1.0.0", "beacon.v1.1.0", "tide.v0.1.0", "tide.v0.2.0"]


def test_grants_of_versions_that_cannot_be_read_are_known_to_be_missing(
    tmp_path: Path, registry: ScriptedRegistry
) -> None:
    first = put(registry, SAMPLES / "beacon" / "1.0.0")
    write_catalog(tmp_path, {"1.0.0": first, "1.1.0": f"{registry.address}/gone:1.1.0"})
    write_objects(tmp_path, *scoped())
    printed = plan("--grants")
    assert printed.exit_code == UNKNOWN
    assert printed.stdout.startswith("---\napiVersion: rbac") or "kind: Role" in printed.stdout
    assert printed.stderr.startswith("# for beacon.v1.0.0\n# not known: what the versions after beacon.v1.0.0 need: ")


def test_a_catalog_does_not_decide_how_many_versions_are_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("eventing.cli.upcoming.MOST_VERSIONS", 1)
    write_objects(tmp_path, *scoped())
    printed = plan("--grants")
    assert (printed.exit_code, "more than 1 versions are not looked at" in printed.stderr) == (UNKNOWN, True)


@pytest.mark.parametrize(
    ("roles", "lack"),
    [
        ([{**ROLE, "metadata": {"name": "of-others", "namespace": "here"}}], "Roles and RoleBindings"),
        ([BINDING], "Role few"),
        ([{**BINDING, "roleRef": {**BINDING["roleRef"], "kind": "ClusterRole", "name": "admin"}}], "ClusterRole admin"),
    ],
)  # fmt: skip
def test_what_an_account_may_do_whose_roles_are_not_in_the_files_is_not_known(
    tmp_path: Path, roles: list[Json], lack: str
) -> None:
    write_objects(tmp_path, *scoped(*roles))
    why = f"the files lack {lack} of ServiceAccount here/limited: they do not say what it may do"
    result = plan("-o", "json")
    reported = json.loads(result.stdout)
    assert (result.exit_code, reported["unknown"], reported["blockers"]) == (UNKNOWN, [why], [])
    printed = plan("--grants")
    assert (printed.exit_code, f"# not known: {why}\n" in printed.stderr) == (0, True), "all that it needs is printed"
    assert list(yaml.safe_load_all(printed.stdout)) == reported["grants"] != []


def test_what_an_account_that_is_not_there_lacks_cannot_be_told(tmp_path: Path) -> None:
    subscription = a_subscription("beacon", "here", source="local", channel="stable", startingCSV="beacon.v1.0.0")
    group = an_operator_group("here", targets=("here",))
    write_objects(tmp_path, subscription, {**group, "spec": {**group["spec"], "serviceAccountName": "ghost"}})
    assert "ServiceAccount ghost of OperatorGroup here-group is not there" in plan().stdout
    printed = plan("--grants")
    assert (printed.exit_code, printed.stdout) == (UNKNOWN, ""), "files need not hold every account"
    assert printed.stderr == "# not known: ServiceAccount ghost of OperatorGroup here-group is not there\n"


def test_a_definition_that_loses_a_stored_version_blocks(tmp_path: Path) -> None:
    first = json.loads(plan("-o", "json").stdout)["objects"]
    definition = next(one["manifest"] for one in first if one["manifest"]["kind"] == "CustomResourceDefinition")
    stored = {**definition, "status": {"storedVersions": ["v1alpha0"]}}
    stored["spec"] = {**definition["spec"], "versions": [
        *definition["spec"]["versions"], {**definition["spec"]["versions"][0], "name": "v1alpha0", "storage": False},
    ]}  # fmt: skip
    subscription = a_subscription("beacon", "here", source="local", channel="stable", startingCSV="beacon.v1.0.0")
    write_objects(tmp_path, subscription, an_operator_group("here", targets=("here",)), stored)
    result = plan()
    assert result.exit_code == NEGATIVE
    assert "removes version v1alpha0 that is listed as a stored version" in result.stdout
    assert "spec.versions" in result.stdout
    assert plan("-o", "markdown").stdout.startswith("### Blocked")


def installed(folder: Path, *, has_status: bool, **more: Json) -> list[Json]:
    """A namespace that has the first version; `has_status`: the objects say where they stand."""
    csv, *others = sorted(
        (one["manifest"] for one in json.loads(plan("-o", "json").stdout)["objects"]),
        key=lambda one: one["kind"] != "ClusterServiceVersion",
    )
    for one in others:
        if one["kind"] == "CustomResourceDefinition":
            one["status"] = {"storedVersions": ["v1alpha0"]}
            first = {**one["spec"]["versions"][0], "name": "v1alpha0", "storage": False}
            one["spec"] = {**one["spec"], "versions": [*one["spec"]["versions"], first]}
    status = {"installedCSV": "beacon.v1.0.0", "currentCSV": "beacon.v1.0.0", "state": "AtLatestKnown"}
    subscription = a_subscription("beacon", "here", source="local", channel="stable", **more)
    there = {**csv, "status": {"phase": "Succeeded"}} if has_status else csv
    found = [
        subscription | ({"status": status} if has_status else {}),
        an_operator_group("here", targets=("here",)),
        there,
    ]
    write_objects(folder, *found, *others)
    return [*found, *others]


@pytest.mark.parametrize("has_status", [True, False], ids=["phases told", "phases not told"])
def test_what_files_hold_counts_whether_they_report_phases_or_not(tmp_path: Path, *, has_status: bool) -> None:
    installed(tmp_path, has_status=has_status)
    result = plan("-o", "json")
    assert result.exit_code == NEGATIVE
    assert "removes version v1alpha0 that is listed as a stored version" in result.stdout
    found = effects(result)
    assert found["CustomResourceDefinition beacons.samples.olmf.io"] == "change"
    assert found["ServiceAccount here/beacon-controller"] == "keep"
    assert found["ClusterServiceVersion here/beacon.v1.0.0"] == "remove"


def test_issue_15_1_5_a_capture_is_planned(tmp_path: Path) -> None:
    objects = installed(tmp_path, has_status=True)
    world = LivingWorld()
    world.add(an_object(NAMESPACE, "here"))
    made = ("Role", "RoleBinding", "Service", "OperatorCondition", "Deployment", "ClusterRole")
    kept = [one for one in objects if one["kind"] not in made]
    for one in kept:
        world.add(one)
    capture = world.save(tmp_path / "incident.tar.gz")
    words = ["plan", "-n", "here", "--from", str(capture), "--catalog", "olm/local=cat", "-o", "json"]
    result = CliRunner().invoke(app, words)
    assert result.exit_code == 0, "the API server of that world has stored nothing in the version that goes"
    reported, found = json.loads(result.stdout), effects(result)
    assert found["CustomResourceDefinition beacons.samples.olmf.io"] == "change"
    assert found["ServiceAccount here/beacon-controller"] == "keep"
    assert found["ClusterServiceVersion here/beacon.v1.0.0"] == "remove"
    assert any("the capture holds no object of this kind" in one for one in reported["remarks"])


def test_issue_15_1_5_manifests_that_stand_in_the_catalog_are_planned(tmp_path: Path) -> None:
    objects = {one["object"]: one["manifest"] for one in json.loads(plan("-o", "json").stdout)["objects"]}
    write_catalog(tmp_path, {"1.0.0": "", "1.1.0": ""})
    lines = (tmp_path / "cat" / "catalog.json").read_text().splitlines()
    documents = [json.loads(line) for line in lines]
    for one in documents:
        if one["schema"] == "olm.bundle":
            files = sorted((SAMPLES / "beacon" / one["name"].removeprefix("beacon.v") / "manifests").iterdir())
            locked = [json.dumps(document) for file in files for document in yaml.safe_load_all(file.read_text())]
            data = [base64.b64encode(text.encode()).decode() for text in locked]
            one["properties"] += [{"type": "olm.bundle.object", "value": {"data": text}} for text in data]
    (tmp_path / "cat" / "catalog.json").write_text("\n".join(map(json.dumps, documents)))
    result = plan("-o", "json")
    assert result.exit_code == 0, result.output
    assert {one["object"]: one["manifest"] for one in json.loads(result.stdout)["objects"]}.keys() == objects.keys()


def test_issue_15_1_5_whether_each_image_is_there(tmp_path: Path, registry: ScriptedRegistry) -> None:
    unknown = plan("--check-images", "-o", "json")
    assert unknown.exit_code == UNKNOWN, "the operator's image is at a name that nobody knows"
    assert any(one.startswith("image registry.invalid/") and "DNS" in one for one in unknown_of(unknown))
    there = copytree(SAMPLES / "beacon" / "1.0.0", tmp_path / "beacon" / "1.0.0")
    for path in (there / "manifests").iterdir():
        path.write_text(path.read_text().replace("registry.invalid/samples/beacon", f"{registry.address}/gone"))
    put(registry, there)
    missing = plan("--check-images", "-o", "json")
    assert missing.exit_code == NEGATIVE
    [blocker] = json.loads(missing.stdout)["blockers"]
    assert blocker.startswith(f"image {registry.address}/gone:1.0.0 cannot be pulled: NotFound")
    assert plan("-o", "json").exit_code == 0, "nobody is asked without the option"


def test_values_are_shown_but_those_of_secrets() -> None:
    fields = (Difference("data.a", "old|`value`", {"b": "x" * 200}),)
    change = Change(Effect.CHANGE, {"kind": "ConfigMap", "metadata": {"name": "c"}}, fields)
    report = Report((), (change,))
    assert as_text(report).startswith("Objects:")
    assert as_text(Report(("a -> b",), (change,))).startswith("a -> b\n\nObjects:")
    assert f'data.a: old|`value` -> {{"b":"{"x" * 73}…' in as_text(report)
    assert "`data.a: old\\|'value' -> " in as_markdown(report)
    assert as_value(report)["objects"][0]["fields"] == [
        {"path": "data.a", "before": "old|`value`", "after": {"b": "x" * 200}}
    ]
    secret = Report((), (replace(change, manifest={"kind": "Secret", "metadata": {"name": "c"}}),))
    assert "old" not in f"{as_text(secret)}{as_markdown(secret)}{as_value(secret)['objects'][0]['fields']}"
    assert as_value(secret)["objects"][0]["differs"] == ["data.a"]


def test_long_values_are_cut_so_that_what_differs_shows() -> None:
    before, after = f"{'a' * 200}old{'b' * 200}", f"{'a' * 200}new{'b' * 200}"
    change = Change(Effect.CHANGE, {"kind": "ConfigMap", "metadata": {"name": "c"}}, (Difference("x", before, after),))
    [line] = [line.strip() for line in as_text(Report((), (change,))).splitlines() if "x:" in line]
    assert line == f"x: …{'a' * 20}old{'b' * 55}… -> …{'a' * 20}new{'b' * 55}…"


@pytest.mark.parametrize("effect", Effect)
def test_no_value_holds_the_content_of_a_secret(effect: Effect) -> None:
    meta = {"name": "c", "annotations": {names.LAST_APPLIED: "hush", "a": "b"}}
    whole = {"apiVersion": "v1", "kind": "Secret", "metadata": meta, "data": {"a": "hush"}, "stringData": {"b": "hush"}}
    found = as_value(Report((), (Change(effect, whole),)))
    assert "hush" not in str(found)
    shown = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "c", "annotations": {"a": "b"}}}
    assert found["objects"][0]["manifest"] == shown


def unknown_of(result: Result) -> list[str]:
    remarks: list[str] = json.loads(result.stdout)["unknown"]
    return remarks


@pytest.mark.parametrize("image", ["", "oci:/etc", "127.0.0.1:1/none:1"])
def test_a_bundle_that_cannot_be_had_leaves_it_unknown(tmp_path: Path, image: str) -> None:
    write_catalog(tmp_path, {"1.0.0": image, "1.1.0": image})
    error = plan().exception
    assert isinstance(error, CliError)
    assert error.code == UNKNOWN


def test_a_bundle_by_digest_is_pulled_for_the_first_plan_only(tmp_path: Path, registry: ScriptedRegistry) -> None:
    write_catalog(
        tmp_path, {one: put(registry, SAMPLES / "beacon" / one, by_digest=True) for one in ("1.0.0", "1.1.0")}
    )
    first = plan("-o", "json")
    assert first.exit_code == 0, first.output
    registry.answers.clear()
    assert plan("-o", "json").stdout == first.stdout


def test_a_catalog_chooses_no_folder_of_this_machine(tmp_path: Path) -> None:
    copytree(SAMPLES / "beacon" / "1.0.0", tmp_path / "localhost" / "beacon:1.0.0")
    write_catalog(tmp_path, dict.fromkeys(("1.0.0", "1.1.0"), "localhost/beacon:1.0.0"))
    error = plan().exception
    assert isinstance(error, CliError)
    assert (error.code, "failed to pull" in str(error)) == (UNKNOWN, True)


def test_a_disk_that_is_full_is_reported_of_the_image(monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("shared.adapters.images.unpacked", full)
    with pytest.raises(CliError, match=r"localhost/a:1: no space left on device"):
        files_of(Reference.parse("localhost/a:1"))
