"""What becomes of a bundle that was fetched: a revision, the newest one as it is, or a refusal (v1.md §21.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, TypeAlias

from shared import names
from shared.api import fields
from shared.api.manifest import Manifest, ReadOnly, name_of
from shared.api.views import ClusterExtension, ClusterObjectSet
from shared.domain.bundle.model import Files
from shared.domain.catalog import image_reference
from shared.domain.crd_safety.upgrade import message, problems
from shared.domain.extension import decision
from shared.domain.extension.decision import AskProvider, Target
from shared.domain.extension.phases import revision as revision_rules
from shared.domain.extension.phases.order import MOST_OBJECTS, MOST_PHASES, Phase
from shared.domain.extension.phases.packing import Owner, Packed, TooLarge, pack
from shared.domain.extension.phases.revision import Content, phases_of
from shared.domain.extension.render.load import load
from shared.domain.extension.render.model import NotRenderedError
from shared.domain.extension.render.render import render
from shared.domain.extension.revisions import Revisions
from shared.domain.go.text import quoted


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why the bundle is not rolled out."""

    why: str
    terminal: str = ""
    """The reason of what ends with an edit of the configuration or the catalog alone; empty: it may end by itself."""
    after: timedelta = timedelta(minutes=5)
    """When it is tried again: what is wrong with a bundle or a definition seldom goes away by itself."""


@dataclass(frozen=True, slots=True)
class Rendered:
    """The objects of a bundle, as the revisions of an extension have them."""

    content: Content
    phases: tuple[Phase, ...]
    origin: str
    """The digest of what they were rendered from."""

    @property
    def definitions(self) -> tuple[ReadOnly, ...]:
        """The CustomResourceDefinitions among them."""
        return tuple(one for one in self.content.objects if one.get("kind") == "CustomResourceDefinition")


@dataclass(frozen=True, slots=True)
class Renewal:
    """The newest revision has these objects already: only what it says of itself is to be written."""

    revision: ClusterObjectSet
    patch: Manifest

    def __str__(self) -> str:
        return f"{self.revision.name} has its objects already"


@dataclass(frozen=True, slots=True)
class Addition:
    """A new revision, with the Secrets of its objects, and the old ones that go for it."""

    revision: Manifest
    secrets: tuple[Manifest, ...]
    superfluous: tuple[str, ...]

    def __str__(self) -> str:
        return f"{name_of(self.revision)} is made of it"


Change: TypeAlias = Renewal | Addition


def rendered(extension: ClusterExtension, target: Target, files: Files, provider: AskProvider) -> Rendered | Refusal:
    """The objects of a bundle image."""
    try:
        bundle = load(files)
        maker = provider() if bundle.webhooks else decision.NOBODY
        objects = render(bundle, decision.options(extension, maker))
    except NotRenderedError as error:
        sentence = "; ".join(filter(None, (str(error), "" if error.is_terminal else error.fix)))
        return Refusal(sentence, "InvalidConfiguration" if error.is_terminal else "")
    chosen = target.bundle
    package = decision.request_for(extension).package
    content = Content(
        package, chosen.name, target.identity, chosen.image, objects, bundle.annotations, decision.HAS_RELEASES
    )  # fmt: skip
    return Rendered(content, phases_of(extension.raw, content), decision.rendered_from(extension, target, maker))


def unreadable(image: str) -> Refusal | None:
    """Why nothing can be pulled by the reference of a bundle image (v1.md §4): only another catalog helps."""
    found = image_reference.parsed(image)
    if isinstance(found, str):
        return Refusal(f"error parsing image reference {quoted(image)}: {found}", "Blocked")
    if found.tag or found.digest:
        return None
    return Refusal(f"error creating reference: {quoted(image)} has neither a tag nor a digest", "Blocked")


def unsafe(made: Rendered, present: Mapping[str, ReadOnly]) -> Refusal | None:
    """Why its definitions are not safe for those of the same names that are there (v1.md §19)."""
    found = [
        message(one, list(problems(present[name_of(one)], one)))
        for one in made.definitions
        if name_of(one) in present
    ]  # fmt: skip
    sentence = "\n".join(filter(None, found))
    return Refusal(sentence) if sentence else None


def change(extension: ClusterExtension, revisions: Revisions, made: Rendered, namespace: str) -> Change | Refusal:
    """What is to be written; `namespace` is that of the Secrets."""
    if len(made.phases) > MOST_PHASES:
        total = sum(len(phase.objects) for phase in made.phases)
        room = f"a revision has {MOST_PHASES} phases of {MOST_OBJECTS} objects at most"
        return Refusal(f"its {total} objects are {len(made.phases)} phases: {room}")
    number = revision_rules.next_number(one.raw for one in revisions.all)
    newest = revisions.newest
    try:
        if newest is not None and newest in revisions.active:
            packed = pack(made.phases, Owner(newest.name, extension.name, namespace))
            again = _desired(extension, made, packed, newest.number)
            if _fixed(again) == _fixed(newest.raw):
                return Renewal(newest, _patch(newest, again))
        owner = Owner(revision_rules.revision_name(extension.raw, number), extension.name, namespace)
        packed = pack(made.phases, owner)
    except TooLarge as error:
        return Refusal(str(error))
    old = revision_rules.superfluous(one.raw for one in revisions.all)
    secrets = revision_rules.guarded(packed.secrets, extension.raw)
    return Addition(_desired(extension, made, packed, number), secrets, old)


def _desired(extension: ClusterExtension, made: Rendered, packed: Packed, number: int) -> Manifest:
    found = revision_rules.desired(extension.raw, made.content, packed, number=number)
    found["metadata"]["annotations"] |= {
        names.RENDERED_FROM: made.origin, names.DECIDED_FOR: str(extension.generation)
    }  # fmt: skip
    return found


def _fixed(revision: ReadOnly) -> tuple[object, list[tuple[str, Any]]]:
    """What of a revision can not be changed: how it treats what others control, and its objects."""
    found = ClusterObjectSet(revision)
    return found.protection, [
        (fields.text(one, "name"), [fields.part(inner, "ref") for inner in fields.parts(one, "objects")])
        for one in found.phases
    ]


def _patch(newest: ClusterObjectSet, desired: ReadOnly) -> Manifest:
    """What of a revision may change: who owns it, annotations, probes and the deadline."""
    keys = ("progressDeadlineMinutes", "progressionProbes")
    spec = {key: desired["spec"].get(key) for key in keys if desired["spec"].get(key) != newest.spec.get(key)}
    annotations = desired["metadata"]["annotations"]
    gone = {key: None for key in (names.V1_PROPERTIES, names.V1_BUNDLE_RELEASE) if newest.annotation(key) is not None}
    meta = {"annotations": {**gone, **annotations}, "ownerReferences": desired["metadata"]["ownerReferences"]}
    return {"metadata": meta, **({"spec": spec} if spec else {})}
