"""The shapes of the documents and properties that are known (fbc.md §2.4, §4.1, §4.5)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from shared.domain.catalog import model, shapes
from shared.domain.catalog.shapes import RAW, TEXT, TEXTS, Shape, Struct, list_of, struct

PROPERTY: Final = struct("property.Property", "type", value=RAW)
_PROPERTIES: Final = list_of(PROPERTY)
ENTRY: Final = struct("declcfg.ChannelEntry", "name replaces skipRange", skips=TEXTS)
REFERENCE: Final = struct("declcfg.PackageScopedReference", "schema name")
NOTICE: Final = struct("declcfg.DeprecationEntry", "message", reference=REFERENCE)
RELATED_IMAGE: Final = struct("declcfg.RelatedImage", "name image")

ICON: Final = struct("declcfg.Icon", "mediatype", base64data=shapes.BYTES)
PACKAGE: Final = struct("declcfg.Package", "schema name defaultChannel description", icon=ICON, properties=_PROPERTIES)
CHANNEL: Final = struct("declcfg.Channel", "schema name package", entries=list_of(ENTRY), properties=_PROPERTIES)
BUNDLE: Final = struct(
    "declcfg.Bundle", "schema name package image", properties=_PROPERTIES, relatedImages=list_of(RELATED_IMAGE)
)
DEPRECATIONS: Final = struct("declcfg.Deprecation", "schema package", entries=list_of(NOTICE))
DOCUMENTS: Final[Mapping[str, Struct]] = {
    "olm.package": PACKAGE, "olm.channel": CHANNEL, "olm.bundle": BUNDLE, "olm.deprecations": DEPRECATIONS,
}  # fmt: skip
"""The documents of a known schema."""


def _descriptor(go: str) -> Struct:
    return Struct(
        go, {**dict.fromkeys(("path", "displayName", "description"), TEXT), "x-descriptors": TEXTS, "value": RAW}
    )


_DESCRIBED: Final[Mapping[str, Shape]] = {
    **dict.fromkeys(("name", "version", "kind", "displayName", "description"), TEXT),
    "resources": list_of(struct("v1alpha1.APIResourceReference", "name kind version")),
    "statusDescriptors": list_of(_descriptor("v1alpha1.StatusDescriptor")),
    "specDescriptors": list_of(_descriptor("v1alpha1.SpecDescriptor")),
    "actionDescriptors": list_of(_descriptor("v1alpha1.ActionDescriptor")),
}
_CRDS: Final = list_of(Struct("v1alpha1.CRDDescription", _DESCRIBED))
_API_SERVICES: Final = list_of(
    Struct(
        "v1alpha1.APIServiceDescription",
        {**_DESCRIBED, "group": TEXT, "deploymentName": TEXT, "containerPort": shapes.INT32},
    )
)
_LINK: Final = struct("v1alpha1.AppLink", "name url")
_CSV_METADATA: Final = struct(
    "property.CSVMetadata", "description displayName maturity minKubeVersion",
    annotations=shapes.TEXT_MAP, labels=shapes.TEXT_MAP, keywords=TEXTS, provider=_LINK, links=list_of(_LINK),
    apiServiceDefinitions=struct("v1alpha1.APIServiceDefinitions", owned=_API_SERVICES, required=_API_SERVICES),
    crdDescriptions=struct("v1alpha1.CustomResourceDefinitions", owned=_CRDS, required=_CRDS),
    installModes=list_of(
        struct("v1alpha1.InstallMode", type=shapes.named_text("v1alpha1.InstallModeType"), supported=shapes.FLAG)
    ),
    maintainers=list_of(struct("v1alpha1.Maintainer", "name email")),
    nativeAPIs=list_of(struct("v1.GroupVersionKind", "group version kind")),
)  # fmt: skip

BUNDLE_OBJECT: Final = struct("property.BundleObject", data=shapes.BYTES)
PACKAGE_PROPERTY: Final = struct("property.Package", "packageName version release")
VALUES: Final[Mapping[str, Struct]] = {
    model.PACKAGE: PACKAGE_PROPERTY,
    model.PACKAGE_REQUIRED: struct("property.PackageRequired", "packageName versionRange"),
    model.GVK: struct("property.GVK", "group kind version"),
    model.GVK_REQUIRED: struct("property.GVKRequired", "group kind version"),
    model.BUNDLE_OBJECT: BUNDLE_OBJECT,
    model.CSV_METADATA: _CSV_METADATA,
    "olm.channel": struct("property.Channel", "channelName"),
}
"""The values of properties of a known type; those of other types may have any shape."""


def embedded(value: Mapping[str, Any] | None) -> bytes:
    """The manifest in the value of an `olm.bundle.object` that fits its shape."""
    return shapes.octets(BUNDLE_OBJECT.read(value).get("data"))
