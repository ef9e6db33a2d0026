"""The versions that a namespace gets, as their bundles have them: of plans under way, next, and later."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

from eventing.cli.commands import quoted
from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.inputs.bundle_files import files_of, image_of
from eventing.cli.namespace_inputs import NamespaceInputs
from eventing.diagnosis.forecast.checks import check_account
from eventing.diagnosis.forecast.forecast import Forecast, Upcoming, forecast
from eventing.diagnosis.forecast.present_objects import PresentObjects, placed
from eventing.diagnosis.status.rules import TO_APPROVE
from shared.api.manifest import name_of
from shared.api.views import Csv, Subscription
from shared.domain.authoring.bundles.images import related_images
from shared.domain.authoring.bundles.install import InstallStep, Target, install_steps, properties_annotation
from shared.domain.bundle.model import BadBundle, Files
from shared.domain.bundle.parse import parse
from shared.domain.bundle.reading import MANIFESTS, documents
from shared.domain.command import olmf
from shared.domain.plan.dependencies import subscription
from shared.domain.resolution_inputs.namespace import subscriber_of
from shared.domain.resolver.explain.later import later
from shared.domain.resolver.model import Chosen, Inputs
from shared.domain.resolver.request import memoized
from shared.domain.resolver.resolve import resolve
from shared.domain.serving.registry_api import NotServable, content_of
from shared.domain.subscription.conditions import PLAN_PENDING
from shared.kinds import CLUSTER_SERVICE_VERSION, SUBSCRIPTION

if TYPE_CHECKING:
    from shared.api.views import OperatorGroup
    from shared.policy import Policy

    Manifest = dict[str, Any]


MOST_VERSIONS = 50
"""Each takes a bundle of a registry, and lists of the cluster: a catalog decides how many there are."""


def begun(inputs: Inputs, present: PresentObjects) -> Iterator[tuple[Chosen, str]]:
    """The versions of plans that are not ended, and what each waits for: nothing else is resolved before."""
    to_approve = _to_approve(present)
    # The version of such a plan may be there: it counts as installed then, and says itself what it replaces.
    replaced_by = {csv.name: csv.replaces for csv in Csv.each(present.csvs())}
    for one in inputs.subscribers:
        package = inputs.package(one.catalog, one.package) if one.waits else None
        bundle = package.bundles.get(one.planned_csv) if package else None
        if package and bundle:
            entries = (entry for each in package.channels for entry in each.entries if one.follows(each.name))
            former = next((entry.replaces for entry in entries if entry.name == bundle.name), "")
            catalog, replaced = inputs.catalogs[one.catalog], replaced_by.get(bundle.name, one.installed_csv or former)
            yield (
                Chosen(bundle, one.package, one.channel, catalog, replaced, (one.name,)),
                to_approve.get(one.name, one.waits),
            )


class Step(NamedTuple):
    """Versions that are installed together."""

    chosen: Sequence[Chosen]
    present: PresentObjects
    """What exists before."""
    found: Forecast
    """What they do."""

    @property
    def names(self) -> list[str]:
        """The names of the versions."""
        return [one.bundle.name for one in self.chosen]


def later_steps(source: NamespaceInputs, step: Step, policy: Policy) -> Iterator[Step]:
    """What follows a step, up to the last versions, and what the account lacks for it. CliError where one is unread."""
    inputs, seen = memoized(source.inputs), set[str]()
    while not seen.issuperset(step.names):  # skip ranges may lead back
        if len(seen) >= MOST_VERSIONS:
            raise CliError(f"more than {MOST_VERSIONS} versions are not looked at", UNKNOWN)
        seen.update(step.names)
        inputs, present = later(*_subscribed(inputs, step.chosen)), step.present.after(step.found.changes)
        chosen = resolve(inputs).chosen
        versions = [upcoming(source, one, present.group())[0] for one in chosen]
        step = Step(chosen, present, forecast(versions, present, policy, (check_account,)))
        yield step


def _subscribed(inputs: Inputs, chosen: Sequence[Chosen]) -> tuple[Inputs, Sequence[Chosen]]:
    """With the Subscriptions that plans make for dependencies."""
    made = [subscription(one, inputs.namespace) for one in chosen if not one.subscribers]
    names = iter(map(name_of, made))
    named = [one if one.subscribers else replace(one, subscribers=(next(names),)) for one in chosen]
    return replace(inputs, subscribers=(*inputs.subscribers, *map(subscriber_of, Subscription.each(made)))), named


def upcoming(source: NamespaceInputs, chosen: Chosen, group: OperatorGroup | None) -> tuple[Upcoming, list[str]]:
    """A bundle as its plan would write it, and the images that it needs. CliError."""
    namespace = source.inputs.namespace
    files, image = _files(source, chosen)
    bundle = parse(files, chosen.bundle.name, is_complete=True) if image else None
    if isinstance(bundle, BadBundle):
        raise CliError(bundle.message, NEGATIVE)
    target = Target(namespace, chosen.replaces, properties_annotation(chosen.bundle.properties), group)
    found = install_steps(documents(files, MANIFESTS), target, chosen.bundle.name)
    if isinstance(found, BadBundle):
        raise CliError(found.message, NEGATIVE)
    steps = [_manifest(step, namespace) for step in found.steps]
    asked = [] if chosen.subscribers else [subscription(chosen, namespace)]
    served = [_manifest(step, namespace, is_placed=True) for step in found.served]
    csvs = [bundle.csv] if bundle else [one for one in steps if one["kind"] == CLUSTER_SERVICE_VERSION.kind]
    images = [str(one["image"]) for csv in csvs for one in related_images(csv, image)]
    return Upcoming([*asked, *steps], served, chosen.replaces, tuple(chosen.subscribers)), images


def _files(source: NamespaceInputs, chosen: Chosen) -> tuple[Files, str]:
    """The files of a bundle, and its image where it has one."""
    name = chosen.bundle.name
    if chosen.bundle.image:
        image = image_of(chosen.bundle.image, name)
        return files_of(image), str(image)
    try:
        texts = content_of(source.document(chosen) or {}, "", {}).objects
    except NotServable as error:
        raise CliError(f"{name}: {error}", NEGATIVE) from error
    if not texts:
        raise CliError(f"{name} has neither an image nor manifests in its catalog", UNKNOWN)
    return {f"{MANIFESTS}/{number:04}.json": text.encode() for number, text in enumerate(texts)}, ""


def _to_approve(present: PresentObjects) -> dict[str, str]:
    """The Subscriptions whose plans wait for approval, and what approves each."""
    found = Subscription.each(present.all_of(SUBSCRIPTION, present.namespace))
    return {one.name: _approved_by(one) for one in found if one.condition(PLAN_PENDING).reason == TO_APPROVE}


def _approved_by(subscription: Subscription) -> str:
    approve = quoted(olmf("approve", subscription.plan, namespace=subscription.namespace))
    return f"InstallPlan {subscription.plan} waits for approval; {approve} approves it"


def _manifest(step: InstallStep, namespace: str, *, is_placed: bool = False) -> Manifest:
    """The object of a step in the namespace; one that `is_placed` is where it says."""
    manifest: Manifest = {
        "apiVersion": f"{step.group}/{step.version}".lstrip("/"), "kind": step.kind, **json.loads(step.manifest),
    }  # fmt: skip
    left_out = ("ownerReferences",) if is_placed else ("namespace", "ownerReferences")
    meta = {key: value for key, value in manifest["metadata"].items() if key not in left_out}
    return placed({**manifest, "metadata": meta}, namespace)
