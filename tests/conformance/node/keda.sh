#!/bin/bash
# KEDA, built from its Go module, on the node; `python -m tests.conformance node KEDA` then shows k8s/keda with it.
#   keda.sh build      programs and images, once per machine: about half an hour on two cores; needs `node.sh build`
#   keda.sh up DIR     on the node in DIR, until all of it is ready
set -euo pipefail
HERE=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd) ROOT=$(cd "$HERE/../../.." && pwd)
. "$HERE/parts/names.sh"; . "$HERE/parts/images.sh"
VERSION=2.20.2 MODULE=github.com/kedacore/keda/v2 BUILT=$CACHE/keda-$VERSION IMAGES=ghcr.io/kedacore
# Its programs by their images: the package, and where the image has the program.
KEDA="keda=operator:keda keda-metrics-apiserver=adapter:keda-adapter keda-admission-webhooks=webhooks:keda-admission-webhooks"

source_of() { (cd / && go mod download -json "$MODULE@v$VERSION") | sed -n 's/.*"Dir": "\(.*\)".*/\1/p'; }

build() {
  local each image package name source; source=$(source_of); mkdir -p "$BUILT"; mirrors
  for each in $KEDA; do
    image=$IMAGES/${each%%=*}:$VERSION package=${each#*=}; name=${package#*:} package=${package%:*}
    [ -x "$BUILT/$name" ] || { say "building $name"; (cd "$source" && CGO_ENABLED=0 GOTOOLCHAIN=local \
      go build -trimpath -ldflags "-s -w -X $MODULE/version.Version=$VERSION" -o "$BUILT/$name" "./cmd/$package"); }
    is_made "$image" || { printf 'FROM scratch\nCOPY %s /%s\nUSER 65532:65532\nENTRYPOINT ["/%s"]\n' "$name" "$name" "$name" >"$BUILT/Dockerfile"
      buildah bud -q -f "$BUILT/Dockerfile" -t "$image" "$BUILT" >/dev/null; }
  done
}

up() {
  local each image
  for each in $KEDA; do image=$IMAGES/${each%%=*}:$VERSION; is_pushed "$image" || push "$image" "$image"; done
  kubectl kustomize "$(source_of)/config/default" | sed "s#\($IMAGES/[a-z-]*\):main#\1:$VERSION#" | kubectl apply --server-side -f - >/dev/null
  for each in $(kubectl -n keda get deployments -o name); do kubectl -n keda rollout status "$each" --timeout=300s >/dev/null; done
  say "KEDA is ready"
}

verb=${1:-}; [ $# = 0 ] || shift
case $verb in
  build) build ;;
  up) D=$(realpath -m "${1:?DIR}"); up ;;
  *) sed -n '3,4p' "${BASH_SOURCE[0]}"; exit 2 ;;
esac
