"""Delivers events to steps and runs them: watch, route, queue, run, record, replay; contains no rule of OLM."""
