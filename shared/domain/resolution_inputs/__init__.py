"""What the objects of a namespace say to the resolver, from a cluster or from a JSON request."""
