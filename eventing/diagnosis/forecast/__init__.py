"""What installs and upgrades of a namespace would do to each object, and what stands in their way."""
