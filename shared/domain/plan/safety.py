"""Whether a plan may change definitions that exist: what is stored stays readable and valid (catalog.md §4.8)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from shared.api.manifest import ReadOnly, name_of
from shared.api.views import CustomResourceDefinition
from shared.domain.conditions import Condition
from shared.domain.crd_safety import stored
from shared.domain.go_types.dialects import JSON
from shared.domain.go_types.engine import MisfitError
from shared.domain.objects.install_plan import CRD_SAFE
from shared.domain.plan.crds import RULE, risk
from shared.domain.plan.sentences import MOST_NAMED, besides
from shared.kinds import Kind

INVALID: Final = "ObjectsBecomeInvalid"
LOST: Final = "StoredVersionRemoved"
MALFORMED: Final = "DefinitionMalformed"
_CONVERTED: Final = (
    "Validation of existing CRs against the new CRD's schema failed, but a webhook conversion strategy was specified "
    "in the new CRD. "
)


class Problem(NamedTuple):
    """One reason why a definition may not be changed."""

    reason: str
    text: str


@dataclass(frozen=True, slots=True)
class Safety:
    """What a change of definitions does to what is stored in them."""

    definitions: tuple[str, ...] = ()
    """The definitions that change."""
    problems: tuple[Problem, ...] = ()
    warnings: tuple[str, ...] = ()
    """About objects that do not fit, and are converted before anybody reads them."""
    unnamed: int = 0
    """Problems that are only counted."""

    def __add__(self, other: Safety) -> Safety:
        """What both changes do."""
        return Safety(
            (*self.definitions, *other.definitions),
            (*self.problems, *other.problems),
            (*self.warnings, *other.warnings),
            self.unnamed + other.unnamed,
        )

    @property
    def refusal(self) -> str:
        """Why not, OLM's sentence first; there is one problem at least."""
        first, *others = (one.text for one in self.problems)
        return besides(first, others, count=len(others) + self.unnamed)


def judged(new: ReadOnly, live: ReadOnly, objects: Iterable[tuple[Kind, Iterable[ReadOnly]]]) -> Safety:
    """What a change of one definition does; `objects` are those of each version that `stored.to_check` names."""
    changed = (name_of(live),)
    try:
        JSON.read(new, RULE.kind.kind)
    except MisfitError as error:
        return Safety(changed, (Problem(MALFORMED, f"error parsing step manifest: {error}"),))
    found = (misfit for kind, listed in objects for misfit in stored.misfits(new, kind, listed))
    named = list(islice(found, MOST_NAMED + 1))
    unnamed = sum(1 for _ in found)
    texts = [one.brief if index else one.sentence(new) for index, one in enumerate(named)]
    lost = tuple(Problem(LOST, text) for text in filter(None, (risk(new, live),)))
    if texts and CustomResourceDefinition(new).converts_by_webhook:
        return Safety(changed, lost, (_CONVERTED + besides(texts[0], texts[1:], count=len(texts) - 1 + unnamed),))
    return Safety(changed, (*(Problem(INVALID, text) for text in texts), *lost), unnamed=unnamed)


def condition(found: Safety) -> Condition | None:
    """What a plan says about its definitions before anything is written; None when it changes none that exists."""
    if found.problems:
        return Condition(CRD_SAFE, "False", found.problems[0].reason, found.refusal)
    if not found.definitions:
        return None
    first, *others = dict.fromkeys(found.definitions)
    message = f"what is stored fits, and no stored version goes: {besides(first, others)}"
    return Condition(CRD_SAFE, "True", "NothingIsLost", message)


def unknown(why: str) -> Condition:
    """The same condition where nobody can tell."""
    return Condition(CRD_SAFE, "Unknown", "NotAllowedToLook", why)
