"""Proposes changes of Subscriptions, installed versions and settings, each with the inputs as they would be."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from shared import kinds, names
from shared.domain.command import Command, kubectl, olmf
from shared.domain.resolver.explain.findings import Fix
from shared.domain.resolver.identity import CatalogKey, Installed
from shared.domain.resolver.model import Inputs, Subscriber
from shared.domain.resolver.reasons import Code

_SHORTEST_WORD = 3
"""Shorter names are too similar to guess a misspelling."""

Proposal = tuple[Fix, Inputs]


def to_subscriptions(involved: Sequence[Subscriber], inputs: Inputs) -> Iterator[Proposal]:
    """For each Subscription: fewer annotations, another channel, no startingCSV, another catalog, another package."""
    for desired in involved:
        for annotation, rest in desired.policy.without():
            do = kubectl("annotate", "subscription", desired.name, f"{annotation}-", namespace=inputs.namespace)
            fix = Fix("RemoveAnnotation", f"let Subscription {desired.name} do without {annotation}", do)
            yield fix, _with(inputs, replace(desired, policy=rest))
    for desired in involved:
        yield from _channels(desired, inputs)
    for desired in involved:
        if desired.starting_csv and not desired.installed_csv:
            do = _patch(desired, inputs, [{"op": "remove", "path": "/spec/startingCSV"}])
            fix = Fix("RemoveStartingCSV", f"let Subscription {desired.name} begin anywhere", do)
            yield fix, _with(inputs, replace(desired, starting_csv=""))
    for desired in involved:
        yield from _catalogs(desired, inputs)
        yield from _names(desired, inputs)


def to_installed(involved: Sequence[Installed], inputs: Inputs) -> Iterator[Proposal]:
    """Claim unclaimed versions by a Subscription, or delete them."""
    for csv in involved:
        for key in sorted(inputs.readers):
            yield from _claims(csv, key, inputs)
    for csv in involved:
        what = f"delete {csv.name}, which nobody claims"
        kept = tuple(one for one in inputs.installed if one.name != csv.name)
        do = kubectl("delete", "csv", csv.name, namespace=inputs.namespace)
        yield Fix("DeleteCSV", what, do), replace(inputs, installed=kept)


def without_subscriptions(involved: Sequence[Subscriber], inputs: Inputs) -> Iterator[Proposal]:
    """Drop a Subscription, with or without the version that it installed."""
    for desired in involved if len(inputs.subscribers) > 1 else ():
        kept = tuple(one for one in inputs.subscribers if one.name != desired.name)
        free = tuple(replace(one, owner="") if one.owner == desired.name else one for one in inputs.installed)
        command = kubectl("delete", f"subscription/{desired.name}", namespace=inputs.namespace)
        what = f"drop Subscription {desired.name}"
        yield Fix("DropSubscription", what, command), replace(inputs, subscribers=kept, installed=free)
        if mine := [one.name for one in inputs.installed if one.owner == desired.name]:
            rest = tuple(one for one in inputs.installed if one.owner != desired.name)
            both = Command((*command.words, f"csv/{mine[0]}"))
            fix = Fix("DropSubscription", f"{what} and {mine[0]}", both)
            yield fix, replace(inputs, subscribers=kept, installed=rest)


def to_namespace(inputs: Inputs) -> Iterator[Proposal]:
    """Repair the namespace: one OperatorGroup, catalogs that can be read, conflicts that stop only their component."""
    if lacks_group(inputs):
        yield for_group(inputs), replace(inputs, problem=None)
    if inputs.is_strict:
        words = ("annotate", "operatorgroup", "--all", "--overwrite", f"{names.CATALOG_POLICY}=available")
        do = kubectl(*words, namespace=inputs.namespace)
        fix = Fix("RelaxCatalogs", "let a catalog that cannot be read stop only who needs it", do)
        yield fix, replace(inputs, is_strict=False)
    for key, one in sorted(inputs.catalogs.items()):
        if not one.problem or (one.reference and not (inputs.is_strict and one.is_stale)):
            continue
        catalogs = {at: one for at, one in inputs.catalogs.items() if at != key}
        do = kubectl("delete", "catalogsource", key.name, namespace=key.namespace)
        readers = {at: one for at, one in inputs.readers.items() if at != key}
        fix = Fix("RemoveCatalog", f"repair or remove catalog {key}", do)
        yield fix, replace(inputs, catalogs=catalogs, readers=readers)
    if inputs.is_whole:
        edit = "set OLMF_PLAN_SCOPE=component, or give --isolation component"
        fix = Fix("IsolateConflicts", "let a conflict stop only what it concerns", edit)
        yield fix, replace(inputs, is_whole=False)


def lacks_group(inputs: Inputs) -> bool:
    """Whether the namespace has no OperatorGroup, or several."""
    return inputs.problem is not None and inputs.problem.code is Code.OPERATOR_GROUPS


def for_group(inputs: Inputs) -> Fix:
    """What gives the namespace one OperatorGroup."""
    packages = [one.package for one in inputs.subscribers]
    return Fix("OneOperatorGroup", *one_group(inputs.namespace, inputs.groups, packages, inputs.former_targets))


def one_group(
    namespace: str, groups: Sequence[str], packages: Sequence[str], former: Sequence[str] | None
) -> tuple[str, Command]:
    """Create the OperatorGroup of a namespace that has none, or delete all but the first; in words, and as a command.

    The first is the oldest, with which operators may work. A new one selects what the `former` one did, where that is
    known; else `olmf install` creates one that suits a single operator. The words say what it selects.
    """
    if groups:
        kept, *others = groups
        what = f"have one of the OperatorGroups {', '.join(groups)}; to keep {kept}"
        return what, kubectl("delete", "operatorgroup", *others, namespace=namespace)
    if former is not None:
        targets = tuple(filter(None, former))
        what = f"create an OperatorGroup for {', '.join(targets) or 'all namespaces'}, as before"
        return what, _created_group(namespace, targets)
    if len(packages) == 1:
        (package,) = packages
        what = f"create an OperatorGroup for all namespaces if {package} can watch them, else for {namespace} only"
        return what, olmf("install", package, namespace=namespace)
    return "create an OperatorGroup, here one for all namespaces", _created_group(namespace, ())


def _created_group(namespace: str, targets: Sequence[str]) -> Command:
    group = {
        "apiVersion": kinds.OPERATOR_GROUP.api_version,
        "kind": kinds.OPERATOR_GROUP.kind,
        "metadata": {"name": namespace, "namespace": namespace},
        "spec": {"targetNamespaces": targets} if targets else {},
    }
    return kubectl("create", "-f", "-", stdin=json.dumps(group, separators=(",", ":")))


def _channels(desired: Subscriber, inputs: Inputs) -> Iterator[Proposal]:
    package = inputs.package(desired.catalog, desired.package)
    if package is None:
        return
    default = package.default_channel
    for name in sorted({one.name for one in package.channels}, key=lambda name: (name != default, name)):
        if name != desired.channel:
            do = _merge(desired, inputs, {"channel": name})
            fix = Fix("ChangeChannel", f"let Subscription {desired.name} follow channel {name}", do)
            yield fix, _with(inputs, replace(desired, channel=name))


def _names(desired: Subscriber, inputs: Inputs) -> Iterator[Proposal]:
    reader = inputs.readers.get(desired.catalog)
    if reader is None or reader.package(desired.package):
        return
    is_word = len(desired.package) >= _SHORTEST_WORD
    for name in sorted(name for name in reader.names() if is_word and _is_close(name, desired.package)):
        fix = Fix("ChangePackage", f"ask for package {name}", _merge(desired, inputs, {"name": name}))
        yield fix, _with(inputs, replace(desired, package=name))


def _catalogs(desired: Subscriber, inputs: Inputs) -> Iterator[Proposal]:
    for key in sorted(inputs.readers):
        if key != desired.catalog and inputs.readers[key].package(desired.package):
            do = _merge(desired, inputs, {"source": key.name, "sourceNamespace": key.namespace})
            fix = Fix("ChangeCatalog", f"let Subscription {desired.name} use catalog {key}", do)
            yield fix, _with(inputs, replace(desired, catalog=key))


def _claims(csv: Installed, key: CatalogKey, inputs: Inputs) -> Iterator[Proposal]:
    reader = inputs.readers[key]
    for name in sorted(reader.holders(csv.name)):
        package = reader.package(name)
        channels = package.channels if package else ()
        channel = next((one.name for one in channels if any(entry.name == csv.name for entry in one.entries)), None)
        if channel is not None:
            do, changed = subscribed(Subscriber(name, name, channel, key, installed_csv=csv.name), csv, inputs)
            yield Fix("AdoptCSV", f"claim {csv.name} by a Subscription", do), changed


def subscribed(desired: Subscriber, csv: Installed, inputs: Inputs) -> tuple[Command, Inputs]:
    """The command for a Subscription that has a version installed, and the inputs as they will be."""
    where = ("--channel", desired.channel, "--source", str(desired.catalog), "--starting-csv", csv.name)
    installed = (*(one for one in inputs.installed if one.name != csv.name), replace(csv, owner=desired.name))
    changed = replace(inputs, subscribers=(*inputs.subscribers, desired), installed=installed)
    return Command(("olmf", "install", desired.package, "-n", inputs.namespace, *where)), changed


def _with(inputs: Inputs, changed: Subscriber) -> Inputs:
    others = tuple(changed if one.name == changed.name else one for one in inputs.subscribers)
    return replace(inputs, subscribers=others)


def _merge(desired: Subscriber, inputs: Inputs, spec: Mapping[str, str]) -> Command:
    text = json.dumps({"spec": spec}, separators=(",", ":"))
    return kubectl("patch", "subscription", desired.name, "--type", "merge", "-p", text, namespace=inputs.namespace)


def _patch(desired: Subscriber, inputs: Inputs, steps: Sequence[Mapping[str, str]]) -> Command:
    text = json.dumps(steps, separators=(",", ":"))
    return kubectl("patch", "subscription", desired.name, "--type", "json", "-p", text, namespace=inputs.namespace)


def _is_close(one: str, other: str) -> bool:
    """Whether two names differ in one letter (missing, added, wrong or swapped), or only in case and dashes."""
    if one.lower().replace("-", "") == other.lower().replace("-", ""):
        return True
    if len(one) == len(other):
        differing = [(a, b) for a, b in zip(one, other, strict=True) if a != b]
        return len(differing) == 1 or (len(differing) == 2 and differing[0] == differing[1][::-1])
    short, long = sorted((one, other), key=len)
    return any(long[:index] + long[index + 1 :] == short for index in range(len(long)))
