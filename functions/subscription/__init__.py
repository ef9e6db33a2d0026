"""Steps that look after Subscriptions."""
