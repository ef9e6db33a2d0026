"""The fields of a ClusterServiceVersion in Go's types; `typetables` explains the notation."""

from __future__ import annotations

from typing import Final

CSV_TYPES: Final = """
ClusterServiceVersion kind apiVersion metadata!:ObjectMeta spec!:ClusterServiceVersionSpec status!:Status
ClusterServiceVersionSpec install!:NamedInstallStrategy version!:v release:r maturity
  customresourcedefinitions:CustomResourceDefinitions apiservicedefinitions:APIServiceDefinitions
  webhookdefinitions:[WebhookDescription] nativeAPIs:[GroupVersionKind] minKubeVersion displayName! description
  keywords:[]
  maintainers:[Maintainer] provider:AppLink links:[AppLink] icon:[Icon] installModes:[InstallMode] replaces labels:{}
  annotations:{} selector:*LabelSelector cleanup:CleanupSpec skips:[] relatedImages:[RelatedImage]
NamedInstallStrategy strategy! spec:StrategyDetailsDeployment
StrategyDetailsDeployment deployments!:[StrategyDeploymentSpec] permissions:[StrategyDeploymentPermissions]
  clusterPermissions:[StrategyDeploymentPermissions]
StrategyDeploymentPermissions serviceAccountName! rules!:[PolicyRule]
StrategyDeploymentSpec name! spec!:DeploymentSpec label:{}
CustomResourceDefinitions owned:[CRDDescription] required:[CRDDescription]
CRDDescription name! version! kind! displayName description resources:[APIResourceReference]
  statusDescriptors:[Descriptor] specDescriptors:[Descriptor] actionDescriptors:[Descriptor]
APIServiceDefinitions owned:[APIServiceDescription] required:[APIServiceDescription]
APIServiceDescription name! group! version! kind! deploymentName containerPort:i displayName description
  resources:[APIResourceReference] statusDescriptors:[Descriptor] specDescriptors:[Descriptor]
  actionDescriptors:[Descriptor]
APIResourceReference name! kind! version!
Descriptor path! displayName description x-descriptors:[] value:j
WebhookDescription generateName! type! deploymentName containerPort:i targetPort:*x rules:[RuleWithOperations]
  failurePolicy:* matchPolicy:* objectSelector:*LabelSelector sideEffects!:* timeoutSeconds:*i
  admissionReviewVersions!:[] reinvocationPolicy:* webhookPath:* conversionCRDs:[]
GroupVersionKind group! version! kind!
Maintainer name email
AppLink name url
Icon base64data! mediatype!
InstallMode type! supported!:b
CleanupSpec enabled!:b
RelatedImage name! image!
Status phase message reason lastUpdateTime:*t lastTransitionTime:*t conditions:[Condition]
  requirementStatus:[RequirementStatus] certsLastUpdated:*t certsRotateAt:*t cleanup:CleanupStatus
Condition phase message reason lastUpdateTime:*t lastTransitionTime:*t
RequirementStatus group! version! kind! name! status! message! uuid dependents:[DependentStatus]
DependentStatus group! version! kind! status! uuid message
CleanupStatus pendingDeletion:[ResourceList]
ResourceList group! kind! instances!:[ResourceInstance]
ResourceInstance name! namespace
RegistryApis customresourcedefinitions:DefinitionKeys apiservicedefinitions:DefinitionKeys
RegistryImages relatedImages:[RelatedImage] install:RegistryInstall
DefinitionKeys owned:[DefinitionKey] required:[DefinitionKey]
DefinitionKey group! kind! name! version!
RegistryInstall strategy! spec:RegistryStrategy
RegistryStrategy deployments:[RegistryDeployment]
RegistryDeployment name! spec:DeploymentSpec
CSVMetadata annotations:{} apiServiceDefinitions:APIServiceDefinitions crdDescriptions:CustomResourceDefinitions
  description displayName installModes:[InstallMode] keywords:[] labels:{} links:[AppLink] maintainers:[Maintainer]
  maturity minKubeVersion nativeAPIs:[GroupVersionKind] provider:AppLink
"""
