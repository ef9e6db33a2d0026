"""What is killed where our programs are processes: they, their children, and of a real API server its programs, too."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Callable
from functools import partial

from tests.conformance.faults.killing import Victims
from tests.conformance.lifecycle.outages import World, is_healthy, kill, programs
from tests.kit.installation import Installation

KILLED = -9
DEATH = re.compile(r"program_died +code=(\S+) program=(\S+)")


def victims_of(world: World) -> Victims:
    """All of a world."""
    installation, plane = world.installation, world.control_plane

    def kill_one(rng: random.Random) -> str:
        deaths: list[tuple[str, Callable[[], bool]]] = [
            (name, partial(kill, pid)) for name, pid in programs(installation)
        ]
        deaths += [(name, partial(plane.kill, name)) for name in plane.names()] if plane else []
        name, die = rng.choice(deaths)
        return name if die() else ""

    def are_back() -> bool:
        return (plane is None or plane.is_ready()) and is_healthy(installation)

    return Victims(installation, kill_one, are_back, lambda: ends(installation))


def ends(installation: Installation) -> Counter[str]:
    """The programs that ended otherwise than killed, by the log of who starts them again."""
    log = (installation.state / "logs" / "supervisor.log").read_text(errors="replace")
    return Counter(f"{name} with {code}" for code, name in DEATH.findall(log) if code != str(KILLED))
