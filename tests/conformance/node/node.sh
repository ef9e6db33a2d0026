#!/bin/bash
# A real Kubernetes node on a bare Linux machine, as root, without systemd; README.md says how it is put together.
#   node.sh build            programs and images, once per machine
#   node.sh up DIR           start; DIR/kubeconfig is the administrator's
#   node.sh restart DIR      end kubelet, containerd and every container, and start them again, as when a machine restarts
#   node.sh kill DIR NAME    kill a program, of those that `status` shows, and start it again
#   node.sh down DIR         stop, and take away every container, mount, interface, rule and cgroup
#   node.sh status DIR       what runs
#   node.sh image FOLDER DOCKERFILE NAME   build an image, and push it
#   node.sh push IMAGE NAME  an image that was built, by another name, e.g. quay.io/acme/app:1
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) ROOT=$(cd "$HERE/../../.." && pwd)
for part in names processes keys images network control_plane containers; do . "$HERE/parts/$part.sh"; done

build() {
  local need=() each
  for each in containerd runc containernetworking-plugins nftables conntrack buildah docker-registry debootstrap openssl iproute2 procps curl ca-certificates; do
    dpkg -s "$each" >/dev/null 2>&1 || need+=("$each"); done
  if [ ${#need[@]} != 0 ]; then
    say "installing ${need[*]}"
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${need[@]}" >/dev/null
  fi
  for each in $PROGRAMS; do
    [ -x "$BIN/$each" ] || (cd "$ROOT" && "$PYTHON" -c "from tests.conformance.control_plane import program; program('$each')"); done
  registry_keys; base_images
}

up() {
  [ "$(id -u)" = 0 ] || die "root only"
  [ ${#D} -lt 60 ] || die "$D is too long for Unix sockets"
  [ ! -e "$D/pid/kubelet" ] || die "$D is up, or was not taken down: node.sh down $D"
  local each since=$SECONDS
  for each in $PROGRAMS; do [ -x "$BIN/$each" ] || die "no $BIN/$each: node.sh build"; done
  [ -s "$STORE/ca/tls.crt" ] || die "no $STORE/ca: node.sh build"
  mkdir -p "$D"/{log,pid,podlogs,kubelet}
  node_keys; network_up; registry_up plain $HOST:5000; registry_up tls $HOST:443 tls
  wait_for registry curl -fsk https://$HOST/v2/; push_all
  containerd_up; control_plane_up; kubelet_up; proxy_up
  sed "s/@HOST@/$HOST/; s/@REGISTRIES@/$REGISTRIES/; s/@DNS@/$DNS/" "$HERE/coredns.yaml" | kubectl apply -f - >/dev/null
  is_ready
  say "node and DNS are ready after $((SECONDS - since)) s; export KUBECONFIG=$D/kubeconfig"
}

is_ready() {
  wait_for "the node" kubectl get node $NODE
  kubectl wait node/$NODE --for=condition=Ready --timeout=60s >/dev/null
  kubectl -n kube-system rollout status deployment/coredns --timeout=120s >/dev/null || die "CoreDNS is not ready; see $D/log"
}

restart() {
  stop kubelet; stop kube-proxy; stop policies; containerd_down; unmount
  containerd_up; kubelet_up; proxy_up
  say "containers ended, kubelet and containerd run again"
}

unmount() {
  local each
  awk -v below="$D/" 'index($2, below) == 1 {print $2}' /proc/mounts | sort -r | while read -r each; do
    umount "$(printf '%b' "$each")" 2>/dev/null || umount -l "$(printf '%b' "$each")" || true; done
}

down() {
  [ -d "$D/pid" ] || die "nothing of ours in $D"
  local each
  stop kubelet; containerd_down
  for each in kube-proxy policies kube-scheduler kube-controller-manager kube-apiserver etcd $(ls "$D/pid"); do stop "$each"; done
  unmount; network_down
  for each in /sys/fs/cgroup/*/kubepods /sys/fs/cgroup/kubepods /sys/fs/cgroup/*/k8s.io /sys/fs/cgroup/k8s.io; do
    [ ! -d "$each" ] || find "$each" -depth -type d -exec rmdir {} + 2>/dev/null || true; done
  find /var/log/containers -maxdepth 1 -type l -lname "$D/*" -delete 2>/dev/null || true
  rmdir /var/log/containers 2>/dev/null || true
  find "$D" -mindepth 1 -maxdepth 1 ! -name log -exec rm -rf {} +
  say "down; logs are in $D/log"
}

verb=${1:-}; [ $# = 0 ] || shift
case $verb in
  build) build ;;
  up|restart|down|status) D=$(realpath -m "${1:?DIR}"); $verb ;;
  kill) D=$(realpath -m "${1:?DIR}"); again "${2:?NAME}" ;;
  image|push) $verb "$@" ;;
  *) sed -n '2,10p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
