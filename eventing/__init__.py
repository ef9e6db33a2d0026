"""Moves events: watch, route, queue, run, record, replay; it knows no domain rule."""
