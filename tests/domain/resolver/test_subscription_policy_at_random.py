"""Whatever is wished at random, what is chosen keeps to it; the checks share no code with the encoder."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.domain.resolver.scenery import Blob, ask, catalog, csv, line, needs_package, package, sub

HIGHEST = 4
FLOORS = {"": 0, ">=2.0.0": 2, ">=3.0.0 <4.0.0": 3, "2.0.0": 2}
CEILINGS = {"": HIGHEST, ">=2.0.0": HIGHEST, ">=3.0.0 <4.0.0": 3, "2.0.0": 2}


def number(name: str) -> int:
    return int(name.rpartition("v")[2])


def a_catalog(rng: random.Random) -> Blob:
    """Packages a to d; some versions need another package, never one before them."""
    found = []
    for place, name in enumerate("abcd"):
        later = "abcd"[place + 1 :]
        desired: dict[str, Any] = {
            f"v{version}": [needs_package(rng.choice(later), f">={rng.randint(1, HIGHEST)}.0.0")]
            for version in range(1, HIGHEST + 1)
            if later and rng.random() < 0.4
        }
        found.append(package(name, line(name, HIGHEST), **desired))
    return catalog(*found)


def wishes(rng: random.Random) -> dict[str, str]:
    declared = {
        "version": rng.choice(list(FLOORS)),
        "hold": rng.choice(["", "", "audit"]),
        "hold_installed": rng.choice(["", "", "audit"]),
        "dependencies": rng.choice(["", "require", "ignore"]),
    }
    return {word: text for word, text in declared.items() if text}


def keeps_to(chosen: dict[str, Any], installed: int, subscription: dict[str, str]) -> bool:
    """The version is within the bounds, or on the way up to them; nothing that is held moves."""
    version, text = number(chosen["name"]), subscription.get("version", "")
    is_held = "hold" in subscription or (installed and "hold_installed" in subscription)
    is_on_the_way = installed and installed < version < FLOORS[text]
    return not is_held and (bool(is_on_the_way) or FLOORS[text] <= version <= CEILINGS[text])


@pytest.mark.unmeasured
def test_what_is_chosen_keeps_to_every_wish() -> None:
    rng, moved, brought = random.Random(11), 0, 0
    for _ in range(150):
        asked = {name: (rng.choice([0, 0, 1, 2, 3]), wishes(rng)) for name in rng.sample("abcd", rng.randint(1, 3))}
        subs = [
            sub(name, installed=f"{name}.v{at}" if at else "", **subscription)
            for name, (at, subscription) in asked.items()
        ]
        csvs = [csv(f"{name}.v{at}") for name, (at, _) in asked.items() if at]
        for whole in (True, False):
            answer = ask(a_catalog(rng), subs=subs, csvs=csvs, whole=whole)
            for one in answer["operators"]:
                if one["package"] in asked:
                    assert keeps_to(one, *asked[one["package"]]), (one, asked)
                    moved += 1
                else:
                    assert any("dependencies" not in subscription for _, subscription in asked.values()), (one, asked)
                    brought += 1
    assert (moved > 50, brought > 10) == (True, True), "something was put to the test"
