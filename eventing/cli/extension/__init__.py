"""OLM v1's decisions without a cluster: `extension …`; one module a verb, with a `register`."""
