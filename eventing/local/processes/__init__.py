"""Starts `olmf` processes by forking a warm interpreter, for the supervisor and for the simulated kubelet.

Decision: starting Python and importing a program costs 400 ms of processor time, forking 10 ms; the memory of the
imported modules is shared. Each process has its own process group, and processes that it leaves behind are killed when
it ends. When the fork server ends, for any reason, its processes end, too.

The fork server is itself a fork of the process that uses it, as long as that has no other thread: what it has imported
is not imported again. Where one died beside threads, an interpreter takes its place.

Turned down: the fork server of `multiprocessing`, which imports the parent's main module again in every child, starts a
second process beside itself, and leaves its children alive when it is killed.
"""

from __future__ import annotations

from eventing.local.processes.launcher import LOST, Forked, Launcher
from eventing.local.processes.parent_watch import without_parent_watch

__all__ = ["LOST", "Forked", "Launcher", "without_parent_watch"]
