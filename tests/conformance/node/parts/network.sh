# A bridge that pods hang on; this machine is their gateway, and reaches Services, too.
SYSCTLS="net.ipv4.ip_forward net.bridge.bridge-nf-call-iptables vm.overcommit_memory vm.panic_on_oom kernel.panic kernel.panic_on_oops kernel.keys.root_maxkeys kernel.keys.root_maxbytes"

network_up() {
  [ -f "$D/sysctl.saved" ] || sysctl -e $SYSCTLS 2>/dev/null | tr -d ' ' >"$D/sysctl.saved"
  sysctl -qw net.ipv4.ip_forward=1; sysctl -qw net.bridge.bridge-nf-call-iptables=1 2>/dev/null || true
  ip link show $BRIDGE >/dev/null 2>&1 || ip link add $BRIDGE address 0a:58:0a:f4:00:01 type bridge
  ip addr replace $HOST/24 dev $BRIDGE; ip link set $BRIDGE up
  ip route replace $SERVICES.0.0/16 dev $BRIDGE src $HOST
  nft -f - <<N
table ip olmf_node
delete table ip olmf_node
table ip olmf_node {
  chain post {
    type nat hook postrouting priority srcnat
    ip saddr $PODS.0/24 ip daddr != { $PODS.0/24, $SERVICES.0.0/16 } masquerade
  }
}
N
  mkdir -p "$D/cni"; cat >"$D/cni/10-olmf.conflist" <<J
{"cniVersion": "1.0.0", "name": "olmf", "plugins": [{
  "type": "bridge", "bridge": "$BRIDGE", "isGateway": true, "hairpinMode": true,
  "ipam": {"type": "host-local", "dataDir": "$D/ipam", "routes": [{"dst": "0.0.0.0/0"}],
           "ranges": [[{"subnet": "$PODS.0/24", "gateway": "$HOST"}]]}}]}
J
}

network_down() {
  local each
  for each in $(ip -o link show master $BRIDGE 2>/dev/null | sed 's/^[0-9]*: \([^@:]*\).*/\1/'); do ip link del "$each" 2>/dev/null || true; done
  ip link del $BRIDGE 2>/dev/null || true
  for each in "ip olmf_policies" "ip olmf_node" "ip kube-proxy" "ip6 kube-proxy"; do nft delete table $each 2>/dev/null || true; done
  [ ! -f "$D/sysctl.saved" ] || { sysctl -q -p "$D/sysctl.saved" 2>/dev/null || true; rm -f "$D/sysctl.saved"; }
}
