"""When a certificate is kept, replaced or rotated."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from shared.domain.endpoints.certificates import Content, Pair, StoredPair, begun, ended, is_due, switched
from tests.domain.csv.builders import NOW

HOSTS = ("a.ns", "a.ns.svc")


def a_pair(name: str = "old", *, ends: timedelta = timedelta(days=400), **more: object) -> Pair:
    pair = Pair(f"CA {name}\n", f"certificate {name}\n", f"key-{name}", HOSTS, NOW - timedelta(days=1), NOW + ends)
    return replace(pair, **more)  # type: ignore[arg-type]  # why: fields by name


NEW, OLD, NEXT = a_pair("new"), a_pair(), a_pair("next")
LATE, EXPIRED = a_pair("late", ends=timedelta(hours=23)), a_pair("expired", ends=timedelta(seconds=0))
EARLY = a_pair("early", begins=NOW + timedelta(minutes=1))
FLAWED, ELSEWHERE = a_pair("flawed", flaw="no certificate"), a_pair("elsewhere", hosts=("b.ns",))


def stored(content: Content | None) -> StoredPair | None:
    return StoredPair({}, content) if content else None


@pytest.mark.parametrize(
    ("there", "want", "due"),
    [
        pytest.param(None, Content(NEW), True, id="csv.md 18 row 84: none yet"),
        pytest.param(Content(OLD), Content(OLD), False, id="csv.md 18 row 85: a valid one is used again"),
        pytest.param(Content(LATE), Content(LATE, NEW), True, id="csv.md 18 row 87: within a day of its end"),
        pytest.param(Content(LATE, NEXT), Content(LATE, NEXT), True, id="what follows is there already"),
        pytest.param(Content(LATE, EXPIRED), Content(LATE, NEW), True, id="what was to follow has ended"),
        pytest.param(Content(EXPIRED), Content(NEW), True, id="csv.md 18 rows 89 and 105: it has ended"),
        pytest.param(Content(EXPIRED, NEXT), Content(NEXT), True, id="it ended during its rotation"),
        pytest.param(Content(EXPIRED, EXPIRED), Content(NEW), True, id="both have ended"),
        pytest.param(Content(EARLY), Content(NEW), True, id="it is not valid yet: a clock jumped"),
        pytest.param(Content(FLAWED), Content(NEW), True, id="csv.md 18 row 88: nobody can use it"),
        pytest.param(Content(ELSEWHERE), Content(NEW), True, id="csv.md 7.2: it is for another name"),
        pytest.param(Content(OLD, former="CA x\n"), Content(OLD, former="CA x\n"), True, id="a rotation goes on"),
    ],
)
def test_what_an_installation_stores(there: Content | None, want: Content, due: bool) -> None:
    assert begun(stored(there), HOSTS, NOW, lambda: NEW) == want
    assert is_due(stored(there), HOSTS, NOW) is due


def test_the_stages() -> None:
    """What clients trust holds, at every stage, the CA that servers use and the one they used or will use."""
    first = begun(stored(Content(LATE)), HOSTS, NOW, lambda: NEW)
    second, third = switched(first), ended(switched(first))
    assert [one.bundle for one in (first, second, third)] == ["CA late\nCA new\n", "CA new\nCA late\n", "CA new\n"]
    assert [one.pair for one in (first, second, third)] == [LATE, NEW, NEW]
    assert [one.is_rotating for one in (first, second, third)] == [True, True, False]
    assert switched(third) == third


def test_the_digest_is_that_of_olm_csv_md_16() -> None:
    assert a_pair(authority="").digest == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
