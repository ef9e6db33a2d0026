"""Steps for the whole cluster: find the objects that a change affects, find missed events, collect garbage."""
