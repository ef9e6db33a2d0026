#!/bin/bash
# olm-functions in pods of a real node, on a bare Linux machine, as root: `make cluster`, `make cluster-down`.
#   cluster.sh up [DIR]      build what is missing, start the node, apply k8s/base, install two sample operators
#   cluster.sh down [DIR]    take all of it away; what was built stays in ~/.cache/olmf
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) ROOT=$(cd "$HERE/../../.." && pwd)
for part in names processes keys images; do . "$HERE/parts/$part.sh"; done
D=${2:-${OLMF_NODE:-/run/olmf-node}} OURS=docker.io/library/olm-functions:0.1.0 CATALOG=samples/catalog:latest
step() { echo "$(date +%T) $*"; }

up() {
  local began=$SECONDS
  step "1/6 programs and base images: built once, about 20 minutes; kept in $BIN and $STORE"
  "$HERE/node.sh" build
  step "2/6 the node: etcd, API server, controllers, scheduler, kubelet, containerd, in $D"
  "$HERE/node.sh" up "$D"
  step "3/6 the image of olm-functions, and those of the sample operators"
  our_images
  step "4/6 kubectl apply -k k8s/base"
  apply
  step "5/6 a catalog of the sample bundles"
  "$PYTHON" -m tests.conformance.node.samples "$HOST:5000" "$CATALOG"
  kubectl apply -f "$HERE/operators.yaml" >/dev/null
  step "6/6 two operators"
  succeeded tide.v1.0.0; succeeded beacon.v1.1.0
  kubectl -n sea get csv,deploy,pods
  step "done in $((SECONDS - began)) s. Look around with: export KUBECONFIG=$D/kubeconfig PATH=$BIN:\$PATH"
}

our_images() {
  local folder name version
  "$HERE/node.sh" image "$ROOT" "$ROOT/k8s/image/Dockerfile" "$OURS" >"$D/log/image.log" 2>&1 || die "no image; see $D/log/image.log"
  "$HERE/node.sh" image "$HERE/operator" "$HERE/operator/Dockerfile" registry.invalid/samples/lamps:1.0.0 >>"$D/log/image.log" 2>&1
  push registry.invalid/samples/lamps:1.0.0 registry.invalid/samples/lamps:1.1.0
  for folder in "$ROOT"/k8s/samples/bundles/*/*; do
    name=$(basename "$(dirname "$folder")") version=$(basename "$folder")
    push registry.k8s.io/pause:3.10.1 "registry.invalid/samples/$name:$version"
  done
}

apply() {
  kubectl apply -k "$ROOT/k8s/base" >"$D/log/apply.log"
  kubectl -n olm get secret olmf-redis >/dev/null 2>&1 ||
    kubectl -n olm create secret generic olmf-redis --from-literal=password="$(openssl rand -hex 24)" >/dev/null
  local each
  for each in $(kubectl -n olm get deployments -o name); do kubectl -n olm rollout status "$each" --timeout=180s >/dev/null; done
}

succeeded() { # CSV
  kubectl -n sea wait "csv/$1" --for=create --timeout=120s >/dev/null
  kubectl -n sea wait "csv/$1" --for=jsonpath='{.status.phase}'=Succeeded --timeout=120s >/dev/null
}

case ${1:-} in
  up) cd "$ROOT"; up ;;
  down) [ ! -d "$D" ] || { "$HERE/node.sh" down "$D"; rm -r "$D"; } ;;
  *) sed -n '2,4p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
