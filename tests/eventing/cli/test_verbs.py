"""Each verb on a running sandbox: what it prints, its exit code, and its sentence when the answer is no."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from shared.api.views import CatalogSource
from shared.kinds import CATALOG_SOURCE, CLUSTER_SERVICE_VERSION, NAMESPACE, OPERATOR_GROUP, SUBSCRIPTION
from shared.names import VERSION
from tests.kit.installation import SAMPLES, Installation, installed, olmf
from tests.kit.waiting import wait_for


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("verbs")
    bundles = folder / "bundles"
    with installed(folder / "state", "--bundles", str(SAMPLES), "--bundles", str(bundles_of_lodge(bundles))) as found:
        ready = "READY"
        found.until(
            CATALOG_SOURCE.ref("local", "olm"),
            lambda each: (each.get("status") or {}).get("connectionState", {}).get("lastObservedState") == ready,
        )
        yield found


def bundles_of_lodge(folder: Path) -> Path:
    """A package like `tide` that can watch its own namespace only."""
    source = SAMPLES / "tide" / "1.0.0"
    for path in source.rglob("*.yaml"):
        place = folder / "lodge" / "1.0.0" / path.relative_to(source)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(path.read_text().replace("tide", "lodge"))
    place = folder / "lodge" / "1.0.0" / "manifests" / "tide.clusterserviceversion.yaml"
    csv = yaml.safe_load(place.read_text())
    for link in ("replaces", "skips"):
        csv["spec"].pop(link, None)
    for mode in csv["spec"]["installModes"]:
        mode["supported"] = mode["type"] == "OwnNamespace"
    place.write_text(yaml.safe_dump(csv))
    return folder


def rows(sandbox: Installation, *words: str) -> Any:
    return json.loads(sandbox.olmf(*words, "-o", "json").stdout)


def refused(done: subprocess.CompletedProcess[str], code: int, sentence: str) -> None:
    """The exit code, and one sentence on stderr: no traceback."""
    assert done.returncode == code, done.stderr
    assert sentence in done.stderr
    assert "Traceback" not in done.stderr


def test_help_names_every_verb_and_imports_little() -> None:
    script = "import sys; sys.argv = ['olmf', '--help']; from eventing.cli.main import main\ntry: main()\nexcept SystemExit: pass\nprint(sorted({m.partition('.')[0] for m in sys.modules}))"  # noqa: E501  # why: one script
    output = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    for verb in ("up", "down", "status", "demo", "install", "why", "capture", "replay", "events", "queue", "run"):
        assert f"\n  {verb} " in output
    loaded = set(json.loads(output.splitlines()[-1].replace("'", '"')))
    assert not loaded & {
        "pydantic", "aiohttp", "redis", "rq", "urllib3", "rich", "msgspec", "yaml", "structlog",
        "semver", "grpc", "prometheus_client",
    }  # fmt: skip


def test_status_names_addresses_and_processes(sandbox: Installation) -> None:
    answer = sandbox.status()
    assert {"kubeconfig", "endpoint", "redis", "registry", "state", "processes"} <= answer.keys()
    assert {process["name"] for process in answer["processes"]} == {
        "redis", "api", "content", "catalogs", "worker", "worker-long-1", "worker-long-2", "endpoint", "scheduler",
        "watch", "kubelet",
    }  # fmt: skip
    assert all(process["pid"] for process in answer["processes"])
    wait_for(lambda: all(process["healthy"] for process in sandbox.status()["processes"]), "health of every process")


def test_the_catalog_offers_channels_and_their_heads(sandbox: Installation) -> None:
    listed = rows(sandbox, "list", "--available")
    offered = {(row["package"], row["channel"], row["default"], row["version"]) for row in listed}
    assert {("tide", "stable", True, "tide.v1.0.0"), ("beacon", "fast", False, "beacon.v1.1.0")} <= offered
    assert " stable (default) " in sandbox.olmf("list", "--available").stdout


def test_an_empty_list_reports_it(sandbox: Installation) -> None:
    assert sandbox.olmf("list", "-n", "operators").stdout == "nothing installed yet\n"


@pytest.mark.parametrize("words", [["queue", "ls"], ["events", "list"], ["list", "-A"]])
def test_the_kubeconfig_of_a_sandbox_is_enough(sandbox: Installation, words: list[str]) -> None:
    kubeconfig = str(sandbox.state / "kubeconfig")
    assert olmf(*words, "--kubeconfig", kubeconfig).stdout
    assert olmf(*words, environ={"KUBECONFIG": kubeconfig}).stdout


def test_a_copied_kubeconfig_leads_to_its_installation(sandbox: Installation, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    config = yaml.safe_load((sandbox.state / "kubeconfig").read_text())
    config["contexts"][0]["context"]["namespace"] = "team-a"
    copy.write_text(yaml.safe_dump(config))
    assert olmf("queue", "ls", "--kubeconfig", str(copy)).stdout
    assert olmf("queue", "ls", "--kubeconfig", str(copy), "--state", str(sandbox.state)).stdout
    done = olmf("queue", "ls", "--kubeconfig", str(copy), "--state", str(tmp_path), check=False)
    refused(done, 2, f"--state {tmp_path}: nothing that runs there works on the cluster of {copy}")
    for words in (["why"], ["explain"]):
        refused(olmf(*words, "--kubeconfig", str(copy), check=False), 1, "there is no namespace team-a")
    done = olmf("hold", "tide", check=False, environ={"KUBECONFIG": str(copy)})
    refused(done, 1, "nothing subscribes to 'tide' in team-a; `olmf list` shows")


def test_the_status_of_a_sandbox_is_found_by_its_kubeconfig(sandbox: Installation) -> None:
    kubeconfig = str(sandbox.state / "kubeconfig")
    for words, environ in ((["--kubeconfig", kubeconfig], {}), ([], {"KUBECONFIG": kubeconfig})):
        done = olmf("status", *words, check=False, environ=environ)  # 1 when a probe is late: the machine may be busy
        assert done.stdout.startswith(f"state       {sandbox.state}\n")


def test_where_redis_is_must_be_known(tmp_path: Path) -> None:
    kubeconfig = tmp_path / "kubeconfig"
    kubeconfig.write_text("{}")
    environ = {"REDIS_URL": "", "OLMF_REDIS_URL": ""}
    done = olmf("queue", "ls", "--kubeconfig", str(kubeconfig), check=False, environ=environ)
    refused(done, 3, "Name its state directory with --state; or set REDIS_URL")
    refused(olmf("status", "--kubeconfig", str(kubeconfig), check=False), 1, "name its --state")


def test_install_hold_list_and_uninstall(sandbox: Installation) -> None:
    output = sandbox.olmf("install", "tide", "-n", "one").stdout
    assert output.startswith(
        "made Namespace one\nmade OperatorGroup one for all namespaces: what is installed here works in"
    )
    assert output.splitlines()[-1] == "tide: tide.v1.0.0 Succeeded"
    sandbox.olmf("hold", "tide", "-n", "one", "--reason", "freeze until Monday")
    (row,) = rows(sandbox, "list", "-n", "one")
    assert (row["subscription"], row["package"]) == ("tide", "tide")
    assert (row["version"], row["phase"], row["message"]) == ("tide.v1.0.0", "Succeeded", "held: freeze until Monday")
    assert sandbox.olmf("explain", "-n", "one").stderr == f"# installation in {sandbox.state}\n", "once"
    assert "released" in sandbox.olmf("hold", "tide", "-n", "one", "--release").stdout
    sandbox.cluster.delete(OPERATOR_GROUP.ref("one", "one"))
    again = sandbox.olmf("install", "tide", "-n", "one", "--channel", "stable", "--source", "olm/local").stdout
    assert again.startswith("tide is already subscribed in one\nmade OperatorGroup one for all namespaces: ")
    other = sandbox.olmf(
        "install", "tide", "-n", "one", "--channel", "beta", "--starting-csv", "tide.v0.1.0", check=False
    )
    refused(
        other, 1, "already subscribed in one; --channel: the Subscription says stable, --starting-csv: the Subscrip"
    )
    assert "; tide has no channel 'beta' in catalog olm/local; its channels: stable" in other.stderr
    refused(
        sandbox.olmf("install", "tide", "-n", "one", "--manual", check=False), 1, "--manual: the Subscription says A"
    )
    gone = sandbox.olmf("uninstall", "tide", "-n", "one").stdout
    assert "deleted ClusterServiceVersion tide.v1.0.0" in gone
    assert "OperatorGroup one, which was made for tide, stays" in gone
    assert sandbox.cluster.get(CLUSTER_SERVICE_VERSION.ref("tide.v1.0.0", "one")) is None
    refused(sandbox.olmf("uninstall", "tide", "-n", "one", check=False), 1, "nothing subscribes to 'tide' in one")


def test_an_operator_that_cannot_watch_all_namespaces_gets_a_group_for_its_own(sandbox: Installation) -> None:
    output = sandbox.olmf("install", "lodge", "-n", "inn").stdout
    assert "made OperatorGroup inn for this namespace only" in output
    assert output.splitlines()[-1] == "lodge: lodge.v1.0.0 Succeeded"
    group = sandbox.cluster.get(OPERATOR_GROUP.ref("inn", "inn"))
    assert group is not None
    assert group["spec"]["targetNamespaces"] == ["inn"]
    sandbox.olmf("uninstall", "lodge", "-n", "inn")


def test_a_manual_plan_waits_and_upgrade_goes_to_the_newest(sandbox: Installation) -> None:
    output = sandbox.olmf("install", "beacon", "-n", "two", "--manual").stdout
    here = f"-n two --state {sandbox.state}"
    assert output.splitlines()[-1] == f"beacon: waits for approval; `olmf approve beacon {here}` approves it"
    other = sandbox.olmf("install", "beacon", "-n", "two", "--channel", "fast", check=False)
    refused(other, 1, f"; `olmf upgrade beacon --channel fast {here}` switches the channel")
    refused(sandbox.olmf("explain", "nope", "-n", "two", check=False), 1, "nope: no such Subscription in namespace two")
    sub = sandbox.cluster.get(SUBSCRIPTION.ref("beacon", "two"))
    assert sub is not None
    plan = sub["status"]["installPlanRef"]["name"]
    approve = f"fix: approve {plan}: `olmf approve {plan} {here}`"
    sandbox.until(
        SUBSCRIPTION.ref("beacon", "two"),
        lambda each: any(one.get("reason") == "RequiresApproval" for one in each["status"].get("conditions") or ()),
    )
    output = sandbox.olmf("why", "sub/beacon", "-n", "two").stdout
    assert "status: beacon.v1.0.0 is InstallPlanPending: RequiresApproval" in output
    assert approve in output
    output = sandbox.olmf("why", "-n", "two").stdout
    assert output.startswith("Namespace two: 1 Subscription, 1 waiting\n")
    assert approve in output
    assert rows(sandbox, "why", "-n", "two")["waiting"][0]["subscription"] == "beacon"
    assert "beacon.v1.0.0: unpacked" in sandbox.olmf("why", "csv/beacon.v1.0.0", "-n", "two").stdout, (
        "it is not there yet"
    )
    reported = json.loads(sandbox.olmf("why", "sub/beacon", "-n", "two", "-o", "json").stdout)
    package = reported["package"]
    assert (package["code"], package["plan"], package["reason"]) == ("ApprovalNeeded", plan, "RequiresApproval")
    assert package["fixes"] == [{"what": f"approve {plan}", "do": f"olmf approve {plan} {here}"}]
    assert package["since"]
    for verb in ("list", "explain"):
        (other,) = rows(sandbox, verb, "-n", "two") if verb == "list" else rows(sandbox, verb, "-n", "two")["packages"]
        assert other == package, f"{verb} says the same as why"
    assert (
        f"approved {sub['status']['installPlanRef']['name']}" in sandbox.olmf("approve", "beacon", "-n", "two").stdout
    )
    assert f"{plan} was approved before" in sandbox.olmf("approve", plan, "-n", "two").stdout
    output = sandbox.olmf("upgrade", "beacon", "-n", "two", "--channel", "fast").stdout
    assert output.splitlines()[-1] == "beacon: beacon.v1.1.0 Succeeded"
    refused(sandbox.olmf("approve", "nothing", "-n", "two", check=False), 1, "no package 'nothing' in two")
    refused(sandbox.olmf("approve", "beacon", "-n", "two", check=False), 1, "no plan of beacon waits for approval")
    sandbox.olmf("uninstall", "beacon", "-n", "two")


def test_upgrade_does_not_take_what_stands_for_what_was_asked(sandbox: Installation) -> None:
    sandbox.olmf("install", "tide", "-n", "five")
    sandbox.olmf("hold", "tide", "-n", "five", "--reason", "freeze")
    refused(sandbox.olmf("upgrade", "tide", "-n", "five", check=False), 1, "held at tide.v1.0.0: freeze")
    sandbox.olmf("hold", "tide", "-n", "five", "--release")
    done = sandbox.olmf("upgrade", "tide", "-n", "five", "--channel", "nochan", check=False)
    refused(done, 1, "tide has no channel 'nochan' in the catalog; its channels: stable")
    sub = sandbox.cluster.get(SUBSCRIPTION.ref("tide", "five"))
    assert sub is not None
    assert sub["spec"]["channel"] == "stable", "what cannot be is not written"
    sandbox.olmf("uninstall", "tide", "-n", "five")


def test_a_pin_keeps_a_version_and_names_what_is_newer(sandbox: Installation) -> None:
    sandbox.olmf("install", "beacon", "-n", "nine")
    pin = SUBSCRIPTION.ref("beacon", "nine")
    sandbox.cluster.merge(pin, {"metadata": {"annotations": {VERSION: "1.0.0"}}})
    done = sandbox.olmf("upgrade", "beacon", "-n", "nine", "--channel", "fast", check=False)
    refused(done, 1, "beacon stays at beacon.v1.0.0: pinned to 1.0.0; beacon.v1.1.0 is there; `kubectl ")
    kubectl = f"kubectl -n nine annotate subscription beacon {VERSION}- --kubeconfig {sandbox.state}/kubeconfig"
    assert f"`{kubectl}` lets it go" in done.stderr
    (row,) = rows(sandbox, "list", "-n", "nine")
    assert (row["phase"], row["message"]) == ("Succeeded", "pinned to 1.0.0; beacon.v1.1.0 is there")
    assert "pinned to 1.0.0; beacon.v1.1.0 is there" in sandbox.olmf("why", "-n", "nine").stdout
    sandbox.cluster.merge(pin, {"metadata": {"annotations": {VERSION: None}}})
    output = sandbox.olmf("upgrade", "beacon", "-n", "nine", "--channel", "fast").stdout
    assert output.splitlines()[-1] == "beacon: beacon.v1.1.0 Succeeded"
    sandbox.olmf("uninstall", "beacon", "-n", "nine")


def test_install_looks_first_whether_there_is_such_a_package(sandbox: Installation) -> None:
    refused(sandbox.olmf("install", "tidee", "-n", "eight", check=False), 1, "no package 'tidee'; similar: tide")
    done = sandbox.olmf("install", "tide", "-n", "eight", "--channel", "nochan", check=False)
    refused(done, 1, "tide has no channel 'nochan' in catalog olm/local; its channels: stable")
    done = sandbox.olmf("install", "tide", "-n", "eight", "--source", "nope", check=False)
    refused(done, 1, "no CatalogSource eight/nope; there are: olm/l")
    assert sandbox.cluster.get(NAMESPACE.ref("eight")) is None, "nothing is made"


def test_install_reports_what_it_waits_for_and_what_it_left(sandbox: Installation) -> None:
    place = {"name": "later", "namespace": "olm"}
    spec = {"sourceType": "grpc", "image": "127.0.0.1:9/later:1"}
    later = {"apiVersion": CATALOG_SOURCE.api_version, "kind": "CatalogSource", "metadata": place, "spec": spec}
    sandbox.apply(later)
    words = ["install", "atlantis", "-n", "three", "--source", "olm/later", "--timeout", "4"]
    done = sandbox.olmf(*words, check=False)
    refused(done, 1, f"`olmf why Subscription/atlantis -n three --state {sandbox.state}` shows more")
    assert "it made Namespace three, OperatorGroup three for all namespaces, Subscription atlantis" in done.stderr
    assert f"`olmf uninstall atlantis -n three --state {sandbox.state}` takes the Subscription away" in done.stderr
    refused(sandbox.olmf("versions", "atlantis", check=False), 3, "; some were not read yet: olm/later")
    sandbox.cluster.delete(CATALOG_SOURCE.ref("later", "olm"))
    refused(sandbox.olmf("versions", "atlantis", check=False), 1, "no catalog that default sees has package atlantis")
    sandbox.cluster.merge(
        SUBSCRIPTION.ref("atlantis", "three"), {"spec": {"source": "local", "sourceNamespace": "olm"}}
    )
    wait_for(
        lambda: "no operators found in package atlantis" in sandbox.olmf("why", "sub/atlantis", "-n", "three").stdout,
        "the refusal",
    )
    output = sandbox.olmf("why", "sub/atlantis", "-n", "three").stdout
    assert "      waits since " in output
    assert "next try: " in output
    again = sandbox.olmf("install", "atlantis", "-n", "three", "--timeout", "100", check=False)
    refused(again, 1, "no operators found in package atlantis")
    assert "no operators found" not in again.stdout, "it is told once"
    assert "is not ready after" not in again.stderr


def test_the_catalog_that_answers_is_one_that_the_namespace_sees(sandbox: Installation) -> None:
    sandbox.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "team"}})
    ref = CATALOG_SOURCE.ref("mirror", "team")
    spec = (sandbox.cluster.get(CATALOG_SOURCE.ref("local", "olm")) or {})["spec"]
    place = {"name": ref.name, "namespace": ref.namespace}
    sandbox.apply({"apiVersion": ref.api_version, "kind": ref.kind, "metadata": place, "spec": spec})
    sandbox.until(ref, lambda each: bool(CatalogSource(each).content))
    assert "# from catalog olm/local\n" in sandbox.olmf("versions", "tide").stderr
    done = sandbox.olmf("versions", "tide", "-n", "team")
    assert "# from catalog olm/local (also in team/mirror; --source chooses)\n" in done.stderr
    found = rows(sandbox, "versions", "tide", "-n", "team", "--source", "mirror")
    assert {row["catalog"] for row in found} == {"team/mirror"}
    refused(sandbox.olmf("versions", "tide", "--source", "team/mirror", check=False), 1, "that default sees")
    assert sandbox.olmf("install", "tide", "-n", "elsewhere", "--timeout", "0").stdout.endswith("to olm/local\n")
    refused(sandbox.olmf("install", "tide", "-n", "team", check=False), 1, "all offer 'tide'; choose one with --source")
    sandbox.olmf("uninstall", "tide", "-n", "elsewhere")
    sandbox.cluster.delete(ref)


def test_why_events_queue_capture_and_replay(sandbox: Installation, tmp_path: Path) -> None:
    sandbox.olmf("install", "tide", "-n", "four")
    tree = sandbox.olmf("why", "Deployment/tide-controller", "-n", "four").stdout
    assert "cluster_service_version/install_operator" in tree
    made = "Namespace four|OperatorGroup four/four|Subscription four/tide"  # whichever was reported first
    assert re.search(rf"({made}) \(from outside\)", tree)
    assert rows(sandbox, "why", "csv/tide.v1.0.0", "-n", "four")
    assert "/Subscription/four/tide\n" in sandbox.olmf("why", "tide", "-n", "four").stdout
    assert "sent io.olmf.resync.requested" in sandbox.olmf("events", "send", "sub/tide", "-n", "four").stdout
    wait_for(lambda: any("resolve_subscriptions" in row["what"] for row in rows(sandbox, "events", "list")))
    assert rows(sandbox, "queue", "dead") == []
    assert sandbox.olmf("queue", "ls").stdout.startswith("STATE")
    assert sandbox.olmf("queue", "retry").stdout == "released 0\n"
    refused(sandbox.olmf("queue", "cancel", "catsrc/local", "-n", "olm", check=False), 1, "no long run about")
    file = tmp_path / "capture.tar.gz"
    sandbox.olmf("capture", "-o", str(file))
    assert " 0 different" in olmf("replay", str(file)).stdout
    sandbox.olmf("uninstall", "tide", "-n", "four")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        pytest.param(["why", "-n", "nowhere"], 1, "there is no namespace nowhere", id="an empty namespace"),
        pytest.param(["explain", "-n", "nowhere"], 1, "there is no namespace nowhere", id="nothing to explain"),
        pytest.param(["resolve", "-n", "nowhere"], 1, "there is no namespace nowhere", id="nothing to resolve"),
        pytest.param(["explain"], 1, "no Subscription in default", id="explain what?"),
        pytest.param(["resolve"], 1, "no Subscription in default", id="resolve which namespace?"),
        pytest.param(["explain", "--from", "."], 2, "--from .: name the catalogs, too", id="explain without a catalog"),
        pytest.param(["install", "tide", "-n", "Bad_NS"], 2, "-n Bad_NS: no Namespace", id="no name of a Namespace"),
        pytest.param(["install", "tide", "--timeout", "-5"], 2, "--timeout", id="a time before now"),
        pytest.param(["why", "Subscription/"], 2, "wanted KIND/NAME", id="no name"),
        pytest.param(["why", "sub/ghost", "-n", "olm"], 1, "ghost does not exist", id="an object that is not there"),
        pytest.param(["why", "dragon/x"], 2, "no such kind here", id="an unknown kind"),
        pytest.param(["list", "-o", "xml"], 2, "wanted table, json or yaml", id="an unknown format"),
        pytest.param(
            ["events", "send", "ns/x", "--endpoint", "http://127.0.0.1:9"], 3, "127.0.0.1:9", id="no endpoint"
        ),
        pytest.param(["list", "--available", "-n", "x"], 2, "leave out -n x", id="what is offered in one namespace"),
        pytest.param(["why", "sub/ghost"], 1, "default/ghost does not exist", id="an object that is elsewhere"),
        pytest.param(["list", "-n", "operator"], 1, "no namespace operator; similar", id="no such namespace"),
        pytest.param(["list", "-A", "-n", "olm"], 2, "exclude each other", id="all namespaces and one"),
        pytest.param(["hold", "tide", "--reason", ""], 2, "give a reason", id="a hold without a reason"),
        pytest.param(["upgrade", "nothing"], 1, "nothing subscribes to 'nothing'", id="nothing to upgrade"),
    ],
)
def test_a_wrong_request_is_refused(sandbox: Installation, words: list[str], code: int, sentence: str) -> None:
    refused(sandbox.olmf(*words, check=False), code, sentence)


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        pytest.param(["status"], 1, "nothing runs in", id="status"),
        pytest.param(["down"], 1, "nothing runs in", id="down"),
        pytest.param(["list"], 3, "nothing runs in", id="list"),
        pytest.param(["queue", "ls"], 3, "nothing runs in", id="queue"),
    ],
)
def test_where_nothing_runs(tmp_path: Path, words: list[str], code: int, sentence: str) -> None:
    refused(olmf(*words, "--state", str(tmp_path), check=False), code, sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(["replay", "nowhere.tar"], "nowhere.tar: no such file", id="no file"),
        pytest.param(["replay", "x", "--perturb", "drop"], "give --world, too", id="perturb without a world"),
        pytest.param(["replay", "x", "--world", "--step"], "choose decisions", id="a world in steps"),
        pytest.param(["replay", "x", "--only", "nostep"], "subscription/resolve_subscriptions", id="no such step"),
        pytest.param(["capture", "-o", "/nodir/x.tar"], "no such folder /nodir", id="nowhere to write"),
        pytest.param(["capture", "-o", "/"], "-o /: this is a folder", id="a folder to write"),
        pytest.param(["capture", "-o", "x", "--journal", "/nodir"], "'/nodir' does not exist", id="no journal"),
        pytest.param(["capture", "-o", "x", "--since", "-1"], "--since", id="since a time to come"),
        pytest.param(["replay", "x", "--seed", "1"], "only matter with --perturb", id="a seed of nothing"),
        pytest.param(["replay", "x", "--world", "--perturb", "burn"], "wanted one of drop", id="an unknown harm"),
        pytest.param(["replay", "x", "--code", ".", "--step"], "for the code of today", id="other code in steps"),
        pytest.param(["queue", "retry", "--step", "x"], "--step x: no such step", id="letters of no step"),
        pytest.param(["resolve", "--batch", "-n", "x"], "--batch all but --isolation", id="a namespace twice"),
        pytest.param(["list", "--state", __file__], "is a file", id="a state that is no folder"),
        pytest.param(["graph"], "olmf graph --flow", id="graph of nothing"),
    ],
)
def test_offline_verbs_refuse_with_a_sentence(words: list[str], sentence: str) -> None:
    refused(olmf(*words, check=False), 2, sentence)


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        pytest.param(["extension", "resolve", "-f", "nope.yaml", "--catalog", "x"], "nope.yaml: No", id="no manifest"),
        pytest.param(["bundle", "build", str(SAMPLES / "tide/1.0.0"), "-t", "BAD NAME"], "is not an", id="no image"),
    ],
)
def test_what_cannot_be_meant_is_a_wrong_command(words: list[str], sentence: str) -> None:
    refused(olmf(*words, check=False), 2, sentence)


@pytest.mark.parametrize("words", [["semver", "compare", "1.0.0", "2.0.0"], ["versions", "-h"]], ids=" ".join)
def test_an_answer_that_cannot_be_written_reports_it(words: list[str]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "eventing.cli.main", *words]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (done.returncode, done.stderr) == (3, "olmf: the answer could not be written: no space left on device\n")


def test_who_has_read_enough_learns_nothing() -> None:
    read, write = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "eventing.cli.main", "semver", "compare", "1.0.0", "2.0.0"]
    done = subprocess.run(command, stdout=write, stderr=subprocess.PIPE, text=True, check=False)
    os.close(write)
    assert (done.returncode, done.stderr) == (1, "")


@pytest.mark.parametrize("closed", [">&-", "2>&-"], ids=["stdout", "stderr"])
def test_a_stream_that_the_caller_closed_is_no_error(closed: str) -> None:
    command = f"{sys.executable} -m eventing.cli.main graph --flow {closed}"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_closed_stdin_is_empty() -> None:
    command = f"{sys.executable} -m eventing.cli.main semver match --batch <&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_a_terminal_that_lacks_a_letter_shows_its_code(tmp_path: Path) -> None:
    def output(verb: str) -> bytes:
        command = [sys.executable, "-m", "eventing.cli.main", "catalog", verb, str(tmp_path)]
        return subprocess.run(command, capture_output=True, env={**os.environ, "PYTHONIOENCODING": "ascii"}).stdout

    (tmp_path / "catalog.yaml").write_text("{schema: olm.package, name: tide, defaultChannel: größe}")
    assert "größe".encode() in output("render"), "documents are always UTF-8"
    (tmp_path / "catalog.yaml").write_text("{schema: olm.channel, package: tide, name: größe, entries: []}")
    assert rb"gr\xf6\xdfe" in output("graph")


def test_ctrl_c_before_anything_is_imported_ends_in_silence() -> None:
    script = (
        "import sys\nclass Interrupted:\n  def find_spec(self, name, *_):\n"
        "    if name == 'eventing.cli.main': raise KeyboardInterrupt\n"
        "sys.meta_path.insert(0, Interrupted())\nfrom eventing.cli.entry import main\nmain()"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (130, "")


def test_the_version_is_reported() -> None:
    assert re.fullmatch(r"olmf \d+\.\d+\.\d+\n", olmf("--version").stdout)


def test_what_the_world_refuses_is_reported_in_a_sentence(tmp_path: Path) -> None:
    broken = tmp_path / "kubeconfig"
    broken.write_text("{}")
    refused(olmf("list", "--kubeconfig", str(broken), check=False), 2, f"kubeconfig {broken}: no current-context; ")
    broken.write_text(
        "{clusters: [{name: c, cluster: {server: 'http://127.0.0.1:9'}}], contexts: [{name: x, context: {cluster: c}}],"
        " current-context: x}"
    )
    refused(olmf("list", "--kubeconfig", str(broken), check=False), 3, "olmf: the API server does not answer: http://1")
    broken.write_text("a: [")
    refused(olmf("list", "--kubeconfig", str(broken), check=False), 2, f"kubeconfig {broken}: ")
    refused(olmf("up", "--state", str(tmp_path / "s"), "--kubeconfig", str(broken), check=False), 2, str(broken))
    away = {"REDIS_URL": "redis://127.0.0.1:9/0"}
    words = ["queue", "ls", "--kubeconfig", str(broken)]
    refused(olmf(*words, check=False, environ=away), 3, "Redis does not answer")
    nowhere = {"REDIS_URL": "nonsense://x"}
    refused(olmf(*words, check=False, environ=nowhere), 2, "olmf: OLMF_REDIS_URL or REDIS_URL: Redis URL must")
    for program in ("scheduler", "worker"):
        refused(olmf("run", program, check=False), 2, "olmf: no Redis: set OLMF_REDIS_URL")
    refused(olmf("run", "worker", check=False, environ=away), 2, "olmf: no cluster: ")
