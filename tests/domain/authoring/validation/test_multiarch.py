"""Whether images run where labels say (fbc.md 11.6, MultipleArchitectures)."""

from __future__ import annotations

from typing import Any

import pytest

from shared.domain.authoring.validation import Finding, Options, Subject
from shared.domain.authoring.validation.multiarch import inspected_images
from shared.domain.bundle.platform import NotInspected, Platform, Platforms
from tests.domain.authoring.validation.world import a_csv, files, found, installing

ARCH = "operatorframework.io/arch."
OS = "operatorframework.io/os."
AMD64 = Platform("linux", "amd64")
ARM64 = Platform("linux", "arm64")
WINDOWS = Platform("windows", "amd64")
NAME = "tea.v1.0.0"


def a_pod(*platforms: Platform, **images: str) -> dict[str, Any]:
    """A Deployment with a container of each image; underscores are dashes."""
    terms = [
        {
            "matchExpressions": [
                {"key": "kubernetes.io/os", "operator": "In", "values": [one.os]},
                {"key": "kubernetes.io/arch", "operator": "In", "values": [one.architecture]},
                {"key": "kubernetes.io/arch", "operator": "NotIn", "values": ["riscv64"]},
            ]
        }
        for one in platforms
    ]
    containers = [{"name": name.replace("_", "-"), "image": image} for name, image in images.items()]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod = {"containers": containers, "affinity": {"nodeAffinity": required}} if terms else {"containers": containers}
    template = {"metadata": {"labels": {"a": "b"}}, "spec": pod}
    return {"name": "tea", "spec": {"selector": {"matchLabels": {"a": "b"}}, "template": template}}


def a_version(*pods: object, labels: tuple[str, ...] = (), related: tuple[str, ...] = ()) -> dict[str, Any]:
    images = [{"name": image, "image": image} for image in related]
    csv = a_csv(install=installing(*pods), relatedImages=images or None)
    csv["metadata"]["labels"] = dict.fromkeys(labels, "supported")
    return csv


def judged(csv: dict[str, Any], **platforms: Platforms | NotInspected) -> list[Finding]:
    return found("multiarch", csv=csv, options=Options(platforms=platforms))


def details(csv: dict[str, Any], level: str = "Warning", **platforms: Platforms | NotInspected) -> list[str]:
    findings = judged(csv, **platforms)
    assert {one.value for one in findings} <= {NAME}
    return [one.detail for one in findings if one.level == level]


def images_of(csv: dict[str, Any]) -> tuple[str, ...]:
    return inspected_images(Subject(files(csv), "here"))


def test_fbc_md_11_6_an_operator_of_linux_on_amd64_needs_no_labels() -> None:
    assert judged(a_version(a_pod(AMD64, manager="tea")), tea=(AMD64,)) == []


def test_fbc_md_11_6_labels_for_everything_that_the_images_do_are_right() -> None:
    labels = (f"{ARCH}amd64", f"{ARCH}arm64", f"{OS}linux")
    csv = a_version(a_pod(AMD64, ARM64, manager="tea"), labels=labels, related=("db",))
    assert judged(csv, tea=(AMD64, ARM64), db=(ARM64, AMD64)) == []


@pytest.mark.parametrize(
    ("labels", "want"),
    [
        pytest.param((), ["linux.amd64"], id="no label promises Linux on amd64"),
        pytest.param((f"{ARCH}ppc64le",), ["linux.ppc64le"], id="a label of an architecture is about Linux"),
        pytest.param(
            (f"{OS}windows", f"{OS}linux", f"{ARCH}s390x", f"{ARCH}arm64"),
            ["linux.s390x", "windows.arm64", "windows.s390x"],
            id="each system goes with each architecture",
        ),
    ],
)
def test_fbc_md_11_6_images_that_lack_what_labels_promise_are_an_error(
    labels: tuple[str, ...], want: list[str]
) -> None:
    csv = a_version(a_pod(manager="tea", kube_rbac_proxy="proxy"), labels=labels, related=("tea", "db"))
    found_errors = details(csv, "Error", tea=(ARM64,), proxy=(ARM64,), db=(ARM64,))
    assert found_errors == [
        "not all images specified are providing the support described via the CSV labels. "
        f"Note that (OS.architecture): ({platform}) was not found for the image(s) [db proxy tea]"
        for platform in want
    ]


def test_fbc_md_11_6_an_error_has_the_name_of_the_version_as_its_value() -> None:
    [error] = [one for one in judged(a_version(a_pod(ARM64, manager="tea")), tea=(ARM64,)) if one.is_error]
    assert str(error).startswith(f"Error: Value {NAME}: not all images specified are providing the support")


def test_fbc_md_11_6_a_label_with_another_value_promises_nothing() -> None:
    csv = a_version(a_pod(AMD64, manager="tea"))
    csv["metadata"]["labels"] = {f"{ARCH}arm64": "no", "other": "supported"}
    assert judged(csv, tea=(AMD64,)) == []


@pytest.mark.parametrize(
    ("labels", "platforms", "want"),
    [
        pytest.param((), (AMD64, ARM64), '(operatorframework.io/arch.<value>) for the Arch(s): ["amd64" "arm64"]. '
                     'Be aware that your Operator manager image ["tea"] provides this support. Thus, it is very likely '
                     "that you want to provide it and if you support more than amd64 architectures, you MUST,use the "
                     "required labels for all which are supported.Otherwise, your solution cannot be listed on the "
                     "cluster for these architectures", id="two architectures and no label"),
        pytest.param((f"{ARCH}amd64", f"{ARCH}arm64"), (AMD64, ARM64, Platform("linux", "arm")),
                     '(operatorframework.io/arch.<value>) for the Arch(s): ["arm"]. ', id="arm is not arm64"),
        pytest.param((), (AMD64, WINDOWS), '(operatorframework.io/os.<value>) for the OS(s): ["linux" "windows"]. '
                     'Be aware that your Operator manager image ["tea"] provides this support. Thus, it is very likely '
                     "that you want to provide it and if you support more than linux OS you MUST,use the required "
                     "labels for all which are supported.Otherwise, your solution cannot be listed on the cluster for "
                     "these architectures", id="two systems and no label"),
    ],
)  # fmt: skip
def test_fbc_md_11_6_labels_that_are_missing_are_a_warning(
    labels: tuple[str, ...], platforms: Platforms, want: str
) -> None:
    [found_errors] = details(a_version(a_pod(*platforms, manager="tea"), labels=labels), tea=platforms)
    assert found_errors.startswith(f"check if the CSV is missing the label {want}")


def test_fbc_md_11_6_another_image_that_does_less_is_a_warning() -> None:
    pod = a_pod(AMD64, manager="tea", kube_rbac_proxy="proxy")
    labels = (f"{ARCH}amd64", f"{OS}linux", f"{OS}windows")
    found_errors = details(
        a_version(pod, labels=labels, related=("db",)), tea=(AMD64, WINDOWS), proxy=(AMD64,), db=(WINDOWS,)
    )
    about = [
        f'check if the image {image} should not support ["{missing}"]. Note that this CSV has labels for this OS(s) '
        'Your manager image ["tea"] are providing this support OR the CSV is configured via labels to support it. '
        "Then, please verify if this image should not support it"
        for image, missing in (("proxy", "windows"), ("db", "linux"))
    ]
    assert [one for one in found_errors if "should not support" in one] == about


def test_fbc_md_11_6_another_image_of_another_architecture_is_a_warning() -> None:
    csv = a_version(a_pod(AMD64, manager="tea"), related=("db",))
    [found_errors] = details(csv, tea=(AMD64,), db=(ARM64,))
    assert found_errors.startswith(
        'check if the image db should not support ["amd64"]. Note that this CSV has labels for this Arch'
    )


SUGGESTED = 'the image data suggests the following platforms are supported: ["linux/amd64"]'
ALLOWS_ARM = (
    f'the CSV includes ["linux/arm64"] in the node affinity configuration for the image: "tea", but {SUGGESTED}'
)
LACKS_AMD = (
    'the image data indicates ["linux/amd64"] is supported for the image: "tea", but '
    'the node affinity configuration for the image only specifies ["linux/arm64"]'
)
ABSENT = (
    'check if the CSV has a missing or invalid node affinity configuration for the image: "tea". '
    f"The {SUGGESTED.removeprefix('the ')}"
)


@pytest.mark.parametrize(
    ("pod", "want"),
    [
        pytest.param(a_pod(manager="tea"), [ABSENT], id="there is none"),
        pytest.param(a_pod(AMD64, ARM64, manager="tea"), [ALLOWS_ARM], id="it allows too much"),
        pytest.param(a_pod(ARM64, manager="tea"), [ALLOWS_ARM, LACKS_AMD], id="it allows something else"),
    ],
)
def test_fbc_md_11_6_a_node_affinity_that_does_not_fit_is_a_warning(pod: dict[str, Any], want: list[str]) -> None:
    assert details(a_version(pod), tea=(AMD64,)) == want


def test_fbc_md_11_6_related_images_need_no_node_affinity_but_other_containers_do() -> None:
    csv = a_version(a_pod(manager="tea", kube_rbac_proxy="proxy"), related=("db",))
    found_errors = details(csv, tea=(AMD64,), proxy=(AMD64,), db=(AMD64,))
    assert [one.partition("image: ")[2].partition(".")[0] for one in found_errors] == ['"tea"', '"proxy"']


def test_fbc_md_11_6_an_image_that_cannot_be_inspected_is_a_warning_and_compared_with_nothing() -> None:
    csv = a_version(a_pod(AMD64, manager="tea"), related=("db",))
    assert [
        str(one) for one in judged(csv, tea=NotInspected("no answer"), db=(AMD64,), elsewhere=NotInspected("x"))
    ] == [f"Warning: Value {NAME}: unable to inspect the image (tea) : no answer"]


def test_fbc_md_11_6_without_an_answer_only_the_version_itself_is_judged() -> None:
    csv = a_version(a_pod(manager="tea"), labels=(f"{ARCH}arm64",), related=("db",))
    assert [str(one) for one in judged(csv)] == [
        f'Warning: Value {NAME}: check if the CSV is missing a node affinity configuration for the image: "tea". '
    ]


@pytest.mark.parametrize(
    ("pods", "want"),
    [
        pytest.param([a_pod(manager="m", kube_rbac_proxy="p", other="o")], "m", id="the container manager"),
        pytest.param([a_pod(kube_rbac_proxy="p", some="s", other="o")], "s o", id="without it all but the proxy"),
        pytest.param([a_pod(manager="m"), a_pod(manager="m", other="o")], "m", id="each pod has its own, once"),
        pytest.param([a_pod(manager="m"), a_pod(some="s")], "m s", id="each pod for itself"),
    ],
)
def test_fbc_md_11_6_the_image_of_the_operator_is(pods: list[dict[str, Any]], want: str) -> None:
    both = (AMD64, ARM64)
    found_errors = details(a_version(*pods), m=both, s=both, o=both, p=both)
    [managers] = {
        one.partition("manager image [")[2].partition("]")[0] for one in found_errors if "missing the label" in one
    }
    assert managers.replace('"', "") == want


def test_of_two_pods_with_the_same_image_the_node_affinity_of_the_first_counts() -> None:
    assert details(a_version(a_pod(AMD64, manager="tea"), a_pod(ARM64, manager="tea")), tea=(AMD64,)) == []


def test_images_are_asked_for_once_and_only_when_they_are_named() -> None:
    csv = a_version(a_pod(manager="tea", kube_rbac_proxy="proxy", other=""), related=("db", "tea"))
    assert images_of(csv) == ("tea", "proxy", "db")
    assert images_of(a_csv(install=3)) == ()
