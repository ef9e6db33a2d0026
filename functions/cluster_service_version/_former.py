"""What is left of an aggregated API under the names that OLM once gave to the objects around it."""

from __future__ import annotations

from shared.api.views import Csv, Object
from shared.domain.endpoints.former import former_objects, former_secrets
from shared.domain.objects.ownership import is_labelled_for
from shared.ports import Cluster, Keys


def left_of_former_names(csv: Csv, cluster: Cluster, keys: Keys) -> tuple[Object, ...]:
    """The objects that are labelled for the version; nothing is read for one without aggregated APIs."""
    secrets = (keys.stored(ref) for ref in former_secrets(csv))
    found = [*(one.manifest for one in secrets if one), *filter(None, cluster.get_all(former_objects(csv)))]
    return tuple(one for one in Object.each(found) if is_labelled_for(one, csv) and not one.is_deleted)
