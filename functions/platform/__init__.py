"""The platform itself: who is concerned by a change, what nobody told of, and what is left over."""
