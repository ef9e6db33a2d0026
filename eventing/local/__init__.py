"""Local mode: everything `olmf up` starts, watches and stops.

The supervisor starts each program as a child process that ends when the supervisor does (its standard input is a pipe
that only the supervisor holds), starts it again when it dies, and writes where everything is to `<state>/olmf.json`.

Decision: one small supervisor of ours. Turned down: honcho, which stops everything when one process exits and knows no
readiness; the `Procfile` is there for people who prefer it.
"""
