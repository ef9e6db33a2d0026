"""The fields of a Deployment in Go's types of Kubernetes 1.35; `typetables` explains the notation."""

from __future__ import annotations

from typing import Final

POD_TYPES: Final = """
AWSElasticBlockStoreVolumeSource volumeID! fsType partition:i readOnly:b
Affinity nodeAffinity:*NodeAffinity podAffinity:*PodAffinity podAntiAffinity:*PodAntiAffinity
AppArmorProfile type! localhostProfile:*
AzureDiskVolumeSource diskName! diskURI! cachingMode:* fsType:* readOnly:*b kind:*
AzureFileVolumeSource secretName! shareName! readOnly:b
CSIVolumeSource driver! readOnly:*b fsType:* volumeAttributes:{} nodePublishSecretRef:*LocalObjectReference
Capabilities add:[] drop:[]
CephFSVolumeSource monitors!:[] path user secretFile secretRef:*LocalObjectReference readOnly:b
CinderVolumeSource volumeID! fsType readOnly:b secretRef:*LocalObjectReference
ClusterTrustBundleProjection name:* signerName:* labelSelector:*LabelSelector optional:*b path!
ConfigMapEnvSource name optional:*b
ConfigMapKeySelector name key! optional:*b
ConfigMapProjection name items:[KeyToPath] optional:*b
ConfigMapVolumeSource name items:[KeyToPath] defaultMode:*i optional:*b
Container name! image command:[] args:[] workingDir ports:[ContainerPort] envFrom:[EnvFromSource] env:[EnvVar]
  resources:ResourceRequirements resizePolicy:[ContainerResizePolicy] restartPolicy:*
  restartPolicyRules:[ContainerRestartRule] volumeMounts:[VolumeMount] volumeDevices:[VolumeDevice]
  livenessProbe:*Probe readinessProbe:*Probe startupProbe:*Probe lifecycle:*Lifecycle terminationMessagePath
  terminationMessagePolicy imagePullPolicy securityContext:*SecurityContext stdin:b stdinOnce:b tty:b
ContainerPort name hostPort:i containerPort!:i protocol hostIP
ContainerResizePolicy resourceName! restartPolicy!
ContainerRestartRule action exitCodes:*ContainerRestartRuleOnExitCodes
ContainerRestartRuleOnExitCodes operator values:[i]
DeploymentSpec replicas:*i selector!:*LabelSelector template!:PodTemplateSpec strategy:DeploymentStrategy
  minReadySeconds:i revisionHistoryLimit:*i paused:b progressDeadlineSeconds:*i
DeploymentStrategy type rollingUpdate:*RollingUpdateDeployment
DownwardAPIProjection items:[DownwardAPIVolumeFile]
DownwardAPIVolumeFile path! fieldRef:*ObjectFieldSelector resourceFieldRef:*ResourceFieldSelector mode:*i
DownwardAPIVolumeSource items:[DownwardAPIVolumeFile] defaultMode:*i
EmptyDirVolumeSource medium sizeLimit:*q
EnvFromSource prefix configMapRef:*ConfigMapEnvSource secretRef:*SecretEnvSource
EnvVar name! value valueFrom:*EnvVarSource
EnvVarSource fieldRef:*ObjectFieldSelector resourceFieldRef:*ResourceFieldSelector
  configMapKeyRef:*ConfigMapKeySelector secretKeyRef:*SecretKeySelector fileKeyRef:*FileKeySelector
EphemeralContainer name! image command:[] args:[] workingDir ports:[ContainerPort] envFrom:[EnvFromSource]
  env:[EnvVar] resources:ResourceRequirements resizePolicy:[ContainerResizePolicy] restartPolicy:*
  restartPolicyRules:[ContainerRestartRule] volumeMounts:[VolumeMount] volumeDevices:[VolumeDevice]
  livenessProbe:*Probe readinessProbe:*Probe startupProbe:*Probe lifecycle:*Lifecycle terminationMessagePath
  terminationMessagePolicy imagePullPolicy securityContext:*SecurityContext stdin:b stdinOnce:b tty:b
  targetContainerName
EphemeralVolumeSource volumeClaimTemplate:*PersistentVolumeClaimTemplate
ExecAction command:[]
FCVolumeSource targetWWNs:[] lun:*i fsType readOnly:b wwids:[]
FileKeySelector volumeName! path! key! optional:*b
FlexVolumeSource driver! fsType secretRef:*LocalObjectReference readOnly:b options:{}
FlockerVolumeSource datasetName datasetUUID
GCEPersistentDiskVolumeSource pdName! fsType partition:i readOnly:b
GRPCAction port!:i service!:*
GitRepoVolumeSource repository! revision directory
GlusterfsVolumeSource endpoints! path! readOnly:b
HTTPGetAction path port!:x host scheme httpHeaders:[HTTPHeader]
HTTPHeader name! value!
HostAlias ip! hostnames:[]
HostPathVolumeSource path! type:*
ISCSIVolumeSource targetPortal! iqn! lun!:i iscsiInterface fsType readOnly:b portals:[] chapAuthDiscovery:b
  chapAuthSession:b secretRef:*LocalObjectReference initiatorName:*
ImageVolumeSource reference pullPolicy
KeyToPath key! path! mode:*i
LabelSelector matchLabels:{} matchExpressions:[LabelSelectorRequirement]
LabelSelectorRequirement key! operator! values:[]
Lifecycle postStart:*LifecycleHandler preStop:*LifecycleHandler stopSignal:*
LifecycleHandler exec:*ExecAction httpGet:*HTTPGetAction tcpSocket:*TCPSocketAction sleep:*SleepAction
LocalObjectReference name
ManagedFieldsEntry manager operation apiVersion time:*t fieldsType fieldsV1:*j subresource
NFSVolumeSource server! path! readOnly:b
NodeAffinity requiredDuringSchedulingIgnoredDuringExecution:*NodeSelector
  preferredDuringSchedulingIgnoredDuringExecution:[PreferredSchedulingTerm]
NodeSelector nodeSelectorTerms!:[NodeSelectorTerm]
NodeSelectorRequirement key! operator! values:[]
NodeSelectorTerm matchExpressions:[NodeSelectorRequirement] matchFields:[NodeSelectorRequirement]
ObjectFieldSelector apiVersion fieldPath!
ObjectMeta name generateName namespace selfLink uid resourceVersion generation:l creationTimestamp:t
  deletionTimestamp:*t deletionGracePeriodSeconds:*l labels:{} annotations:{} ownerReferences:[OwnerReference]
  finalizers:[] managedFields:[ManagedFieldsEntry]
PartialObjectMetadata kind apiVersion metadata!:ObjectMeta
OwnerReference apiVersion! kind! name! uid! controller:*b blockOwnerDeletion:*b
PersistentVolumeClaimSpec accessModes:[] selector:*LabelSelector resources:VolumeResourceRequirements volumeName
  storageClassName:* volumeMode:* dataSource:*TypedLocalObjectReference dataSourceRef:*TypedObjectReference
  volumeAttributesClassName:*
PersistentVolumeClaimTemplate metadata:ObjectMeta spec!:PersistentVolumeClaimSpec
PersistentVolumeClaimVolumeSource claimName! readOnly:b
PhotonPersistentDiskVolumeSource pdID! fsType
PodAffinity requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
  preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
PodAffinityTerm labelSelector:*LabelSelector namespaces:[] topologyKey! namespaceSelector:*LabelSelector
  matchLabelKeys:[] mismatchLabelKeys:[]
PodAntiAffinity requiredDuringSchedulingIgnoredDuringExecution:[PodAffinityTerm]
  preferredDuringSchedulingIgnoredDuringExecution:[WeightedPodAffinityTerm]
PodCertificateProjection signerName keyType maxExpirationSeconds:*i credentialBundlePath keyPath
  certificateChainPath userAnnotations:{}
PodDNSConfig nameservers:[] searches:[] options:[PodDNSConfigOption]
PodDNSConfigOption name value:*
PodOS name!
PodReadinessGate conditionType!
PodResourceClaim name! resourceClaimName:* resourceClaimTemplateName:*
PodSchedulingGate name!
PodSecurityContext seLinuxOptions:*SELinuxOptions windowsOptions:*WindowsSecurityContextOptions runAsUser:*l
  runAsGroup:*l runAsNonRoot:*b supplementalGroups:[l] supplementalGroupsPolicy:* fsGroup:*l sysctls:[Sysctl]
  fsGroupChangePolicy:* seccompProfile:*SeccompProfile appArmorProfile:*AppArmorProfile seLinuxChangePolicy:*
PodSpec volumes:[Volume] initContainers:[Container] containers!:[Container] ephemeralContainers:[EphemeralContainer]
  restartPolicy terminationGracePeriodSeconds:*l activeDeadlineSeconds:*l dnsPolicy nodeSelector:{}
  serviceAccountName serviceAccount automountServiceAccountToken:*b nodeName hostNetwork:b hostPID:b hostIPC:b
  shareProcessNamespace:*b securityContext:*PodSecurityContext imagePullSecrets:[LocalObjectReference] hostname
  subdomain affinity:*Affinity schedulerName tolerations:[Toleration] hostAliases:[HostAlias] priorityClassName
  priority:*i dnsConfig:*PodDNSConfig readinessGates:[PodReadinessGate] runtimeClassName:* enableServiceLinks:*b
  preemptionPolicy:* overhead:{q} topologySpreadConstraints:[TopologySpreadConstraint] setHostnameAsFQDN:*b
  os:*PodOS hostUsers:*b schedulingGates:[PodSchedulingGate] resourceClaims:[PodResourceClaim]
  resources:*ResourceRequirements hostnameOverride:* workloadRef:*WorkloadReference
PodTemplateSpec metadata:ObjectMeta spec:PodSpec
PolicyRule verbs!:[] apiGroups:[] resources:[] resourceNames:[] nonResourceURLs:[]
PortworxVolumeSource volumeID! fsType readOnly:b
PreferredSchedulingTerm weight!:i preference!:NodeSelectorTerm
Probe exec:*ExecAction httpGet:*HTTPGetAction tcpSocket:*TCPSocketAction grpc:*GRPCAction initialDelaySeconds:i
  timeoutSeconds:i periodSeconds:i successThreshold:i failureThreshold:i terminationGracePeriodSeconds:*l
ProjectedVolumeSource sources!:[VolumeProjection] defaultMode:*i
QuobyteVolumeSource registry! volume! readOnly:b user group tenant
RBDVolumeSource monitors!:[] image! fsType pool user keyring secretRef:*LocalObjectReference readOnly:b
ResourceClaim name! request
ResourceFieldSelector containerName resource! divisor:q
ResourceRequirements limits:{q} requests:{q} claims:[ResourceClaim]
RollingUpdateDeployment maxUnavailable:*x maxSurge:*x
RuleWithOperations operations:[] apiGroups:[] apiVersions:[] resources:[] scope:*
SELinuxOptions user role type level
ScaleIOVolumeSource gateway! system! secretRef!:*LocalObjectReference sslEnabled:b protectionDomain storagePool
  storageMode volumeName fsType readOnly:b
SeccompProfile type! localhostProfile:*
SecretEnvSource name optional:*b
SecretKeySelector name key! optional:*b
SecretProjection name items:[KeyToPath] optional:*b
SecretVolumeSource secretName items:[KeyToPath] defaultMode:*i optional:*b
SecurityContext capabilities:*Capabilities privileged:*b seLinuxOptions:*SELinuxOptions
  windowsOptions:*WindowsSecurityContextOptions runAsUser:*l runAsGroup:*l runAsNonRoot:*b readOnlyRootFilesystem:*b
  allowPrivilegeEscalation:*b procMount:* seccompProfile:*SeccompProfile appArmorProfile:*AppArmorProfile
ServiceAccountTokenProjection audience expirationSeconds:*l path!
SleepAction seconds!:l
StorageOSVolumeSource volumeName volumeNamespace fsType readOnly:b secretRef:*LocalObjectReference
Sysctl name! value!
TCPSocketAction port!:x host
Toleration key operator value effect tolerationSeconds:*l
TopologySpreadConstraint maxSkew!:i topologyKey! whenUnsatisfiable! labelSelector:*LabelSelector minDomains:*i
  nodeAffinityPolicy:* nodeTaintsPolicy:* matchLabelKeys:[]
TypedLocalObjectReference apiGroup!:* kind! name!
TypedObjectReference apiGroup!:* kind! name! namespace:*
Volume name! hostPath:*HostPathVolumeSource emptyDir:*EmptyDirVolumeSource
  gcePersistentDisk:*GCEPersistentDiskVolumeSource awsElasticBlockStore:*AWSElasticBlockStoreVolumeSource
  gitRepo:*GitRepoVolumeSource secret:*SecretVolumeSource nfs:*NFSVolumeSource iscsi:*ISCSIVolumeSource
  glusterfs:*GlusterfsVolumeSource persistentVolumeClaim:*PersistentVolumeClaimVolumeSource rbd:*RBDVolumeSource
  flexVolume:*FlexVolumeSource cinder:*CinderVolumeSource cephfs:*CephFSVolumeSource flocker:*FlockerVolumeSource
  downwardAPI:*DownwardAPIVolumeSource fc:*FCVolumeSource azureFile:*AzureFileVolumeSource
  configMap:*ConfigMapVolumeSource vsphereVolume:*VsphereVirtualDiskVolumeSource quobyte:*QuobyteVolumeSource
  azureDisk:*AzureDiskVolumeSource photonPersistentDisk:*PhotonPersistentDiskVolumeSource
  projected:*ProjectedVolumeSource portworxVolume:*PortworxVolumeSource scaleIO:*ScaleIOVolumeSource
  storageos:*StorageOSVolumeSource csi:*CSIVolumeSource ephemeral:*EphemeralVolumeSource image:*ImageVolumeSource
VolumeDevice name! devicePath!
VolumeMount name! readOnly:b recursiveReadOnly:* mountPath! subPath mountPropagation:* subPathExpr
VolumeProjection secret:*SecretProjection downwardAPI:*DownwardAPIProjection configMap:*ConfigMapProjection
  serviceAccountToken:*ServiceAccountTokenProjection clusterTrustBundle:*ClusterTrustBundleProjection
  podCertificate:*PodCertificateProjection
VolumeResourceRequirements limits:{q} requests:{q}
VsphereVirtualDiskVolumeSource volumePath! fsType storagePolicyName storagePolicyID
WeightedPodAffinityTerm weight!:i podAffinityTerm!:PodAffinityTerm
WindowsSecurityContextOptions gmsaCredentialSpecName:* gmsaCredentialSpec:* runAsUserName:* hostProcess:*b
WorkloadReference name! podGroup! podGroupReplicaKey
"""
