"""The structs of Go as tables: how they are written, those of CustomResourceDefinitions, and what is read from them.

One type per paragraph, its name first. Each word is a field: `!` means written even when empty, `:` names its type.
Types: none is text, `b` boolean, `i` and `l` integers of 32 and 64 bits, `f` number, `q` quantity, `t` time, `x` an
integer or text, `j` any JSON, `n` bytes in base64, `v` version, `r` release, `s` schema or boolean, `a` schema or list
of schemas, `d` schema or list of texts, other names are types of a table; `*` may be absent, `[…]` list, `{…}` map.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Final, Literal, TypeAlias

from shared.domain.go.text import fold
from shared.domain.go_types.csvtypes import CSV_TYPES
from shared.domain.go_types.podtypes import POD_TYPES

DEFINITION_TYPES: Final = """
CustomResourceDefinition kind apiVersion metadata:ObjectMeta spec!:CustomResourceDefinitionSpec
  status:CustomResourceDefinitionStatus
OldCustomResourceDefinition kind apiVersion metadata:ObjectMeta spec!:OldCustomResourceDefinitionSpec
OldCustomResourceDefinitionSpec group! version names!:CustomResourceDefinitionNames scope!
  validation:*CustomResourceValidation subresources:*CustomResourceSubresources
  versions:[CustomResourceDefinitionVersion] preserveUnknownFields:*b
CustomResourceDefinitionSpec group! names!:CustomResourceDefinitionNames scope!
  versions!:[CustomResourceDefinitionVersion] conversion:*CustomResourceConversion preserveUnknownFields:b
CustomResourceDefinitionNames plural! singular shortNames:[] kind! listKind categories:[]
CustomResourceDefinitionVersion name! served!:b storage!:b deprecated:b deprecationWarning:*
  schema:*CustomResourceValidation subresources:*CustomResourceSubresources
  additionalPrinterColumns:[CustomResourceColumnDefinition] selectableFields:[SelectableField]
CustomResourceValidation openAPIV3Schema:*JSONSchemaProps
CustomResourceSubresources status:*CustomResourceSubresourceStatus scale:*CustomResourceSubresourceScale
CustomResourceSubresourceStatus
CustomResourceSubresourceScale specReplicasPath! statusReplicasPath! labelSelectorPath:*
CustomResourceColumnDefinition name! type! format description priority:i jsonPath!
SelectableField jsonPath!
CustomResourceConversion strategy! webhook:*WebhookConversion
WebhookConversion clientConfig:*WebhookClientConfig conversionReviewVersions!:[]
WebhookClientConfig url:* service:*ServiceReference caBundle:n
ServiceReference namespace! name! path:* port:*i
CustomResourceDefinitionStatus conditions!:[CustomResourceDefinitionCondition]
  acceptedNames!:CustomResourceDefinitionNames storedVersions!:[] observedGeneration:l
CustomResourceDefinitionCondition type! status! lastTransitionTime!:t reason message observedGeneration:l
JSONSchemaProps id $schema $ref:* description type format title default:*j maximum:*f exclusiveMaximum:b minimum:*f
  exclusiveMinimum:b maxLength:*l minLength:*l pattern maxItems:*l minItems:*l uniqueItems:b multipleOf:*f enum:[j]
  maxProperties:*l minProperties:*l required:[] items:*a allOf:[JSONSchemaProps] oneOf:[JSONSchemaProps]
  anyOf:[JSONSchemaProps] not:*JSONSchemaProps properties:{JSONSchemaProps} additionalProperties:*s
  patternProperties:{JSONSchemaProps} dependencies:{d} additionalItems:*s definitions:{JSONSchemaProps}
  externalDocs:*ExternalDocumentation example:*j nullable:b x-kubernetes-preserve-unknown-fields:*b
  x-kubernetes-embedded-resource:b x-kubernetes-int-or-string:b x-kubernetes-list-map-keys:[] x-kubernetes-list-type:*
  x-kubernetes-map-type:* x-kubernetes-validations:[ValidationRule]
ExternalDocumentation description url
ValidationRule rule! message messageExpression reason:* fieldPath optionalOldSelf:*b
PodSchedulingGroup podGroupName:*
SubscriptionConfig nodeSelector:{} tolerations:[Toleration] resources:*ResourceRequirements envFrom:[EnvFromSource]
  env:[EnvVar] volumes:[Volume] volumeMounts:[VolumeMount] affinity:*Affinity annotations:{}
"""

_SINCE_1_36: Final = ("workloadRef:*WorkloadReference", "schedulingGroup:*PodSchedulingGroup")
"""A field of a pod that this release knows instead of another."""
_NEVER_EMPTY: Final = ("q", "x")


@dataclass(frozen=True, slots=True)
class Field:
    """One field of a struct."""

    name: str
    type: str
    is_required: bool
    """It is written even when it is empty."""
    is_kept: bool
    """It is written even when nobody states it: required, or of a type that is never empty to Go."""
    is_lasting: bool
    """It is written whenever it is stated, even as an empty value."""
    is_plain: bool
    """It holds no pointer, list or map: null does not take back what another spelling of its name states."""


@dataclass(frozen=True)
class Struct:
    """One struct: its fields by name, in the order of their declaration."""

    fields: Mapping[str, Field]

    @cached_property
    def order(self) -> Mapping[str, int]:
        """The places of the fields."""
        return {name: place for place, name in enumerate(self.fields)}

    @cached_property
    def kept(self) -> frozenset[str]:
        """The names of the fields that are written in any case."""
        return frozenset(name for name, field in self.fields.items() if field.is_kept)

    @cached_property
    def folded(self) -> Mapping[str, Field]:
        """The fields by folded name."""
        return {fold(name): field for name, field in self.fields.items()}


Structs: TypeAlias = Mapping[str, Struct]


@cache
def structs(release: Literal["1.35", "1.36"]) -> Structs:
    """All types of a release of Kubernetes, by name."""
    text = POD_TYPES + CSV_TYPES
    return read(text.replace(*_SINCE_1_36) + DEFINITION_TYPES if release == "1.36" else text)


def read(text: str) -> Structs:
    """The types of a table, by name."""
    rows = [row.split() for row in text.replace("\n  ", " ").splitlines() if row]
    names = {name for name, *_ in rows}
    return {
        name: Struct({field.name: field for field in (_field(word, names) for word in words)}) for name, *words in rows
    }


def _field(word: str, structs: Collection[str]) -> Field:
    named, _, kind = word.partition(":")
    is_required = named.endswith("!")
    is_kept = is_required or kind in _NEVER_EMPTY or kind in structs
    is_lasting = is_kept or kind == "j" or kind.startswith("*")
    return Field(named.removesuffix("!"), kind, is_required, is_kept, is_lasting, not kind.startswith(("*", "[", "{")))
