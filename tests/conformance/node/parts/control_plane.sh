# etcd, API server, controllers and scheduler.
control_plane_up() {
  cd "$D/pki"
  printf 'apiVersion: audit.k8s.io/v1\nkind: Policy\nomitStages: [RequestReceived, ResponseStarted]\nrules: [{level: Metadata}]\n' >"$D/audit.yaml"
  start etcd "$BIN/etcd" --data-dir "$D/etcd" --unsafe-no-fsync --listen-client-urls http://$ETCD \
    --advertise-client-urls http://$ETCD --listen-peer-urls http://127.0.0.1:12380
  api_server_up
  start kube-controller-manager "$BIN/kube-controller-manager" --leader-elect=false --bind-address=127.0.0.1 \
    --kubeconfig="$PWD/controllers.kubeconfig" --authentication-kubeconfig="$PWD/controllers.kubeconfig" \
    --authorization-kubeconfig="$PWD/controllers.kubeconfig" --use-service-account-credentials=true \
    --root-ca-file="$PWD/ca.crt" --service-account-private-key-file="$PWD/accounts.key" \
    --cluster-signing-cert-file="$PWD/ca.crt" --cluster-signing-key-file="$PWD/ca.key" --requestheader-client-ca-file="$PWD/front-ca.crt" \
    --allocate-node-cidrs=true --cluster-cidr=$PODS.0/24 --node-cidr-mask-size=24
  start kube-scheduler "$BIN/kube-scheduler" --leader-elect=false --bind-address=127.0.0.1 --kubeconfig="$PWD/scheduler.kubeconfig" \
    --authentication-kubeconfig="$PWD/scheduler.kubeconfig" --authorization-kubeconfig="$PWD/scheduler.kubeconfig"
}

api_server_up() {
  cd "$D/pki"
  start kube-apiserver "$BIN/kube-apiserver" --etcd-servers=http://$ETCD --bind-address=$HOST --advertise-address=$HOST --secure-port=6443 \
    --authorization-mode=Node,RBAC --enable-admission-plugins=NodeRestriction --allow-privileged=true \
    --tls-cert-file="$PWD/apiserver.crt" --tls-private-key-file="$PWD/apiserver.key" --client-ca-file="$PWD/ca.crt" \
    --kubelet-client-certificate="$PWD/kubelet-client.crt" --kubelet-client-key="$PWD/kubelet-client.key" \
    --kubelet-certificate-authority="$PWD/ca.crt" --kubelet-preferred-address-types=InternalIP \
    --service-account-issuer=https://kubernetes.default.svc.cluster.local --service-account-key-file="$PWD/accounts.pub" \
    --service-account-signing-key-file="$PWD/accounts.key" --service-cluster-ip-range=$SERVICES.0.0/16 \
    --requestheader-client-ca-file="$PWD/front-ca.crt" --requestheader-allowed-names=front-proxy-client \
    --requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group \
    --requestheader-extra-headers-prefix=X-Remote-Extra- \
    --proxy-client-cert-file="$PWD/front-proxy.crt" --proxy-client-key-file="$PWD/front-proxy.key" \
    --audit-policy-file="$D/audit.yaml" --audit-log-path="$D/log/audit.log" --audit-log-maxsize=200 --audit-log-maxbackup=1
  wait_for kube-apiserver kubectl get --raw /readyz
}
