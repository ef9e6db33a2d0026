"""The unpack objects, which Job counts, and what its state means."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from shared import names
from shared.api.manifest import Manifest, labels_of, metadata, name_of
from shared.api.views import ConfigMap, Job, OperatorGroup, Pod
from shared.domain.bundle.inline import InlineBundle
from shared.domain.bundle.model import BadBundle
from shared.domain.catalog.model import Bundle
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, Chosen
from shared.domain.unpack import texts
from shared.domain.unpack.content import ANY
from shared.domain.unpack.objects import Unpacking
from shared.domain.unpack.registries import referred
from shared.domain.unpack.report import report
from shared.domain.unpack.result import (
    Broken,
    Missing,
    Prevented,
    Running,
    Stale,
    Unpacked,
    UnpackResult,
    describe,
    explained,
    judge,
    known,
    ranking,
    surplus,
    waiting,
)
from shared.domain.unpack.settings import NO_LIMITS, Settings, settings
from tests.functions.subscription.world import a_bundle, a_payload
from tests.kit.pod_security import against_restricted

NOW = datetime(2026, 1, 1, 12, tzinfo=UTC)
PATH = "registry/etcd@sha256:1"
HASH = sha256(PATH.encode()).hexdigest()[:-1]
LIMITS = Settings(timedelta(minutes=10))
DESIRED = Unpacking(PATH, CatalogKey("olm", "local"), ("pull",), "olm-functions:v1", LIMITS)


def a_job(
    name: str = HASH, *, minutes_ago: float = 0, condition: str = "", reason: str = "", desired: Unpacking = DESIRED
) -> Manifest:
    at = (NOW - timedelta(minutes=minutes_ago)).isoformat()
    job = desired.job(name)
    job["metadata"] |= {"creationTimestamp": at, "uid": f"uid-{name}"}
    if condition:
        declared = {"type": condition, "status": "True", "reason": reason, "message": "why", "lastTransitionTime": at}
        job["status"] = {"conditions": [declared], "completionTime": at}
    return job


def test_five_objects_of_one_name_are_made_in_order() -> None:
    """catalog.md 8.13.151: ConfigMap, Role, ServiceAccount, RoleBinding, Job, owned by the ConfigMap."""
    objects = DESIRED.objects(HASH)
    assert [one["kind"] for one in objects] == ["ConfigMap", "Role", "ServiceAccount", "RoleBinding", "Job"]
    assert {name_of(one) for one in objects} == {HASH}
    assert {labels_of(one)[names.MANAGED] for one in objects} == {"true"}
    owners = [metadata(one)["ownerReferences"][0] for one in objects]
    assert [(owner["kind"], owner["name"]) for owner in owners] == [("CatalogSource", "local")] + [
        ("ConfigMap", HASH)
    ] * 4
    assert not any(owner["controller"] or owner["blockOwnerDeletion"] for owner in owners)
    assert objects[1]["rules"] == [
        {"apiGroups": [""], "resources": ["configmaps"], "resourceNames": [HASH], "verbs": ["create", "get", "update"]}
    ]


def test_the_job_is_limited_and_labelled() -> None:
    """catalog.md 8.13.157: TTL 300, backoff 3, deadline = timeout, both labels; pull secrets and hardening."""
    job = DESIRED.job()
    assert (job["spec"]["ttlSecondsAfterFinished"], job["spec"]["backoffLimit"]) == (300, 3)
    assert job["spec"]["activeDeadlineSeconds"] == 600
    assert labels_of(job) == labels_of(job["spec"]["template"]) == {"olm.managed": "true", names.UNPACK_REF: HASH}
    pod = job["spec"]["template"]["spec"]
    assert pod["imagePullSecrets"] == [{"name": "pull"}]
    [container] = pod["containers"]
    assert container["command"] == [
        "olmf", "unpack", "--image", PATH, "--namespace", "olm", "--config-map", HASH,
    ]  # fmt: skip
    assert container["securityContext"]["readOnlyRootFilesystem"] is True


def test_the_pod_runs_anywhere_with_few_permissions() -> None:
    """catalog.md 5.1: node selector, tolerations, requests, security, whatever `grpcPodConfig` says."""
    pod = DESIRED.job()["spec"]["template"]["spec"]
    assert (pod["restartPolicy"], pod["serviceAccountName"]) == ("Never", HASH)
    assert pod["nodeSelector"] == {"kubernetes.io/os": "linux"}
    assert pod["securityContext"] == {
        "seccompProfile": {"type": "RuntimeDefault"}, "runAsNonRoot": True, "runAsUser": 1001,
    }  # fmt: skip
    tolerated = [(one["key"], one["operator"], one.get("value") or one.get("effect")) for one in pod["tolerations"]]
    assert tolerated == [
        *(("kubernetes.io/arch", "Equal", one) for one in ("amd64", "arm64", "ppc64le", "s390x")),
        ("node-role.kubernetes.io/master", "Exists", "NoSchedule"),
        ("node.kubernetes.io/unreachable", "Exists", "NoExecute"),
        ("node.kubernetes.io/not-ready", "Exists", "NoExecute"),
    ]
    assert [one.get("tolerationSeconds") for one in pod["tolerations"][-2:]] == [120, 120]
    [container] = pod["containers"]
    assert container["env"] == [{"name": "CONTAINER_IMAGE", "value": PATH}, *referred()]
    assert container["resources"] == {"requests": {"cpu": "10m", "memory": "50Mi"}}
    assert container["terminationMessagePolicy"] == "FallbackToLogsOnError"
    security = container["securityContext"]
    assert (security["allowPrivilegeEscalation"], security["capabilities"]) == (False, {"drop": ["ALL"]})


@pytest.mark.parametrize(
    "desired",
    [
        pytest.param(DESIRED, id="as user 1001, with a pull secret"),
        pytest.param(Unpacking(PATH, CatalogKey("olm", "local"), user=0), id="as the user that the cluster chooses"),
    ],
)
def test_the_pod_satisfies_the_pod_security_standard_restricted(desired: Unpacking) -> None:
    """catalog.md 5.1: our own namespace enforces it, and many others do."""
    assert against_restricted(desired.job()["spec"]["template"]["spec"]) == []


def test_a_namespace_chooses_the_user_where_none_is_set() -> None:
    pod = Unpacking(PATH, CatalogKey("olm", "local"), user=0).job()["spec"]["template"]["spec"]
    assert "runAsUser" not in pod["securityContext"]


CAUSES = "Common causes: Missing ICSP (ppc64le/s390x/arm64), auth failure, invalid image."
RETRY = "Job will retry until timeout (~10 min), then auto-cleanup and retry in ~5 min."
MANUAL = (
    "Manual retry: in the CatalogSource namespace, run `kubectl get jobs -l operatorframework.io/bundle-unpack-ref` "
    "and delete the specific failing job."
)


@pytest.mark.parametrize(
    ("reported", "want"),
    [
        pytest.param(
            texts.failed("DeadlineExceeded", "Job was active longer than specified deadline"),
            "Bundle unpacking failed - DeadlineExceeded: Job was active longer than specified deadline. "
            f"Auto-retry in ~5 min after job cleanup (TTL). {CAUSES} {MANUAL}",
            id="catalog.md 3.7 F: G1",
        ),
        pytest.param(
            texts.failed("R", "x. Common causes: y"),
            f"Bundle unpacking failed - R: x. Common causes: y. {texts.GUIDANCE_FAILED}",
            id="catalog.md 3.7 F: what a container says does not keep out G1",
        ),
        pytest.param(
            texts.failed("TooLarge", "x", has_job=False),
            "Bundle unpacking failed - TooLarge: x. It is tried again every minute.",
            id="without a Job nobody is told to delete one",
        ),
        pytest.param(
            texts.unpacking(cannot_pull=True), f"Bundle image pull failed. {CAUSES} {RETRY} {MANUAL}",
            id="catalog.md 3.7 F: G2",
        ),
        pytest.param(texts.unpacking(), "", id="catalog.md 3.7 F: no message otherwise"),
        pytest.param(texts.GUIDANCE_PENDING, f". {CAUSES} {RETRY} {MANUAL}", id="catalog.md 3.7 F: G3"),
    ],
)  # fmt: skip
def test_sentences_that_people_know(reported: str, want: str) -> None:
    assert reported == want


@pytest.mark.parametrize("word", ["ImagePullBackOff", "ErrImagePull", "manifest unknown", "unauthorized"])
def test_a_pod_that_cannot_pull_is_guided(word: str) -> None:
    """catalog.md 5.4 row 6: G3 is appended."""
    assert waiting(Running(Job(a_job())), [Pod(a_pod("Waiting", word))]).message.endswith(texts.GUIDANCE_PENDING)


def test_without_timeout_the_job_has_no_deadline() -> None:
    """catalog.md 5.2: 0 means no deadline."""
    assert "activeDeadlineSeconds" not in Unpacking(PATH, CatalogKey("olm", "local")).job()["spec"]


@pytest.mark.parametrize(
    ("jobs", "want"),
    [
        pytest.param([], Missing(HASH), id="catalog.md 5.3: no Job"),
        pytest.param([a_job()], Running(Job(a_job())), id="catalog.md 5.4 row 6: at work"),
        pytest.param(
            [a_job(condition="Failed", reason="DeadlineExceeded", minutes_ago=1)],
            Broken("DeadlineExceeded", "why", timedelta(minutes=4, seconds=1),
                   Job(a_job(condition="Failed", reason="DeadlineExceeded", minutes_ago=1)),
                   NOW - timedelta(minutes=1)),
            id="catalog.md 8.13.154: failed, tried again when the TTL is over",
        ),
        pytest.param(
            [a_job(condition="Failed", minutes_ago=6)],
            Stale(Job(a_job(condition="Failed", minutes_ago=6))),
            id="a failure that has lasted makes way, every time and not only the first",
        ),
        pytest.param(
            [a_job(desired=Unpacking(PATH, CatalogKey("olm", "local"), (), "olm-functions:v0", LIMITS))],
            Stale(Job(a_job(desired=Unpacking(PATH, CatalogKey("olm", "local"), (), "olm-functions:v0", LIMITS)))),
            id="catalog.md 8.13.166: made for another image of ours",
        ),
        pytest.param(
            [a_job(condition="Failed", minutes_ago=1), a_job("newer", minutes_ago=2)],
            Running(Job(a_job("newer", minutes_ago=2)), again_in=timedelta(seconds=15)),
            id="catalog.md 8.13.156: not failed before failed",
        ),
        pytest.param(
            [a_job(condition="Complete", minutes_ago=6)],
            Stale(Job(a_job(condition="Complete", minutes_ago=6))),
            id="catalog.md 8.13.164: completed without content is tried again later",
        ),
        pytest.param(
            [a_job(condition="Complete", minutes_ago=1)],
            Broken("EmptyBundle", f"unpack job {HASH} has completed, but ConfigMap {HASH} holds no manifests",
                   timedelta(minutes=4, seconds=1), Job(a_job(condition="Complete", minutes_ago=1)),
                   NOW - timedelta(minutes=1)),
            id="catalog.md 8.13.164: completed without content is told, not silent",
        ),
    ],
)  # fmt: skip
def test_which_job_counts(jobs: list[Manifest], want: UnpackResult) -> None:
    assert judge(DESIRED, Job.each(jobs), NOW) == want


def test_with_a_retry_interval_a_failed_job_gets_a_successor() -> None:
    """catalog.md 5.3.3: a fresh Job named by 58 characters and five more; elapsed must exceed the interval."""
    desired = Unpacking(PATH, CatalogKey("olm", "local"), limits=Settings(retry=timedelta(minutes=2)))
    young = judge(desired, [Job(a_job(condition="Failed", minutes_ago=1, desired=desired))], NOW)
    assert isinstance(young, Broken)
    assert young.again_in == timedelta(minutes=1, seconds=1)
    old = judge(desired, [Job(a_job(condition="Failed", minutes_ago=3, desired=desired))], NOW)
    assert isinstance(old, Missing)
    assert (old.job[:58], len(old.job)) == (HASH[:58], 63)


@pytest.mark.parametrize(
    ("retained", "want"),
    [
        pytest.param(2, ["f-2", "f-3"], id="catalog.md 8.13.156: two of five retained, the oldest stays"),
        pytest.param(1, ["f-1", "f-2", "f-3"], id="catalog.md 8.13.156: retention 1 keeps newest and oldest"),
        pytest.param(0, ["f-1", "f-2", "f-3", "f-4"], id="catalog.md 8.13.156: 0 deletes all but the latest"),
    ],
)
def test_surplus_jobs_are_deleted(retained: int, want: list[str]) -> None:
    jobs = [a_job(f"f-{age}", condition="Failed", minutes_ago=age) for age in (3, 0, 4, 1, 2)]
    assert [one.name for one in surplus(ranking(Job.each(jobs)), retained)] == want


def test_the_newest_that_has_not_failed_comes_first() -> None:
    """catalog.md 8.13.156: without conditions counts as not failed."""
    jobs = [a_job("old", minutes_ago=9), a_job("new", minutes_ago=1), a_job("failed", condition="Failed")]
    assert [one.name for one in ranking(Job.each(jobs))] == ["new", "old", "failed"]


def a_pod(reason: str, message: str) -> Manifest:
    status = {"name": "extract", "ready": False, "state": {"waiting": {"reason": reason, "message": message}}}
    return {
        "metadata": {"namespace": "olm", "name": "pod-1"},
        "status": {"phase": "Pending", "containerStatuses": [status]},
    }


def test_a_waiting_container_is_named() -> None:
    """catalog.md 8.13.153: pod, container, reason and message."""
    reported = waiting(Running(Job(a_job())), [Pod(a_pod("ErrImagePull", "manifest unknown"))])
    assert reported.message.startswith(
        "unpack job not completed: Unpack pod(olm/pod-1) container(extract) is pending. Reason: ErrImagePull, Message: "
        "manifest unknown. Common causes: Missing ICSP"
    )
    ready = {**a_pod("", ""), "status": {"phase": "Pending", "containerStatuses": [{"name": "c", "ready": True}]}}
    assert waiting(Running(Job(a_job())), [Pod(ready)]).message == "unpack job not completed"
    condition = report([reported]).condition
    assert condition is not None
    assert condition.message.startswith("Bundle image pull failed. Common causes:")


def test_a_filled_config_map_needs_no_job() -> None:
    config_map = DESIRED.config_map(a_payload(PATH, *a_bundle("etcd", "1.0.0")))
    assert known(DESIRED, ConfigMap(config_map)) == Unpacked(ConfigMap(config_map))
    other = DESIRED.config_map(a_payload("registry/other", *a_bundle("etcd", "1.0.0")))
    assert known(DESIRED, ConfigMap(other)) is None


UNPACKED, RUNNING = Unpacked(ConfigMap({})), Running(Job({}))


@pytest.mark.parametrize(
    ("verdicts", "want"),
    [
        pytest.param([UNPACKED, UNPACKED], ("", True), id="all are there"),
        pytest.param([UNPACKED, RUNNING], ("BundleUnpacking", False), id="catalog.md 8.7.73: one is at work"),
        pytest.param(
            [RUNNING, Broken("R", "m", timedelta(1))], ("BundleUnpackFailed", False),
            id="catalog.md 3.7 F: a failure beats what is at work",
        ),
        pytest.param([Prevented("m")], ("BundleUnpackFailed", False), id="nothing could be tried"),
        pytest.param([], ("", False), id="nothing to unpack"),
    ],
)  # fmt: skip
def test_several_bundles_make_one_condition(verdicts: list[UnpackResult], want: tuple[str, bool]) -> None:
    reported = report(verdicts)
    assert (reported.condition.type if reported.condition else "", reported.is_unpacked) == want


@pytest.mark.parametrize(
    ("job", "is_advised"),
    [pytest.param(Job({"metadata": {"name": "a"}}), True, id="a Job"), pytest.param(Job({}), False, id="a pull")],
)
def test_who_is_told_to_delete_a_job_has_one(job: Job, is_advised: bool) -> None:
    reported = report([Broken("R", "m", timedelta(1), job)])
    assert reported.condition is not None
    assert ("kubectl get jobs" in reported.condition.message) is is_advised


def test_what_prevents_unpacking_is_reported_before_what_failed_and_the_failed_is_tried_again() -> None:
    """catalog.md 3.7 F: an error beats a failure."""
    reported = report([Broken("R", "m", timedelta(1)), Prevented("bundle CSV a.v1 missing APIVersion")])
    assert reported.condition is not None
    assert (reported.condition.reason, reported.condition.message) == (
        "ErrorPreventedUnpacking", "bundle CSV a.v1 missing APIVersion",
    )  # fmt: skip
    assert reported.again_in == timedelta(1)


def a_group(**annotations: str) -> Manifest:
    keyed = {f"operatorframework.io/{key.replace('_', '-')}": value for key, value in annotations.items()}
    return {"metadata": {"name": "g", "annotations": keyed}}


@pytest.mark.parametrize(
    ("groups", "want"),
    [
        pytest.param([a_group()], LIMITS, id="catalog.md 8.13.155: absent, the setting counts"),
        pytest.param(
            [a_group(bundle_unpack_timeout="1m")], Settings(timedelta(minutes=1)), id="catalog.md 8.13.155: 1m"
        ),
        pytest.param([a_group(bundle_unpack_timeout="0")], Settings(timedelta()), id="catalog.md 5.2: no deadline"),
        pytest.param([a_group(bundle_unpack_timeout="-1m")], LIMITS, id="catalog.md 5.2: negative is ignored"),
        pytest.param([], Settings(LIMITS.timeout, problem="found 0 operatorGroups, expected 1"), id="8.13.155: none"),
        pytest.param([a_group()] * 2, Settings(LIMITS.timeout, problem="found 2 operatorGroups, expected 1"), id="two"),
    ],
)
def test_settings_of_the_namespace(groups: list[Manifest], want: Settings) -> None:
    assert settings(OperatorGroup.each(groups), LIMITS.timeout) == want


def test_a_failed_job_is_reported_with_the_last_words_of_its_containers() -> None:
    """A Job says only how often it failed; OLM leaves it at that."""

    def a_failed_pod(*messages: str) -> Manifest:
        ended = [{"name": "extract", "state": {"terminated": {"message": message}}} for message in messages]
        return {"status": {"phase": "Failed", "containerStatuses": [*ended, {"name": "other", "state": {}}]}}

    broken = Broken("BackoffLimitExceeded", "too often: 404", timedelta(1))
    pods = [a_failed_pod("no such image\n", ""), a_failed_pod("no such image"), a_failed_pod("404"), {}]
    assert explained(broken, Pod.each(pods)).message == "too often: 404: no such image"
    assert explained(broken, []) == broken


@pytest.mark.parametrize(
    ("result", "want"),
    [
        (UNPACKED, "unpacked"),
        (Missing("h"), "Job h is made"),
        (Running(Job(a_job("h"))), "Job h is at work"),
        (Stale(Job(a_job("h"))), "Job h is made anew"),
        (Broken("TooLarge", "m", timedelta(1)), "failed, TooLarge"),
        (Prevented("m"), "prevented"),
    ],
)
def test_a_verdict_in_a_word_or_two(result: UnpackResult, want: str) -> None:
    assert describe(result) == want


def test_the_content_of_a_bundle_inside_of_its_catalog() -> None:
    inline = InlineBundle("etcd", "etcd.v1", "configmap://olm/kitchen@sha256:1")
    found = inline.payload(['{"kind": "ClusterServiceVersion"}'])
    assert not isinstance(found, BadBundle)
    assert (found["annotations"]["olm.sourceImage"], [*found["binaryData"]]) == (str(inline), ["0000.json"])
    empty = inline.payload(())
    assert isinstance(empty, BadBundle)
    assert "neither an image nor manifests" in empty.message


def test_a_bundle_inside_of_its_catalog_has_no_image_and_needs_no_job() -> None:
    """catalog.md 3.7: it is named after its place in the catalog, whose content the reference names."""
    catalog = Catalog(CatalogKey("olm", "local"), reference="configmap://olm/kitchen@sha256:1")
    chosen = Chosen(Bundle("etcd.v1", "1.0.0", ""), "etcd", "stable", catalog, "", ())
    desired = Unpacking.of(chosen, ANY, NO_LIMITS, "", global_namespace="olm", user=1001)
    assert (desired.path, desired.is_inline) == ("catalog:etcd/etcd.v1@configmap://olm/kitchen@sha256:1", True)
    assert InlineBundle.parse(desired.path) == InlineBundle("etcd", "etcd.v1", catalog.reference)
    assert not DESIRED.is_inline
    assert [InlineBundle.parse(text) for text in ("catalog:", "catalog:a@b", "catalog:a/b", "a/b@c")] == [None] * 4
