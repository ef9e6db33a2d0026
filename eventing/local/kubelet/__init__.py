"""Simulates the node, for API servers that have no real Nodes; and the controllers of workloads, where none work.

Pods of Jobs whose command is `olmf …` run as local processes; all others are reported as Ready. A Pod whose Secret or
ConfigMap is missing waits, with the Event and the reason that a kubelet gives. What admission refuses never exists.
The annotation `olmf.io/fail` lets the Pods of a Deployment or Job fail.

- `NodeOnly`: kube-controller-manager makes the Pods (told by the ConfigMap `kube-root-ca.crt` in `kube-system`). We
  play one Node, which has the label `olmf.io/simulated`, keep its Lease, bind every Pod that has no node to it (there
  is no scheduler), and end Pods that are deleted. A cluster with any other Node is refused.
- `NodeAndControllers`: a sandbox. Pods are made of Deployments and Jobs directly, without ReplicaSets, at most three
  for a Deployment, and there is no Node object.

Decisions:
- The program of a Pod runs in its own process (`eventing.local.processes`), with the kubeconfig of the kubelet; on a
cluster it has the rights of its ServiceAccount only.
- A program that ends within a second is never reported as running, because every write is a watch event.
- On a sandbox the status of a Deployment does not wait for that of its Pods: one request (the Pod) more per operator.
- A missing Secret is looked for every half to five seconds. Turned down: a watch of all Secrets and ConfigMaps.
- The status of a Deployment is written with the resourceVersion of the watch event. A conflict is ignored, because the
  change that caused it comes through the same watch.
- Turned down: kube-scheduler, because there is one Node; kwok, because it does not run programs.
"""
