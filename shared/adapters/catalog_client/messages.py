"""The messages and services of the registry API (fbc.md §15.1, §15.2), and of health and reflection beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from shared.adapters.catalog_client.wire import Field, Message


def _message(name: str, *fields: Field) -> Message:
    return Message(name, fields)


def _texts(*names: str) -> tuple[Field, ...]:
    return tuple(Field(number, name) for number, name in enumerate(names, start=1) if name)


DEPRECATION: Final = _message("api.Deprecation", *_texts("message"))
CHANNEL: Final = _message("api.Channel", *_texts("name", "csvName"), Field(3, "deprecation", DEPRECATION))
PACKAGE_NAME: Final = _message("api.PackageName", *_texts("name"))
PACKAGE: Final = _message(
    "api.Package",
    Field(1, "name"),
    Field(2, "channels", CHANNEL, is_repeated=True),
    Field(3, "defaultChannelName"),
    Field(4, "deprecation", DEPRECATION),
)
GVK: Final = _message("api.GroupVersionKind", *_texts("group", "version", "kind", "plural"))
DEPENDENCY: Final = _message("api.Dependency", *_texts("type", "value"))
PROPERTY: Final = _message("api.Property", *_texts("type", "value"))
BUNDLE: Final = _message(
    "api.Bundle",
    *_texts("csvName", "packageName", "channelName", "csvJson"),
    Field(5, "object", is_repeated=True),
    Field(6, "bundlePath"),
    Field(7, "providedApis", GVK, is_repeated=True),
    Field(8, "requiredApis", GVK, is_repeated=True),
    Field(9, "version"),
    Field(10, "skipRange"),
    Field(11, "dependencies", DEPENDENCY, is_repeated=True),
    Field(12, "properties", PROPERTY, is_repeated=True),
    Field(13, "replaces"),
    Field(14, "skips", is_repeated=True),
    Field(15, "deprecation", DEPRECATION),
)
CHANNEL_ENTRY: Final = _message("api.ChannelEntry", *_texts("packageName", "channelName", "bundleName", "replaces"))
LIST_PACKAGES: Final = _message("api.ListPackageRequest")
LIST_BUNDLES: Final = _message("api.ListBundlesRequest")
GET_PACKAGE: Final = _message("api.GetPackageRequest", *_texts("name"))
GET_BUNDLE: Final = _message("api.GetBundleRequest", *_texts("pkgName", "channelName", "csvName"))
GET_HEAD: Final = _message("api.GetBundleInChannelRequest", *_texts("pkgName", "channelName"))
GET_REPLACING: Final = _message("api.GetAllReplacementsRequest", *_texts("csvName"))
GET_REPLACEMENT: Final = _message("api.GetReplacementRequest", *_texts("csvName", "pkgName", "channelName"))
GET_PROVIDERS: Final = _message("api.GetAllProvidersRequest", *_texts("group", "version", "kind", "plural"))
GET_LATEST_PROVIDERS: Final = _message("api.GetLatestProvidersRequest", *_texts("group", "version", "kind", "plural"))
GET_DEFAULT_PROVIDER: Final = _message("api.GetDefaultProviderRequest", *_texts("group", "version", "kind", "plural"))
LIST_SCHEMAS: Final = _message("api.ExperimentalListPackageCustomSchemasRequest", *_texts("schema", "packageName"))
STRUCT: Final = Message("google.protobuf.Struct")
"""Any JSON object; `structs` encodes it."""

HEALTH_CHECK: Final = _message("grpc.health.v1.HealthCheckRequest", *_texts("service"))
HEALTH_STATUS: Final = _message("grpc.health.v1.HealthCheckResponse", Field(1, "status", "int"))
SERVING: Final = 1


@dataclass(frozen=True, slots=True)
class Method:
    """One call of a service."""

    name: str
    request: Message
    response: Message
    is_stream: bool = False


REGISTRY: Final = "api.Registry"
EXPERIMENTAL: Final = "api.ExperimentalRegistry"
HEALTH: Final = "grpc.health.v1.Health"

SERVICES: Final[dict[str, tuple[Method, ...]]] = {
    REGISTRY: (
        Method("ListPackages", LIST_PACKAGES, PACKAGE_NAME, is_stream=True),
        Method("GetPackage", GET_PACKAGE, PACKAGE),
        Method("GetBundle", GET_BUNDLE, BUNDLE),
        Method("GetBundleForChannel", GET_HEAD, BUNDLE),
        Method("GetChannelEntriesThatReplace", GET_REPLACING, CHANNEL_ENTRY, is_stream=True),
        Method("GetBundleThatReplaces", GET_REPLACEMENT, BUNDLE),
        Method("GetChannelEntriesThatProvide", GET_PROVIDERS, CHANNEL_ENTRY, is_stream=True),
        Method("GetLatestChannelEntriesThatProvide", GET_LATEST_PROVIDERS, CHANNEL_ENTRY, is_stream=True),
        Method("GetDefaultBundleThatProvides", GET_DEFAULT_PROVIDER, BUNDLE),
        Method("ListBundles", LIST_BUNDLES, BUNDLE, is_stream=True),
    ),
    EXPERIMENTAL: (Method("ExperimentalListPackageCustomSchemas", LIST_SCHEMAS, STRUCT, is_stream=True),),
    HEALTH: (
        Method("Check", HEALTH_CHECK, HEALTH_STATUS),
        Method("Watch", HEALTH_CHECK, HEALTH_STATUS, is_stream=True),
    ),
}
