"""The status of a Subscription: its state machine, its conditions, the health of its catalogs."""
