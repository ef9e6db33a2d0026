"""Reads `KIND/NAME`, and names of steps, as a person writes them."""

from __future__ import annotations

from collections.abc import Mapping
from difflib import get_close_matches

from eventing.cli.commands import quoted
from eventing.cli.failure import USAGE, CliError
from eventing.events.former import step_now
from eventing.routes import STEPS
from shared.domain.command import olmf
from shared.kinds import KINDS, SUBSCRIPTION, InvalidName, Kind, Ref

SHORT = {
    "catsrc": "CatalogSource", "sub": "Subscription", "subs": "Subscription", "ip": "InstallPlan",
    "csv": "ClusterServiceVersion", "csvs": "ClusterServiceVersion", "og": "OperatorGroup", "condition":
    "OperatorCondition", "ns": "Namespace", "cm": "ConfigMap", "sa": "ServiceAccount", "deploy": "Deployment",
    "crd": "CustomResourceDefinition",
}  # fmt: skip
"""Short names of kinds, as kubectl knows them."""


def ref_of(text: str, namespace: str) -> Ref:
    """The object that `KIND/NAME` names: the kind by name, plural or short name, in any case; or a whole ref."""
    if text.count("/") > 1:
        try:
            return Ref.parse(text)
        except InvalidName as error:
            raise CliError(str(error), USAGE) from error
    word, slash, name = text.partition("/")
    if not slash or not name:
        raise CliError(f"{text!r}: wanted KIND/NAME, e.g. Subscription/etcd", USAGE)
    try:
        return kind_of(word).ref(name, namespace)
    except InvalidName as error:
        raise CliError(str(error), USAGE) from error


def subscription_meant(text: str, packages: Mapping[str, str]) -> str:
    """The Subscription that `NAME`, `Subscription/NAME` or a package names, of those whose packages are given.

    A name that none of them has stays as it is. CliError for an object of another kind, and for a whole ref.
    """
    if text.count("/") > 1:
        raise CliError(f"{text}: wanted a name, or Subscription/NAME; its namespace goes with -n", USAGE)
    word, slash, name = text.partition("/")
    if slash and kind_of(word) is not SUBSCRIPTION:
        raise CliError(f"{text}: not a Subscription; {quoted(olmf('why', text))} tells of other objects", USAGE)
    name = name if slash else word
    return name if name in packages else next((one for one, its in sorted(packages.items()) if its == name), name)


def kind_of(word: str) -> Kind:
    """The kind of that name, also as `kubectl get -o name` prints it: with its group. CliError lists what there is."""
    word, _, group = word.partition(".")
    desired = SHORT.get(word.lower(), word).lower()
    for kind in KINDS:
        if desired in (kind.kind.lower(), kind.plural) and group in ("", kind.group, f"{kind.version}.{kind.group}"):
            return kind
    known = {kind.kind.lower(): kind.kind for kind in KINDS}
    near = get_close_matches(desired, known, n=1)
    if near and not group:
        raise CliError(f"{word!r}: no such kind here; did you mean {known[near[0]]}?", USAGE)
    listed = ", ".join(sorted(known.values()))
    named = f"{word}.{group}" if group else word
    raise CliError(f"{named!r}: no such kind here; wanted one of {listed}, or a whole ref", USAGE)


def checked_step(option: str, word: str) -> str:
    """The step of that name, with its group, which the word may lack; empty for none. CliError lists the steps."""
    present = step_now(word)
    found = next((step for step in STEPS if present in (step, step.partition("/")[2])), "")
    if word and not found:
        raise CliError(f"{option} {word}: no such step; wanted one of {', '.join(sorted(STEPS))}", USAGE)
    return found
