"""What a person asks for: each function writes the field that OLM has for it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from eventing.cli.commands import fix_text, quoted
from eventing.cli.names import similar
from eventing.cli.requests import hints
from eventing.cli.requests.approving import approval_of
from eventing.cli.requests.generations import check_extensions
from eventing.cli.requests.request import PackageError, Request
from eventing.cli.requests.sources import asked_source, source_for
from eventing.diagnosis.catalogs import catalogs_for
from eventing.diagnosis.offers import content_of, looked_up, package_of, subscription_of
from eventing.diagnosis.status.fixes import selecting, unpinning
from eventing.diagnosis.status.siblings import doubled, siblings
from shared import names
from shared.api.manifest import Manifest, ReadOnly, name_of, namespace_of
from shared.api.views import Csv, InstallMode, InstallPlan, OperatorGroup, Subscription
from shared.domain.authoring.identity import install_modes
from shared.domain.catalog.graph import heads
from shared.domain.catalog.model import Package
from shared.domain.command import kubectl, olmf
from shared.domain.objects.plan_record import is_foreign, is_refused, refusal
from shared.domain.operator_groups.group import Group
from shared.domain.operator_groups.install_modes import ALL_NAMESPACES, first_supported, supports
from shared.domain.resolver.subscription_policy import subscription_policy_of
from shared.kinds import (
    CATALOG_SOURCE,
    CLUSTER_SERVICE_VERSION,
    INSTALL_PLAN,
    NAMESPACE,
    OPERATOR_GROUP,
    SUBSCRIPTION,
    Kind,
)
from shared.ports import Catalogs, Unavailable

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.domain.catalog.config import Blob
    from shared.domain.image_source import ImageSource

POLL_SECONDS = 0.2
"""How often a verb that waits looks again."""


@dataclass(frozen=True, slots=True)
class Made:
    """An object that was missing."""

    what: str
    remark: str = ""
    """What should be known of it."""

    def __str__(self) -> str:
        return f"made {self.what}" + (f": {self.remark}" if self.remark else "")


def subscribe(cluster: KubeClient, request: Request) -> Iterator[str | Made]:
    """Make Namespace, OperatorGroup and Subscription where they are missing; says what it made.

    PackageError, and nothing is made, when a catalog that can be read does not have what is asked for, when the
    Subscription that is there says otherwise, or when OLM v1 runs the package.
    """
    yield from check_extensions(cluster, request.package)
    present = subscription_of(cluster, request.namespace, request.package)
    spec = {} if present else spec_for(cluster, request)
    if present:
        _check_options(cluster, request, present)
        yield f"{request.package} is already subscribed in {request.namespace}"
    for copy in siblings(request.package, Csv.each(cluster.list(CLUSTER_SERVICE_VERSION, request.namespace))):
        yield f"warning: {doubled(copy, 'another version')}"
    if NAMESPACE.look_up(cluster.get, request.namespace) is None:
        cluster.create(_object(NAMESPACE, request.namespace))
        yield Made(f"Namespace {request.namespace}")
    if not cluster.list(OPERATOR_GROUP, request.namespace):
        modes = modes_for(cluster, spec or (present or {})["spec"], catalogs_for(cluster))
        group, made = group_for(request, modes)
        cluster.create(group)
        yield made
    if spec:
        cluster.create(_object(SUBSCRIPTION, request.package, request.namespace, spec=spec))
        yield Made(f"Subscription {request.package} to {spec['sourceNamespace']}/{spec['source']}")


def group_for(request: Request, modes: Sequence[InstallMode]) -> tuple[Manifest, Made]:
    """The OperatorGroup for a version with these install modes, as far as they are known; what it selects, in words."""
    name = request.namespace
    targets = list(filter(None, targets_for(modes, name)))
    group = _object(OPERATOR_GROUP, name, name, spec={"targetNamespaces": targets} if targets else {})
    group["metadata"]["annotations"] = {names.MADE_FOR: request.package}
    if targets:
        return group, Made(f"OperatorGroup {name} for this namespace only")
    everywhere = "what is installed here works in the whole cluster"
    narrower = fix_text(selecting(Group.of(OperatorGroup(group)), (name,)))
    can_narrow = not modes or supports(modes, name, (name,)) is None
    remark = f"{everywhere}; {narrower}" if can_narrow else f"{everywhere}, and supports nothing less"
    return group, Made(f"OperatorGroup {name} for all namespaces", remark)


def spec_for(cluster: KubeClient, request: Request) -> Manifest:
    """What to subscribe to. PackageError when the catalog does not have it."""
    source_namespace, source = source_for(cluster, request)
    spec: Manifest = {
        "name": request.package,
        "source": source,
        "sourceNamespace": source_namespace,
        "installPlanApproval": "Manual" if request.is_manual else "Automatic",
        **({"startingCSV": request.starting_csv} if request.starting_csv else {}),
        **({"channel": request.channel} if request.channel else {}),
    }
    if why := hints.refusal(cluster, spec):
        raise PackageError(why)
    if "channel" not in spec and (package := package_of(cluster, {"spec": spec})):
        # why: without a channel, an update may lead from the default one to any other
        spec["channel"] = package.default_channel
    return spec


def _check_options(cluster: KubeClient, request: Request, present: ReadOnly) -> None:
    """PackageError when something else is asked for than the Subscription says; how to change it, as far as it goes."""
    spec = present["spec"]
    asked = {
        "--channel": (request.channel, spec.get("channel") or "the default"),
        "--source": (
            "/".join(asked_source(request)) if request.source else "",
            f"{spec.get('sourceNamespace')}/{spec.get('source')}",
        ),
        "--starting-csv": (request.starting_csv, spec.get("startingCSV") or "none"),
        "--manual": ("Manual" if request.is_manual else "", spec.get("installPlanApproval") or "Automatic"),
    }
    others = [
        f"{option}: the Subscription says {current}"
        for option, (desired, current) in asked.items()
        if desired not in ("", current)
    ]
    if not others:
        return
    edit = kubectl("edit", "subscription", name_of(present), namespace=request.namespace)
    hint = f"{quoted(edit)} changes what it says"
    if request.channel not in ("", spec.get("channel")):
        words = ("upgrade", request.package, "--channel", request.channel)
        why = hints.refusal(cluster, {**spec, "channel": request.channel, "startingCSV": ""})
        hint = why or f"{quoted(olmf(*words, namespace=request.namespace))} switches the channel"
    raise PackageError(f"{request.package} is already subscribed in {request.namespace}; {', '.join(others)}; {hint}")


def approve_plan(cluster: KubeClient, namespace: str, desired: str) -> Iterator[str]:
    """Set `spec.approved` of an InstallPlan: the one of that name, or the one that a package of that name waits for.

    Lines: first what speaks against it, then what was done. PackageError when there is nothing to approve.
    """
    found = INSTALL_PLAN.look_up(cluster.get, desired, namespace) or _plan_of_package(cluster, namespace, desired)
    plan = name_of(found)
    if (is_foreign(InstallPlan(found)) or is_refused(InstallPlan(found))) and (no := refusal(InstallPlan(found))):
        raise PackageError(no.message)
    if found["spec"].get("approved"):
        yield f"{plan} was approved before"
        return
    if InstallPlan(found).is_empty:
        raise PackageError(f"{plan} has no steps yet, so there is nothing to approve; try again in a moment")
    yield from _hold_notes(cluster.list(SUBSCRIPTION, namespace), plan)
    patch = approval_of(cluster, InstallPlan(found))
    cluster.merge(INSTALL_PLAN.ref(plan, namespace), patch, field_manager=names.APPROVER)
    yield f"approved {plan}: {', '.join(InstallPlan(found).csvs)}"


def _hold_notes(subscriptions: Iterable[ReadOnly], plan: str) -> Iterator[str]:
    """Warnings about holds that came after the plan: they keep other plans away, not this one."""
    for one in subscriptions:
        policy = subscription_policy_of(Subscription(one))
        why = policy.why_held if Subscription(one).installed_csv else policy.hold
        if Subscription(one).plan == plan and why:
            yield f"{name_of(one)} is held ({why}), which does not stop a plan that is approved"


def _plan_of_package(cluster: KubeClient, namespace: str, package: str) -> ReadOnly:
    subscription = subscription_of(cluster, namespace, package)
    if subscription is None:
        plans = [name_of(other) for other in cluster.list(INSTALL_PLAN, namespace)]
        hint = similar(package, (*plans, *_packages(cluster, namespace)))
        listed = ", ".join(plans) or "none"
        raise PackageError(f"no InstallPlan and no package {package!r} in {namespace} (plans there: {listed}){hint}")
    plan = plan_to_approve(cluster, subscription)
    if found := INSTALL_PLAN.look_up(cluster.get, plan, namespace):
        return found
    why = olmf("why", f"Subscription/{name_of(subscription)}", namespace=namespace)
    raise PackageError(f"no plan of {package} waits for approval; {quoted(why)}")


def waiting_plan(cluster: KubeClient, namespace: str, package: str) -> str:
    """Name of the plan that the Subscription of a package points to, if it waits for approval, else empty."""
    return plan_to_approve(cluster, existing_subscription(cluster, namespace, package))


def plan_to_approve(cluster: KubeClient, subscription: ReadOnly) -> str:
    """Name of the plan that a Subscription points to, if it waits for approval, else empty."""
    name = Subscription(subscription).plan
    plan = INSTALL_PLAN.look_up(cluster.get, name, namespace_of(subscription))
    return name if plan and not plan["spec"].get("approved") else ""


def set_hold(cluster: KubeClient, namespace: str, package: str, reason: str) -> str:
    """Hold the package (or release it, when `reason` is empty); one sentence. A release never lifts a pin."""
    subscription = existing_subscription(cluster, namespace, package)
    policy, pinned = subscription_policy_of(Subscription(subscription)), ""
    if policy.version:
        command = quoted(unpinning(name_of(subscription), namespace))
        pinned = f"; it is pinned to {policy.version}, and {command} lifts the pin"
    if not (reason or policy.why_held):
        return f"{package} was not on hold, so nothing was done{pinned}"
    annotations = {names.HOLD: reason} if reason else dict.fromkeys((names.HOLD, names.HOLD_INSTALLED))
    patch = {"metadata": {"annotations": annotations}}
    cluster.merge(SUBSCRIPTION.ref(name_of(subscription), namespace), patch)
    if not reason:
        return f"{package} is released{pinned}"
    installed = Subscription(subscription).installed_csv
    where = f"at {installed}" if installed else "before anything is installed"
    return f"{package} is held {where}: {reason}"


def existing_subscription(cluster: KubeClient, namespace: str, package: str) -> ReadOnly:
    """The Subscription to a package, or of that name. PackageError when there is none."""
    found = subscription_of(cluster, namespace, package)
    if found is None:
        there = quoted(olmf("list"))
        hint = similar(package, _packages(cluster, namespace)) or f"; {there} shows where it is installed"
        raise PackageError(f"nothing subscribes to {package!r} in {namespace}{hint}")
    return found


def _packages(cluster: KubeClient, namespace: str) -> set[str]:
    """The packages to which the namespace subscribes."""
    return {Subscription(one).package for one in cluster.list(SUBSCRIPTION, namespace)}


def _object(kind: Kind, name: str, namespace: str = "", **fields: object) -> Manifest:
    place = {"namespace": namespace} if namespace else {}
    return {"apiVersion": kind.api_version, "kind": kind.kind, "metadata": {"name": name, **place}, **fields}


class Described(Catalogs, Protocol):
    """Catalogs that also have the documents of their bundles."""

    def bundle(self, reference: str, package: str, name: str, source: ImageSource) -> Blob | Unavailable | None:
        """The document of a bundle, whole; None without one."""
        ...


def targets_for(modes: Sequence[InstallMode], namespace: str) -> tuple[str, ...]:
    """What a group selects for a version with these modes: its own namespace, if that works and all do not.

    One empty name, for all namespaces, also where the catalog does not state what the first version supports.
    """
    choices = ((ALL_NAMESPACES,), (namespace,))
    return first_supported(modes, namespace, choices) or choices[0]


def modes_for(cluster: KubeClient, spec: ReadOnly, catalogs: Described) -> tuple[InstallMode, ...]:
    """The install modes of the version that a Subscription gets first, as far as its catalog states them."""
    package = looked_up(cluster, spec, catalogs)
    source = CATALOG_SOURCE.look_up(cluster.get, spec.get("source"), spec.get("sourceNamespace"))
    if source is None or not isinstance(package, Package):
        return ()
    channel = spec.get("channel") or package.default_channel
    newest = [entry.name for one in package.channels if one.name == channel for entry in heads(one)]
    first = spec.get("startingCSV") or next(iter(newest), "")
    reference, image = content_of(source)
    bundle = catalogs.bundle(reference, package.name, str(first), image)
    return () if bundle is None or isinstance(bundle, Unavailable) else InstallMode.each(install_modes(bundle))
