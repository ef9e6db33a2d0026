# Addresses, folders and small words that every part uses.
CACHE=${XDG_CACHE_HOME:-$HOME/.cache}/olmf
BIN=${KUBE_BIN:-$HOME/.cache/olmf/kube-1.35.4-etcd-3.6.5}
STORE=${NODE_STORE:-$CACHE/node}
PYTHON=${PYTHON:-$ROOT/.venv/bin/python}
BRIDGE=olmf0 PODS=10.244.0 HOST=10.244.0.1 SERVICES=10.96 DNS=10.96.0.10 NODE=olmf-node
API=https://$HOST:6443 ETCD=127.0.0.1:12379
PROGRAMS="etcd kube-apiserver kube-controller-manager kubectl pause coredns kube-scheduler kubelet kube-proxy"
# Pods reach our registry by these names with TLS; containerd takes every image from it, whatever its registry is called.
REGISTRIES="docker.io registry-1.docker.io index.docker.io quay.io registry.k8s.io gcr.io ghcr.io registry.invalid registry.test"

say() { echo "node: $*" >&2; }
die() { say "$*"; exit 1; }
kubectl() { "$BIN/kubectl" --kubeconfig "$D/kubeconfig" "$@"; }

wait_for() { # WHAT COMMAND...: up to 60 s
  local what=$1; shift
  for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return 0; sleep 0.2; done
  die "$what is not there after 60 s; see $D/log"
}
