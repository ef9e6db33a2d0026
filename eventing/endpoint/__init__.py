"""Receives CloudEvents over HTTP: a functions-framework function, with size limits and health probes.

Answers: an empty 204 when the event's jobs are durably queued (on Knative one request waits, for half a minute at most,
until the jobs of all have run), 400, 413 or 415 with one sentence for each defect of an invalid event, 401 to a sender
that is not known, 408 for a body that does not come in, 503 while Redis is away or full, or too much comes in at once.
A sender that retries on 5xx, as a Broker does, loses no event. Who may send, and the limits: `senders`, `gate`,
`connections`.
"""
