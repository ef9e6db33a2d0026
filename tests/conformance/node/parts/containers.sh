# What runs containers: the registry, containerd, kubelet, kube-proxy, and the enforcement of NetworkPolicies.
registry_up() { # NAME ADDRESS [TLS]: one store, served twice
  cat >"$D/registry-$1.yaml" <<Y
version: 0.1
log: {level: warn}
storage: {filesystem: {rootdirectory: $STORE/registry}, delete: {enabled: true}}
http: {addr: "$2", secret: node${3:+, tls: {certificate: $STORE/ca/tls.crt, key: $STORE/ca/tls.key\}}}
Y
  start "registry-$1" docker-registry serve "$D/registry-$1.yaml"
}

containerd_up() {
  mkdir -p "$D/certs.d/_default"
  printf 'server = "http://%s:5000"\n[host."http://%s:5000"]\n  capabilities = ["pull", "resolve"]\n' $HOST $HOST >"$D/certs.d/_default/hosts.toml"
  # Where a machine has no CAP_SYS_RESOURCE, runc cannot lower oom_score_adj: hence restrict_oom_score_adj.
  cat >"$D/containerd.toml" <<T
version = 2
root = "$D/containerd"
state = "$D/containerd-run"
disabled_plugins = ["io.containerd.snapshotter.v1.btrfs", "io.containerd.snapshotter.v1.zfs", "io.containerd.snapshotter.v1.aufs", "io.containerd.snapshotter.v1.devmapper"]
[grpc]
  address = "$D/c.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "registry.k8s.io/pause:3.10.1"
  disable_apparmor = true
  restrict_oom_score_adj = true
  netns_mounts_under_state_dir = true
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "runc"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.runc]
      runtime_type = "io.containerd.runc.v2"
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "$D/cni"
  [plugins."io.containerd.grpc.v1.cri".registry]
    config_path = "$D/certs.d"
T
  start containerd containerd -c "$D/containerd.toml"
  wait_for containerd ctr -a "$D/c.sock" version
}

containerd_down() { # with every container, the same way whether it answers or not
  local each
  if lives containerd; then
    for each in $(ctr -a "$D/c.sock" -n k8s.io tasks ls -q); do
      (ctr -a "$D/c.sock" -n k8s.io tasks rm --force "$each" >/dev/null 2>&1 || true) &
    done; wait
  fi
  stop containerd
  for each in /proc/[0-9]*; do
    tr '\0' ' ' 2>/dev/null <"$each/cmdline" | grep -q -- "containerd-shim.*-address $D/c.sock" && kill -9 "${each#/proc/}" 2>/dev/null
  done || true
}

kubelet_up() {
  cat >"$D/kubelet.yaml" <<Y
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
failCgroupV1: false
cgroupDriver: cgroupfs
containerRuntimeEndpoint: unix://$D/c.sock
imageServiceEndpoint: unix://$D/c.sock
address: $HOST
healthzBindAddress: 127.0.0.1
clusterDNS: [$DNS]
clusterDomain: cluster.local
resolvConf: /etc/resolv.conf
tlsCertFile: $D/pki/kubelet-serving.crt
tlsPrivateKeyFile: $D/pki/kubelet-serving.key
authentication: {anonymous: {enabled: false}, webhook: {enabled: true}, x509: {clientCAFile: $D/pki/ca.crt}}
authorization: {mode: Webhook}
podLogsDir: $D/podlogs
volumePluginDir: $D/volumeplugins
makeIPTablesUtilChains: false
failSwapOn: false
evictionHard: {memory.available: 100Mi, nodefs.available: 1%, imagefs.available: 1%, nodefs.inodesFree: 1%}
imageGCHighThresholdPercent: 100
imageGCLowThresholdPercent: 99
maxPods: 150
Y
  start kubelet "$BIN/kubelet" --config="$D/kubelet.yaml" --kubeconfig="$D/pki/kubelet.kubeconfig" --root-dir="$D/kubelet" \
    --hostname-override=$NODE --node-ip=$HOST --cert-dir="$D/pki/kubelet"
}

proxy_up() {
  cat >"$D/proxy.yaml" <<Y
apiVersion: kubeproxy.config.k8s.io/v1alpha1
kind: KubeProxyConfiguration
mode: nftables
clusterCIDR: $PODS.0/24
hostnameOverride: $NODE
clientConnection: {kubeconfig: $D/pki/proxy.kubeconfig}
healthzBindAddress: 127.0.0.1:10256
metricsBindAddress: 127.0.0.1:10249
conntrack: {maxPerCore: 0, min: 0}
Y
  start kube-proxy "$BIN/kube-proxy" --config="$D/proxy.yaml"
  start policies env PYTHONPATH="$ROOT" "$PYTHON" -m tests.conformance.node.policies "$D/kubeconfig"
}
