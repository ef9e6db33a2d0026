"""The registry API over gRPC: its messages, a client, and what a server answers."""
