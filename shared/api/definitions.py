"""Every custom resource of the first API of OLM, in the order in which they are applied."""

from __future__ import annotations

from shared.api import (
    catalog_source,
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
)
