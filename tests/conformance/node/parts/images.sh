# Images: made with buildah of Debian's packages and our programs, kept in the store, pushed into the registry of the node.
buildah() { command buildah --root "$STORE/buildah" --runroot "$STORE/buildah-run" --storage-driver overlay --registries-conf "$STORE/registries.conf" "$@"; }
MANIFESTS='Accept: application/vnd.oci.image.manifest.v1+json, application/vnd.docker.distribution.manifest.v2+json'

mirrors() { # every name leads to our registry, while a node is up
  mkdir -p "$STORE"; local name
  { echo 'unqualified-search-registries = ["docker.io"]'
    for name in docker.io quay.io registry.k8s.io; do printf '[[registry]]\nprefix="%s"\nlocation="%s:5000"\ninsecure=true\n' $name $HOST; done
  } >"$STORE/registries.conf"
}

made() { buildah images --format '{{.Name}}:{{.Tag}}' 2>/dev/null | grep -v '<none>' || true; }
is_made() { made | grep -qx "$1"; }

image_of_program() { # IMAGE PROGRAM USER
  is_made "$1" && return 0
  local work; work=$(mktemp -d)
  cp "$BIN/$2" "$work/"; printf 'FROM scratch\nCOPY %s /%s\nUSER %s\nENTRYPOINT ["/%s"]\n' "$2" "$2" "$3" "$2" >"$work/Dockerfile"
  buildah bud -q -t "$1" "$work"; rm -r "$work"
}

image_of_debian() { # IMAGE PACKAGES LINES: a root file system of Debian 13 that trusts our registry
  is_made "$1" && return 0
  local work root; work=$(mktemp -d); root=$work/root; mkdir -p "$STORE"
  say "$1 is made of Debian's packages: some minutes, once"
  debootstrap --variant=minbase --include="$2,ca-certificates" trixie "$root" >"$STORE/debootstrap.log" 2>&1 || die "debootstrap failed; see $STORE/debootstrap.log"
  cp "$STORE/ca/ca.crt" "$root/usr/local/share/ca-certificates/olmf-node.crt"; chroot "$root" update-ca-certificates >/dev/null 2>&1
  rm -rf "$root"/var/cache/apt/* "$root"/var/lib/apt/lists/* "$root"/usr/share/{doc,man,info,locale}/* "$root"/usr/lib/python3*/EXTERNALLY-MANAGED
  if [ -e "$root/usr/bin/python3" ]; then ln -sf /usr/bin/python3 "$root/usr/local/bin/python"; ln -sf /usr/bin/pip3 "$root/usr/local/bin/pip"; fi
  tar -C "$root" --exclude='./dev/*' -cf "$work/root.tar" .; rm -rf "$root"
  printf 'FROM scratch\nADD root.tar /\n%b\n' "$3" >"$work/Dockerfile"
  buildah bud -q --isolation chroot -t "$1" "$work"; rm -rf "$work"
}

base_images() {
  mirrors
  image_of_program registry.k8s.io/pause:3.10.1 pause 65535:65535
  image_of_program registry.k8s.io/coredns/coredns:v1.13.1 coredns 65532:65532
  image_of_debian docker.io/library/python:3.13-slim python3,python3-venv,python3-pip,tzdata \
    'ENV PATH=/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin LANG=C.UTF-8\nCMD ["python3"]'
  image_of_debian "docker.io/library/$(sed -n 's#.*image: \(redis:.*\)#\1#p' "$ROOT/k8s/base/200-redis.yaml" | head -1)" redis-server \
    'RUN mkdir -p /data && chown redis:redis /data\nVOLUME /data\nWORKDIR /data\nEXPOSE 6379\nCMD ["redis-server"]'
}

path_of() { # IMAGE: its path and tag in our registry, whatever its registry is called
  local name=$1 first=${1%%/*}
  if [[ $name == */* && $first == *[.:]* ]]; then name=${name#*/}; else first=docker.io; fi
  [[ $first == docker.io && $name != */* ]] && name=library/$name
  echo "$name"
}

is_pushed() { # IMAGE
  local path; path=$(path_of "$1")
  curl -fso /dev/null -H "$MANIFESTS" "http://$HOST:5000/v2/${path%:*}/manifests/${path##*:}"
}

push() { # IMAGE NAME
  buildah push -q --tls-verify=false "$1" "docker://$HOST:5000/$(path_of "$2")"
}

push_all() { local each; for each in $(made); do is_pushed "$each" || push "$each" "$each"; done; }

image() { # FOLDER DOCKERFILE NAME: built, and pushed where a node is up; pip in it reaches the package index as this machine does
  mirrors
  local mounts=(-v /etc/ssl/certs/ca-certificates.crt:/host-ca.crt:ro -v "$STORE/pip.conf:/etc/pip.conf:ro")
  printf '[global]\ncert = /host-ca.crt\ntimeout = 180\n' >"$STORE/pip.conf"
  buildah bud --layers --pull-never --isolation chroot --network host "${mounts[@]}" -f "$2" -t "$3" "$1"
  ! curl -fsm 2 -o /dev/null "http://$HOST:5000/v2/" || push "$3" "$3"
}
