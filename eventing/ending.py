"""Waits for the signals that end a program, and misses none."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable
from typing import Final

ENDING: Final = (signal.SIGTERM, signal.SIGINT)


def noted_end() -> Callable[[], None]:
    """From now on SIGTERM and SIGINT are noted; what is returned waits for the first of them, in any thread.

    They are read of a socket, to which the interpreter writes them at once. A handler is called later, by the main
    thread: never, where that had just given the interpreter to another thread and then waits for a lock (as
    `threading.Event.wait` does), and in vain, where it interrupts a destructor, which loses what it raises.
    """
    ours, signalled = socket.socketpair()
    signalled.setblocking(False)
    signal.set_wakeup_fd(signalled.detach())
    # Without a handler Python writes nothing there, and the kernel sends nothing to the process 1 of a pod.
    for number in ENDING:
        signal.signal(number, lambda *_: None)

    def wait() -> None:
        while ours.recv(1)[0] not in ENDING:
            pass

    return wait
