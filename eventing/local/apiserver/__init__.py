"""An embedded Kubernetes API for local runs, tests and replay."""
