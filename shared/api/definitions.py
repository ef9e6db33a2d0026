"""Every custom resource of OLM, of both generations, in the order in which they are applied."""

from __future__ import annotations

from shared.api import (
    catalog_source,
    cluster_catalog,
    cluster_extension,
    cluster_object_set,
    cluster_service_version,
    install_plan,
    olm_config,
    operator,
    operator_condition,
    operator_group,
    subscription,
)
from shared.api.resource import Definition

DEFINITIONS: tuple[Definition, ...] = (
    catalog_source.DEFINITION,
    subscription.DEFINITION,
    install_plan.DEFINITION,
    cluster_service_version.DEFINITION,
    operator_group.DEFINITION,
    operator_condition.DEFINITION,
    operator.DEFINITION,
    olm_config.DEFINITION,
    cluster_catalog.DEFINITION,
    cluster_extension.DEFINITION,
    cluster_object_set.DEFINITION,
)
