"""Text, numbers, JSON and YAML exactly as the Go programs of Kubernetes read and write them."""
