"""Who needs an operator that is uninstalled, so that the resolver brings it back; pure."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from eventing.cli.commands import quoted
from shared.api.views import Csv, Subscription
from shared.domain.command import olmf
from shared.domain.resolution_inputs.existing import existing
from shared.domain.resolver.operators import of_installed
from shared.domain.resolver.predicates import requirements


def needed_by(leaving: Sequence[Csv], staying: Sequence[Csv], subscriptions: Sequence[Subscription]) -> Iterator[str]:
    """A sentence for each Subscription whose version requires what only a version has that is leaving.

    Nothing where a version states what cannot be read: then nothing is resolved, either.
    """
    gone = {csv.name for csv in leaving}
    kept = [csv for csv in staying if csv.name not in gone]
    packages = {one.name: one.package for one in subscriptions}
    try:
        found = [of_installed(one, "") for one in existing([*leaving, *kept], subscriptions, (), is_whole=False)]
        required = [(one, needs) for one in found if one.owner for needs in requirements(one.facts.properties)]
    except ValueError:
        return
    for one, needs in required:
        givers = {each.name for each in found if needs.holds(each)}
        if givers and givers <= gone:
            command = quoted(olmf("uninstall", packages[one.owner], namespace=leaving[0].namespace))
            yield (
                f"{', '.join(sorted(givers))} comes back: Subscription {one.owner} ({one.name}) needs {needs.plain}; "
                f"{command} uninstalls what needs it"
            )
