"""Metrics for Prometheus: `work` reads those of runs and queue, `exposition` writes the text of `/metrics`.

The watcher serves them beside those of the objects that it watches (`eventing/watch/census`); the endpoint serves them
where no watcher runs.
"""
