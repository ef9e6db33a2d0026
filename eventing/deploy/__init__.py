"""Generates what `k8s/` holds from the routes and the rights of each group: RBAC, the base, and Knative objects.

Decision: manifests are rendered by code and checked in, with a test that keeps them current; `kubectl apply -k` needs
nothing of ours. Turned down: a Helm chart (a second language for the same table), kubebuilder markers (comments that no
type checker reads).
"""
