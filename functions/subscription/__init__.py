"""Steps that reconcile Subscriptions."""
