"""Who wrote a Subscription, and what that person may do: a limit for plans (`functions/install_plan/README.md`)."""
