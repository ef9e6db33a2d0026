"""What Go's types of Kubernetes 1.36 know of a CustomResourceDefinition; how to read it is told in `podtypes`.

More types: `f` number, `n` bytes in base64, `s` schema or boolean, `a` schema or list of schemas, `d` schema or list of
texts.
"""

from __future__ import annotations

from typing import Final

DEFINITION_TYPES: Final = """
CustomResourceDefinition kind apiVersion metadata:ObjectMeta spec!:CustomResourceDefinitionSpec
  status:CustomResourceDefinitionStatus
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
