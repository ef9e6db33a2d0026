"""Starts `olmf` processes by forking a warm interpreter, for the supervisor and for the kubelet's stand-in.

Decision: starting Python and importing a program costs 400 ms of processor time, forking 10 ms; the pages of what was
imported are shared. A process has a group of its own: what it leaves behind when it ends is killed with it. When the
fork server ends, for whatever reason, so do its processes.

Turned down: the fork server of `multiprocessing`, which imports the parent's main module again in every child, starts a
second process beside itself, and leaves its children alive when it is killed.
"""

from __future__ import annotations

from eventing.forking.launcher import LOST, Forked, Launcher, without_ties

__all__ = ["LOST", "Forked", "Launcher", "without_ties"]
