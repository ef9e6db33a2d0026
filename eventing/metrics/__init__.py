"""Metrics for Prometheus: `work` reads those of runs and queue, `exposition` has the library write the text.

The watcher serves them beside those of the objects that it watches (`eventing/watch/object_metrics`); the endpoint
serves them where no watcher runs.

Context: the workers are many processes that come and go, and count in Redis, in the scripts that change the queue; what
exists is counted from what the watcher knows. Decision: `prometheus-client` writes the text, from collectors over these
values, and its parser reads it in the tests. Consequences: 20,000 series take 0.11 s instead of 0.03, in a thread; an
import of 12 ms in watcher and endpoint; the suffix that the library gives to every counter is taken off
`csv_upgrade_count`, which is OLM's name. Turned down: its counters and its multi-process mode, files that each worker
would have to share with whoever is asked; and a second truth beside the queue's.
"""
