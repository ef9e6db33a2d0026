# Certificates: one authority of registries and base images for all nodes, and authorities of each node.
EC="-newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes"

authority() { # NAME SUBJECT
  openssl req -x509 $EC -keyout "$1.key" -out "$1.crt" -days 3650 -subj "$2" \
    -addext basicConstraints=critical,CA:TRUE -addext keyUsage=critical,keyCertSign,cRLSign 2>/dev/null
}

certificate() { # AUTHORITY NAME SUBJECT USAGE [SUBJECT_ALT_NAMES]
  openssl req -new $EC -keyout "$2.key" -out "$2.csr" -subj "$3" 2>/dev/null
  openssl x509 -req -in "$2.csr" -CA "$1.crt" -CAkey "$1.key" -CAcreateserial -days 3650 -out "$2.crt" -extfile <(
    printf 'basicConstraints=CA:FALSE\nkeyUsage=digitalSignature\nextendedKeyUsage=%s\n' "$4"
    [ -z "${5:-}" ] || echo "subjectAltName=$5") 2>/dev/null
  rm -f "$2.csr"
}

registry_keys() { # kept in the store, because the base images trust them
  mkdir -p "$STORE/ca"; cd "$STORE/ca"
  local name names="IP:$HOST"
  for name in $REGISTRIES; do names+=",DNS:$name"; done
  [ -s ca.crt ] || authority ca "/CN=olmf node registries"
  [ -s tls.crt ] || certificate ca tls /CN=registry serverAuth "$names"
}

user() { # NAME SUBJECT: a kubeconfig with a certificate
  certificate ca "$1" "$2" clientAuth
  cat >"$1.kubeconfig" <<Y
apiVersion: v1
kind: Config
clusters: [{name: node, cluster: {server: "$API", certificate-authority-data: $(base64 -w0 ca.crt)}}]
users: [{name: $1, user: {client-certificate-data: $(base64 -w0 "$1.crt"), client-key-data: $(base64 -w0 "$1.key")}}]
contexts: [{name: node, context: {cluster: node, user: $1}}]
current-context: node
Y
}

node_keys() {
  mkdir -p "$D/pki"; cd "$D/pki"; [ -s admin.crt ] && return 0
  local in_cluster=kubernetes.default.svc
  authority ca /CN=kubernetes; authority front-ca /CN=kubernetes-front-proxy
  certificate ca apiserver /CN=kube-apiserver serverAuth \
    "DNS:kubernetes,DNS:kubernetes.default,DNS:$in_cluster,DNS:$in_cluster.cluster.local,DNS:localhost,IP:127.0.0.1,IP:$HOST,IP:$SERVICES.0.1"
  certificate ca kubelet-client /O=system:masters/CN=kube-apiserver-kubelet-client clientAuth
  certificate ca kubelet-serving "/O=system:nodes/CN=system:node:$NODE" serverAuth "DNS:$NODE,IP:$HOST"
  certificate front-ca front-proxy /CN=front-proxy-client clientAuth
  openssl genrsa -out accounts.key 2048 2>/dev/null; openssl rsa -in accounts.key -pubout -out accounts.pub 2>/dev/null
  user controllers /CN=system:kube-controller-manager; user scheduler /CN=system:kube-scheduler
  user kubelet "/O=system:nodes/CN=system:node:$NODE"; user proxy /CN=system:kube-proxy
  user admin /O=system:masters/CN=admin; cp admin.kubeconfig "$D/kubeconfig"
}
