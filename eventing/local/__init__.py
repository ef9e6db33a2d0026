"""Local mode: the programs that `olmf up` starts, watches and stops.

The supervisor starts each program as a process of its fork server (`eventing.local.processes`), so that the program
ends with the supervisor. It restarts programs that die, and writes their addresses to `<state>/olmf.json`.

Decision: a small supervisor of our own. Turned down: honcho, which stops all processes when one exits and does not
know readiness; it is a tool of developers, for the `Procfile`, and no program of ours needs it.
"""
