"""The solver's own rows (resolver.md §12.1, §8.4, §13 B1)."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping
from itertools import combinations

import pytest

from shared.domain.resolver.conflict import conflict
from shared.domain.resolver.constraints import (
    AtMostOne,
    Conflict,
    Constraint,
    Dependency,
    Excluded,
    Id,
    Mandatory,
    Prohibited,
    Variable,
)
from shared.domain.resolver.model import unsatisfiable
from shared.domain.resolver.reasons import Code
from shared.domain.resolver.sat import GaveUp, Sat
from shared.domain.resolver.solver import InvalidVariables, Unsatisfiable, solve


def variables(declared: Mapping[str, str], at_most: Iterable[tuple[str, str]] = ()) -> list[Variable]:
    """`{"a": "! x|y -b ~ /c,d"}`: a is mandatory, needs x or y, conflicts with b, is prohibited, excludes c and d."""
    found = [
        Variable(Id(name), tuple(_constraint(name, word) for word in words.split())) for name, words in declared.items()
    ]
    for name, ids in at_most:
        listed = tuple(map(Id, ids.split()))
        found.append(
            Variable(Id(name), (_mandatory(name), AtMostOne(Id(name), listed, f"{name} permits", Code.ONE_PROVIDER)))
        )
    return found


def _constraint(name: str, word: str) -> Constraint:
    subject = Id(name)
    match word[0]:
        case "!":
            return _mandatory(name)
        case "~":
            return Prohibited(subject, f"{name} is prohibited", Code.DEPRECATED)
        case "-":
            return Conflict(subject, Id(word[1:]))
        case "/":
            return Excluded(subject, tuple(map(Id, word[1:].split(","))), f"{name} excludes {word[1:]}", Code.HELD)
    return Dependency(subject, tuple(map(Id, word.split("|"))), f"{name} requires {word}", Code.REQUIRES)


def _mandatory(name: str) -> Mandatory:
    return Mandatory(Id(name), f"{name} is mandatory", Code.SUBSCRIPTION_EXISTS)


def names(chosen: Iterable[Id]) -> str:
    return " ".join(sorted(map(str, chosen)))


@pytest.mark.parametrize(
    ("declared", "want"),
    [
        pytest.param({}, "", id="resolver.md 12 row 1: no variables"),
        pytest.param({"a": ""}, "", id="resolver.md 12 row 2: unconstrained"),
        pytest.param({"a": "!"}, "a", id="resolver.md 12 row 3: mandatory"),
        pytest.param({"a": "", "b": "! a"}, "a b", id="resolver.md 12 row 5"),
        pytest.param({"a": "", "b": "a", "c": "! b"}, "a b c", id="resolver.md 12 row 6"),
        pytest.param({"a": "", "b": "", "c": "! a b"}, "a b c", id="resolver.md 12 row 7"),
        pytest.param({"a": "", "b": "-a", "c": "! a|b"}, "a c", id="resolver.md 12 rows 8 and 9"),
        pytest.param({"a": "", "b": "-a", "c": "! b|a"}, "b c", id="resolver.md 12 row 10"),
        pytest.param({"a": "x|y", "b": "! y|x", "x": "", "y": ""}, "b y", id="resolver.md 12 row 12"),
        pytest.param({"a": "! y", "b": "! x|y", "x": "", "y": ""}, "a b y", id="resolver.md 12 row 15"),
        pytest.param(
            {"a": "! y|z|m", "b": "! x|y", "x": "", "y": "", "z": "", "m": ""}, "a b y", id="resolver.md 12 row 16"
        ),
        pytest.param({"a": "! x|y", "b": "! y", "x": "", "y": ""}, "a b x y", id="resolver.md 12 row 17"),
        pytest.param(
            {"a": "! x1|x2 y1|y2", "x1": "", "x2": "", "y1": "", "y2": ""}, "a x1 y1", id="resolver.md 12 row 19"
        ),
        pytest.param({"a": "! a|b", "b": ""}, "a", id="resolver.md 12 row 22: a dependency on itself"),
        pytest.param({"a": "! b", "b": "a"}, "a b", id="resolver.md 12 row 22: a cycle"),
        pytest.param({"a": "! b|b", "b": ""}, "a b", id="resolver.md 12 row 22: an option listed twice"),
        pytest.param(
            {"s1": "! a2|a1", "s2": "! b2|b1", "a1": "", "a2": "-b2", "b1": "", "b2": ""},
            "a2 b1 s1 s2",
            id="resolver.md 8.4: the first Subscription wins",
        ),
        pytest.param(
            {
                "s1": "! a1|a2",
                "s2": "! b1|b2",
                "a1": "-z -r",
                "a2": "",
                "b1": "x|z xx",
                "b2": "p|r pp",
                "x": "-xx",
                "xx": "",
                "p": "-pp",
                "pp": "",
                "z": "",
                "r": "",
            },
            "a2 b1 s1 s2 xx z",
            id="resolver.md 13 B1: a stale option index is not reproduced",
        ),
    ],
)
def test_answers(declared: dict[str, str], want: str) -> None:
    assert names(solve(variables(declared))) == want


def test_a_choice_may_have_to_give_way_to_a_limit() -> None:
    """resolver.md 12 row 14."""
    declared = variables({"a": "! x|y", "b": "! y", "x": "", "y": ""}, [("one", "x y")])
    assert names(solve(declared)) == "a b one y"


@pytest.mark.parametrize(
    ("declared", "limits", "want"),
    [
        pytest.param({"a": "! ~"}, [], "a is mandatory, a is prohibited", id="resolver.md 12 row 4"),
        pytest.param(
            {"a": "!", "b": "! -a"},
            [],
            "a is mandatory, b conflicts with a, b is mandatory",
            id="resolver.md 12 row 11",
        ),
        pytest.param(
            {"a": "! x|y", "x": "!", "y": "!"},
            [("n", "x y")],
            "n permits, x is mandatory, y is mandatory",
            id="resolver.md 12 row 13: not the dependency",
        ),
        pytest.param({"a": "! -a"}, [], "a conflicts with a, a is mandatory", id="resolver.md 12 row 22: with itself"),
        pytest.param({"a": "!"}, [("n", "a a")], "a is mandatory, n permits", id="resolver.md 12 row 23: listed twice"),
        pytest.param(
            dict.fromkeys("abcdefgh", "!"),
            [("n", "a b c d e f g h")],
            "a is mandatory, b is mandatory, n permits",
            id="a long limit is a ladder",
        ),
    ],
)
def test_contradictions(declared: dict[str, str], limits: list[tuple[str, str]], want: str) -> None:
    problem = variables(declared, limits)
    with pytest.raises(Unsatisfiable):
        solve(problem)
    assert unsatisfiable(conflict(problem)).message == f"constraints not satisfiable: {want}"


def test_a_message_without_facts() -> None:
    """resolver.md 12 row 24."""
    assert unsatisfiable([]).message == "constraints not satisfiable"


@pytest.mark.parametrize(
    ("variables", "want"),
    [
        pytest.param(
            [Variable(Id("a")), Variable(Id("a"))], 'duplicate identifier "a" in input', id="resolver.md 12 row 20"
        ),
        pytest.param(
            [Variable(Id("a"), (Conflict(Id("a"), Id("b")),))],
            '1 errors encountered: variable "b" referenced but not provided',
            id="resolver.md 12 row 21",
        ),
    ],
)
def test_inputs_that_are_none(variables: list[Variable], want: str) -> None:
    with pytest.raises(InvalidVariables, match=want):
        solve(variables)


def random_problem(rng: random.Random) -> list[Variable]:
    everyone = [f"v{number}" for number in range(6)]
    declared = {}
    for name in everyone:
        words = ["!"] if rng.random() < 0.3 else []
        words += ["|".join(rng.sample(everyone, rng.randint(1, 3))) for _ in range(rng.randint(0, 2))]
        words += [f"-{rng.choice(everyone)}"] if rng.random() < 0.4 else []
        words += ["~"] if rng.random() < 0.05 else []
        words += [f"/{','.join(rng.sample(everyone, 2))}"] if "!" in words and rng.random() < 0.2 else []
        declared[name] = " ".join(words)
    return variables(declared)


def satisfies(taken: set[Id], variables: Iterable[Variable]) -> bool:
    """An independent reading of the constraints."""
    for variable in variables:
        for one in variable.constraints:
            match one:
                case Mandatory(subject) if subject not in taken:
                    return False
                case Prohibited(subject) if subject in taken:
                    return False
                case Dependency(subject, options) if subject in taken and not taken & set(options):
                    return False
                case Conflict(subject, other) if {subject, other} <= taken:
                    return False
                case Excluded(subject, others) if subject in taken and taken & set(others):
                    return False
    return True


def by_brute_force(variables: list[Variable]) -> set[Id] | None:
    """resolver.md 8.2, with every assignment tried."""
    ids = [variable.id for variable in variables]
    models = [
        set(some) for size in range(len(ids) + 1) for some in combinations(ids, size) if satisfies(set(some), variables)
    ]

    def is_possible(desired: set[Id]) -> bool:
        return any(desired <= model for model in models)

    chosen: list[Id] = []
    queue = [[variable.id] for variable in variables if variable.is_anchor]
    if not is_possible({options[0] for options in queue}):
        return None
    while queue:
        options = queue.pop(0)
        if not set(options) & set(chosen):
            chosen.append(next(one for one in options if is_possible({*chosen, one})))
            found = next(variable for variable in variables if variable.id == chosen[-1])
            queue += [list(one.options) for one in found.constraints if isinstance(one, Dependency)]
    return set(chosen)


def test_every_answer_is_the_best_one_and_every_contradiction_is_minimal() -> None:
    rng = random.Random(82)
    for _ in range(300):
        variables = random_problem(rng)
        want = by_brute_force(variables)
        if want is not None:
            assert set(solve(variables)) == want
            continue
        with pytest.raises(Unsatisfiable):
            solve(variables)
        facts = conflict(variables)
        assert by_brute_force(only(variables, facts)) is None
        for fact in facts:
            assert by_brute_force(only(variables, [one for one in facts if one is not fact])) is not None


def only(variables: list[Variable], kept: Iterable[Constraint]) -> list[Variable]:
    texts = {one.text for one in kept}
    return [Variable(one.id, tuple(each for each in one.constraints if each.text in texts)) for one in variables]


def test_many_options_that_several_share_are_options_of_each() -> None:
    """The first wish of a is excluded by c, so a solver is asked; a and b share their options."""
    options = tuple(Id(f"x{number}") for number in range(9))
    wishes = [
        Variable(Id(name), (_mandatory(name), Dependency(Id(name), options, f"{name} requires one", Code.REQUIRES)))
        for name in "ab"
    ]
    excluded = Excluded(Id("c"), (*options[:4], *options[5:]), "c excludes all but x4", Code.HELD)
    others = [Variable(Id("c"), (_mandatory("c"), excluded)), *map(Variable, options)]
    assert names(solve([*wishes, *others])) == "a b c x4"
    only = Conflict(Id("c"), options[4])
    with pytest.raises(Unsatisfiable):
        solve([*wishes, Variable(Id("c"), (_mandatory("c"), excluded, only)), *map(Variable, options)])


def test_limits_of_the_same_ids_hold_each_by_itself() -> None:
    ids = tuple(Id(f"x{number}") for number in range(9))
    limits = [AtMostOne(Id(name), ids, f"{name} permits one", Code.ONE_PROVIDER) for name in "ab"]
    with Sat(limits, selectable=True) as sat:
        assert sat.is_possible(ids)
        for limit in limits:
            assert all(sat.is_possible([one], [limit.text]) for one in ids)
            assert not any(sat.is_possible([ids[0], one], [limit.text]) for one in ids[1:])
    with Sat(limits) as sat:
        assert not sat.is_possible(ids[:2])


def test_what_takes_too_long_is_given_up() -> None:
    """Nine pigeons, eight holes: a question that grows harder than exponentially."""
    pigeons, holes = range(9), range(8)
    nests = [
        Dependency(Id(f"p{pigeon}"), tuple(Id(f"p{pigeon} in h{hole}") for hole in holes), f"p{pigeon}", Code.REQUIRES)
        for pigeon in pigeons
    ]
    limits = [
        AtMostOne(
            Id(f"h{hole}"), tuple(Id(f"p{pigeon} in h{hole}") for pigeon in pigeons), f"h{hole}", Code.ONE_PROVIDER
        )
        for hole in holes
    ]
    with Sat([*nests, *limits], max_conflicts=20) as sat, pytest.raises(GaveUp, match="gave up because 20 attempts"):
        sat.is_possible([Id(f"p{pigeon}") for pigeon in pigeons])
