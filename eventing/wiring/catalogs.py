"""`olmf run catalogs`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from eventing.catalogs import program
from eventing.catalogs.served_catalogs import OPENED_AT_ONCE, ServedCatalogs
from eventing.catalogs.served_sources import ServedSources
from eventing.catalogs.tls_profile import TlsProfile
from eventing.wiring.content import content
from shared.adapters.catalog_api.graphql.queries import Queries, prepare
from shared.adapters.catalog_api.lines import lines_indexer
from shared.adapters.content.store import Store
from shared.adapters.kube import KubeClient
from shared.config import Settings


def main(
    values: Settings, announce: Callable[[str], None], *, certificate: Path | None, key: Path | None, tls: TlsProfile
) -> None:
    """Serve catalogs until SIGTERM."""
    client = KubeClient.from_kubeconfig(values.kubeconfig, agent="olmf/catalogs")
    policy, store = values.policy, Store(values.content, limit_bytes=values.content_bytes)
    opens = [content(values, client)[0].snapshot for _ in range(2 * OPENED_AT_ONCE)]
    served = ServedCatalogs(
        [content(values, client, lines_indexer(store))[0].snapshot for _ in range(OPENED_AT_ONCE)],
        store,
        policy.global_namespace,
        policy.pull_secrets,
        prepare=prepare if values.catalog_graphql else lambda _: None,
    )
    sources = ServedSources(opens[:OPENED_AT_ONCE], opens[OPENED_AT_ONCE:], policy.global_namespace)
    queries = Queries() if values.catalog_graphql else None
    host = "127.0.0.1" if values.kubeconfig else ""
    place = program.Place(host, values.port, certificate, key, values.registry_port, values.health_port, tls)
    program.run(place, client.connection, program.Content(served, sources, queries), announce)
