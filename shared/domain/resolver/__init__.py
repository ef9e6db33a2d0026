"""Which bundles a namespace gets, and why: `resolve.resolve(Inputs) -> Resolution`, with the values of `model`."""
