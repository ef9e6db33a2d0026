"""`olmf run watch`."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import NoReturn

from eventing.content.pulls import dialer
from eventing.events.predicates import needs_no_repetition
from eventing.journal import RedisChanges
from eventing.watch.program import run
from eventing.wiring.intake import sink
from eventing.workqueue import connect as connect_redis
from shared.adapters.kube import connect
from shared.config import Settings


def main(values: Settings, announce: Callable[[str, str], None]) -> NoReturn:
    """Watch until SIGTERM; `announce` gets the address and the URL of the probe."""
    dial = dialer(values, api=connect(values.kubeconfig).server, environ=os.environ)
    accept = sink(values, needs_no_repetition=needs_no_repetition)
    run(values, accept, dial=dial, changes=RedisChanges(connect_redis(values.redis_url)), on_ready=announce)
    sys.stderr.flush()
    os._exit(0)  # why: a usual end would wait for the thread of the sink, which may wait for Redis
