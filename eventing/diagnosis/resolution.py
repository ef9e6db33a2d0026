"""What the resolver is asked: as JSON lines, by manifests, or by a namespace of a cluster."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

import msgspec

from eventing.diagnosis.catalogs import catalogs_for
from eventing.wiring.environment import settings
from shared.adapters import files
from shared.adapters.oci.errors import OciError
from shared.api.manifest import namespace_of
from shared.domain.catalog.documents import NotACatalog, light, read
from shared.domain.resolution_inputs.request import inputs_of, paths_of, reader_of, response_of
from shared.domain.resolver.catalog_readers import LoadedCatalog
from shared.domain.resolver.explain.fixes import explain
from shared.domain.resolver.identity import CatalogKey
from shared.domain.resolver.model import Catalog, CatalogReader, Inputs
from shared.domain.resolver.resolve import resolve
from shared.domain.shape import InvalidRequest
from shared.reading.namespace import read_namespace

if TYPE_CHECKING:
    from shared.adapters.kube import KubeClient


REMEMBERED: Final = 1024
"""Number of answers that are cached for repeated requests."""
_FIELDS: Final = {"Subscription": "subscriptions", "ClusterServiceVersion": "csvs", "OperatorGroup": "operatorGroups"}
"""The manifests that the resolver reads, by kind, and their field in a request."""


def answering(*, is_whole: bool) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """A function that answers requests and caches the answers; catalogs of the same path are loaded once.

    It raises InvalidRequest, which says what is wrong with a question or with one of its catalogs.
    """
    loaded: dict[str, LoadedCatalog] = {}
    answers: OrderedDict[bytes, dict[str, Any]] = OrderedDict()

    def answer(request: Mapping[str, Any]) -> dict[str, Any]:
        key = _digest(request)
        if key not in answers:
            answers[key] = decide(request)
            if len(answers) > REMEMBERED:
                answers.popitem(last=False)
        return answers[key]

    def decide(request: Mapping[str, Any]) -> dict[str, Any]:
        loaded.update({path: _loaded(path) for path in paths_of(request) if path not in loaded})
        inputs = inputs_of(request, loaded, is_whole=is_whole)
        resolution = resolve(inputs)
        return response_of(resolution, explain(inputs, resolution))

    return answer


def _digest(request: Mapping[str, Any]) -> bytes:
    """The digest of everything that the answer depends on, which excludes the id of the request."""
    cached_by = {name: value for name, value in request.items() if name != "id"}
    return hashlib.sha256(msgspec.json.encode(cached_by, order="deterministic")).digest()


def _loaded(path: str) -> LoadedCatalog:
    try:
        with files.opened(path) as found:
            documents = [light(one) for file in found for one in read(file.name, file.read())]
    except OSError as error:
        raise InvalidRequest(f"catalog {path}: {(error.strerror or str(error)).lower()}") from error
    except (OciError, NotACatalog) as error:
        raise InvalidRequest(f"catalog {path}: {error}") from error
    named = ({"schema": one.schema, "package": one.package, "name": one.name, **one.fields} for one in documents)
    return reader_of(named, f"catalog {path}")


def inputs_of_manifests(
    manifests: Sequence[Mapping[str, Any]],
    readers: Mapping[CatalogKey, CatalogReader],
    namespace: str,
    *,
    is_whole: bool,
) -> Inputs:
    """The inputs for a namespace, read from manifests. Raises InvalidRequest."""
    request: dict[str, Any] = {"namespace": namespace}
    for one in manifests:
        if one.get("kind") in _FIELDS and namespace_of(one) in ("", namespace):
            request.setdefault(_FIELDS[one["kind"]], []).append(one)
    inputs = inputs_of(request, {}, is_whole=is_whole)
    catalogs = {key: Catalog(key, reference="as given") for key in readers}
    return replace(inputs, catalogs={**inputs.catalogs, **catalogs}, readers=readers)


def namespaces_in(manifests: Iterable[Mapping[str, Any]]) -> set[str]:
    """The namespaces of the manifests that the resolver reads; empty for those without one, which count everywhere."""
    return {namespace_of(one) for one in manifests if one.get("kind") in _FIELDS}


def inputs_of_namespace(cluster: KubeClient, namespace: str, *, is_whole: bool) -> Inputs:
    """The inputs for a namespace of a cluster, with the settings of the environment. Raises SettingError."""
    policy = replace(settings().policy, plan_scope="namespace" if is_whole else "component")
    snapshot = read_namespace(cluster, catalogs_for(cluster), namespace, policy, is_whole=True)
    return snapshot.inputs
