"""Local mode: everything `olmf up` starts, watches and stops.

The supervisor starts each program as a process of its fork server (`eventing.forking`), so that it ends when the
supervisor does, starts it again when it dies, and writes where everything is to `<state>/olmf.json`.

Decision: one small supervisor of ours. Turned down: honcho, which stops everything when one process exits and knows no
readiness; the `Procfile` is there for people who prefer it.
"""
