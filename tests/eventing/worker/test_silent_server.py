"""An API server that takes requests and never answers: the runs that ask it are tried again, none is given up."""

from __future__ import annotations

from pathlib import Path

import yaml

from eventing.events.job import Job
from eventing.wiring.worker import runner_factory
from eventing.worker.drainer import Drainer
from eventing.workqueue import WorkQueue, connect
from shared.config import Settings
from shared.kinds import INSTALL_PLAN
from tests.kit.endpoint import NOWHERE
from tests.kit.silent_server import a_silent_server

STEP = "install_plan/execute_install_plan"


def test_a_silent_api_server_makes_no_dead_letters(redis_url: str, tmp_path: Path) -> None:
    with a_silent_server() as (address, taken), connect(redis_url) as client:
        settings = a_worker(redis_url, tmp_path, address)
        queue = WorkQueue(client, settings)
        run = runner_factory(settings)(queue)
        for runs in (1, 2):
            queue.add([Job(STEP, INSTALL_PLAN.ref("install-a", "ns"))], "event")
            assert Drainer(queue, (STEP.partition("/")[0],), run).drain(linger=0) == 1
            assert len(taken) <= runs, "one request of each run: who hangs is not asked again by itself"
            (waiting,) = queue.ls()
            assert (waiting.state, waiting.attempts) == ("delayed", runs)
            assert address in waiting.error
        assert taken


def a_worker(redis_url: str, folder: Path, address: str) -> Settings:
    """Settings by which a single bug would be a dead letter."""
    kubeconfig = folder / "kubeconfig"
    kubeconfig.write_text(yaml.safe_dump({**NOWHERE, "clusters": [{"name": "it", "cluster": {"server": address}}]}))
    return Settings(redis_url=redis_url, kubeconfig=str(kubeconfig), content=folder, run_seconds=2, max_failures=1)
