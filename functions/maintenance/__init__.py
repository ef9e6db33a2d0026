"""Steps for the whole cluster: find missed events, collect garbage, report where copies are."""
