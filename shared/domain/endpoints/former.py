"""What OLM once called the objects around an aggregated API: after its APIService, not its Deployment (csv.md §7.4).

Nobody uses them any more. Those that are labelled for the version are deleted by its next installation.
"""

from __future__ import annotations

from shared import kinds
from shared.api.views import Csv
from shared.domain.endpoints.endpoint import endpoints_of
from shared.domain.endpoints.sharing import DELEGATOR, READER, SYSTEM
from shared.kinds import Ref


def former_secrets(csv: Csv) -> tuple[Ref, ...]:
    """The Secrets of certificates by their former names."""
    found = (kinds.SECRET.ref_or_none(f"{name}-cert", csv.namespace) for name in _renamed(csv))
    return tuple(filter(None, found))


def former_objects(csv: Csv) -> tuple[Ref, ...]:
    """Everything else by its former name; none for a text that is no name."""
    place = csv.namespace
    found = (
        ref
        for name, service in _renamed(csv).items()
        for ref in (
            kinds.SERVICE.ref_or_none(service, place),
            kinds.ROLE.ref_or_none(f"{name}-cert", place),
            kinds.ROLE_BINDING.ref_or_none(f"{name}-cert", place),
            kinds.CLUSTER_ROLE_BINDING.ref_or_none(f"{name}{DELEGATOR}"),
            kinds.ROLE_BINDING.ref_or_none(f"{name}{READER}", SYSTEM),
        )
    )
    return tuple(filter(None, found))


def _renamed(csv: Csv) -> dict[str, str]:
    """The former name of the Service of each APIService, unless a Service of the version has it now."""
    present = {one.service for one in endpoints_of(csv)}
    found = ((api.service, api.service.replace(".", "-")) for api in csv.owned_services)
    return {name: former for name, former in found if former not in present}
