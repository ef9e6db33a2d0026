"""The catalogs that a namespace sees, and the one among them that a person means."""

from __future__ import annotations

from http import HTTPStatus
from typing import TYPE_CHECKING, Final

from eventing.cli.commands import quoted
from eventing.cli.requests.request import PackageError, Request
from eventing.diagnosis.offers import offered
from eventing.wiring.environment import settings
from shared.api.manifest import Manifest, name_of, namespace_of
from shared.api.views import OperatorGroup
from shared.domain.command import kubectl, olmf
from shared.domain.resolution_inputs.namespace import excludes_global
from shared.kinds import CATALOG_SOURCE, OPERATOR_GROUP

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient
    from shared.ports import Catalogs

_MOST_NAMED: Final = 5


def visible_sources(cluster: KubeClient, namespace: str) -> tuple[Manifest, ...]:
    """The CatalogSources of a namespace and, unless its OperatorGroup excludes them, the global ones."""
    return tuple(
        source for place in visible_namespaces(cluster, namespace) for source in cluster.list(CATALOG_SOURCE, place)
    )


def visible_namespaces(cluster: KubeClient, namespace: str) -> list[str]:
    """The namespaces whose catalogs a namespace sees."""
    everyones = (
        []
        if excludes_global(OperatorGroup.each(cluster.list(OPERATOR_GROUP, namespace)))
        else [settings().policy.global_namespace]
    )
    return list(dict.fromkeys((*everyones, namespace)))


def asked_source(request: Request) -> tuple[str, str]:
    """Namespace and name of the CatalogSource that is asked for."""
    namespace, _, name = request.source.rpartition("/")
    return namespace or request.namespace, name


def source_for(cluster: KubeClient, request: Request, catalogs: Catalogs | None = None) -> tuple[str, str]:
    """Namespace and name of the CatalogSource to subscribe to: the one asked for, or the only one that can be meant.

    PackageError when there is none, or when several that the namespace sees have the package.
    """
    sources = visible_sources(cluster, request.namespace)
    found = [(namespace_of(source), name_of(source)) for source in sources]
    if request.source:
        if (desired := asked_source(request)) in found:
            return desired
        there = ", ".join(sorted(map("/".join, found))) or "none"
        raise PackageError(
            f"--source: {request.namespace} sees no CatalogSource {'/'.join(desired)}; there are: {there}"
            f"{hidden_catalogs(cluster, request.namespace)}"
        )
    match found:
        case []:
            why = hidden_catalogs(cluster, request.namespace)
            first = f"{quoted(olmf('up', '--catalog', 'PATH'))} or {quoted(kubectl('apply', '-f', 'FILE'))} makes one"
            raise PackageError(f"{request.namespace} sees no CatalogSource{why}; {first}")
        case [only]:
            return only
    rows = offered(cluster, catalogs, sources)
    having = sorted({str(one["catalog"]) for one in rows if one["package"] == request.package and one["channel"]})
    if not having:
        raise PackageError(
            f"no catalog that {request.namespace} sees offers {request.package!r}"
            f"{hidden_catalogs(cluster, request.namespace)}; {quoted(olmf('list', '--available'))} shows what there is"
        )
    if len(having) > 1:
        raise PackageError(f"{', '.join(having)} all offer {request.package!r}; choose one with --source")
    namespace, _, name = having[0].partition("/")
    return namespace, name


def hidden_catalogs(cluster: KubeClient, namespace: str) -> str:
    """Where a namespace may look, if there are catalogs elsewhere, and whoever asks may know of them."""
    from shared.adapters.kube import ApiError

    places = visible_namespaces(cluster, namespace)
    try:
        everywhere = cluster.list(CATALOG_SOURCE)
    except ApiError as error:
        if error.status != HTTPStatus.FORBIDDEN:
            raise
        return ""
    others = sorted({namespace_of(source) for source in everywhere} - set(places))
    if not others:
        return ""
    named = ", ".join(others[:_MOST_NAMED]) + (", …" if len(others) > _MOST_NAMED else "")
    seen = " and ".join(places)
    return f" (a namespace sees only the catalogs of {seen}; there are others in {named}: choose one with -n)"
