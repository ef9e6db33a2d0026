"""Inputs and results of the resolver, as frozen values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Literal, Protocol

from shared.domain.bundle.inline import InlineBundle
from shared.domain.catalog.model import Bundle, Package
from shared.domain.image_source import ImageSource
from shared.domain.resolver.constraints import Constraint
from shared.domain.resolver.facts import Gvk
from shared.domain.resolver.identity import CatalogKey, Installed
from shared.domain.resolver.reasons import OPEN, Code, Reason
from shared.domain.resolver.subscription_policy import NONE, SubscriptionPolicy

if TYPE_CHECKING:
    from shared.domain.resolver.operators import Operator


@dataclass(frozen=True, slots=True)
class Catalog:
    """A CatalogSource: where its content can be read, or why it cannot."""

    key: CatalogKey
    image: str = ""
    reference: str = ""
    """The image by digest: the last good snapshot."""
    priority: int = 0
    secrets: tuple[str, ...] = ()
    problem: str = ""
    """Why no content can be read; empty when it can be read, or when reading was not tried yet."""
    is_stale: bool = False
    """The content is the last good snapshot, because the latest attempt to read it failed."""

    @property
    def source(self) -> ImageSource:
        """How its image is pulled."""
        return ImageSource(self.image, self.key.namespace, self.secrets)


class CatalogReader(Protocol):
    """The content of one catalog. The same call always returns the same."""

    def package(self, name: str) -> Package | None:
        """A package, or None."""
        ...

    def operators(self, name: str, catalog: CatalogKey) -> Mapping[str, tuple[Operator, ...]]:
        """The operators of a package by channel, with that catalog key; empty for an unknown package."""
        ...

    def names(self) -> Iterable[str]:
        """All packages."""
        ...

    def is_empty(self) -> bool:
        """Whether it has no package."""
        ...

    def providers(self, api: Gvk) -> Iterable[str]:
        """The packages of which a bundle states the API."""
        ...

    def holders(self, bundle: str) -> Iterable[str]:
        """The packages that have a bundle of that name."""
        ...

    def problem(self, name: str) -> str:
        """Why a package cannot be read; empty when it can be, or does not exist."""
        ...


@dataclass(frozen=True, slots=True)
class Subscriber:
    """A Subscription as the resolver sees it."""

    name: str
    package: str
    channel: str
    catalog: CatalogKey
    starting_csv: str = ""
    installed_csv: str = ""
    is_manual: bool = False
    waits: str = ""
    """Why nothing is decided for it now, e.g. an InstallPlan is not finished; empty when a decision is wanted."""
    planned_csv: str = ""
    """The version that an unfinished InstallPlan installs in place of the installed one. Only explanations use it."""
    failed_csv: str = ""
    """The version whose InstallPlan failed and that fail-forward may pass: it is not tried again."""
    policy: SubscriptionPolicy = NONE
    """What its `olmf.io/` annotations ask for."""
    unknown: str = ""
    """A sentence about its `olmf.io/` annotations that ask for nothing."""

    def follows(self, channel: str) -> bool:
        """Whether it may get versions of that channel; a Subscription without a channel follows all."""
        return self.channel in ("", channel)


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that a resolution depends on: equal inputs have equal resolutions."""

    namespace: str
    subscribers: tuple[Subscriber, ...] = ()
    installed: tuple[Installed, ...] = ()
    catalogs: Mapping[CatalogKey, Catalog] = field(default_factory=dict)
    """Every catalog that the namespace sees."""
    readers: Mapping[CatalogKey, CatalogReader] = field(default_factory=dict)
    """The content of those that can be read."""
    problem: Reason | None = None
    """What prevents any decision in the namespace, e.g. two OperatorGroups."""
    is_whole: bool = False
    """OLM's scope: the namespace is one component, so one conflict stops every Subscription."""
    is_strict: bool = False
    """Any catalog in sight that cannot be read now prevents every decision, as in OLM."""
    groups: tuple[str, ...] = ()
    """The names of the OperatorGroups of the namespace. Only explanations use them."""
    former_targets: tuple[str, ...] | None = None
    """The namespaces that what is installed was last to watch; None: unknown. Only explanations use them."""
    copies: Mapping[str, str] = field(default_factory=dict)
    """Copied ClusterServiceVersions in the namespace, with the namespaces of their originals."""
    unseen: Mapping[CatalogKey, str] = field(default_factory=dict)
    """Catalogs that are known but not visible in the namespace, and why not. Only explanations use it."""

    def package(self, catalog: CatalogKey, name: str) -> Package | None:
        """A package of a catalog; None when one of the two cannot be read or does not exist."""
        reader = self.readers.get(catalog)
        return reader.package(name) if reader else None


@dataclass(frozen=True, slots=True)
class Chosen:
    """A bundle to install, with the Subscriptions that get it; without any it is a dependency."""

    bundle: Bundle
    package: str
    channel: str
    catalog: Catalog
    replaces: str
    """The CSV that it replaces: the installed one, else its `replaces` in the channel."""
    subscribers: tuple[str, ...]

    @property
    def path(self) -> str:
        """Where its manifests are: an image, or the bundle inside of its catalog."""
        return self.bundle.image or str(InlineBundle(self.package, self.bundle.name, self.catalog.reference))


UNSATISFIABLE: Final = "ConstraintsNotSatisfiable"
PREVENTED: Final = "ErrorPreventedResolution"
"""The reasons that OLM gives for a refusal."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a component gets nothing: no solution exists, or something prevented the search."""

    reason: Literal["ConstraintsNotSatisfiable", "ErrorPreventedResolution"]
    message: str
    facts: tuple[Constraint, ...] = ()
    """A minimal contradiction: without any one of them there would be a solution."""
    code: Code = Code.PREVENTED
    """What prevented the search; a contradiction has a code for each of its facts."""
    default_fix: str = ""
    """What to do, where the message says it."""

    @property
    def is_prevented(self) -> bool:
        """Whether the search was prevented: nobody knows yet whether there is a solution."""
        return self.reason == PREVENTED

    @property
    def is_open(self) -> bool:
        """Whether a decision may be had later, as things are."""
        return self.is_prevented and self.code in OPEN

    @property
    def why(self) -> Reason:
        """What prevented the search."""
        return Reason(self.code, self.message)


def prevented(why: Reason) -> Refusal:
    """The refusal for an error that prevented the search."""
    return Refusal(PREVENTED, why.text, code=why.code)


def unreadable(catalog: CatalogKey, problem: str) -> Reason:
    """OLM's error for a catalog that cannot be read."""
    return Reason(Code.CATALOG_UNREADABLE, f"error using catalogsource {catalog}: {problem}")


def unsatisfiable(facts: Iterable[Constraint], default_fix: str = "") -> Refusal:
    """The refusal for a contradiction, with OLM's message for it."""
    facts = tuple(facts)
    message = ": ".join(filter(None, ["constraints not satisfiable", ", ".join(sorted(one.text for one in facts))]))
    return Refusal(UNSATISFIABLE, ". ".join(filter(None, (message, default_fix))), facts, default_fix=default_fix)


NOT_IN_CHANNEL, NOT_INSTALLABLE = "NotInChannel", "NotInstallable"
"""Why a version stays: its channel leads nowhere from it; what would replace it cannot be installed now."""


@dataclass(frozen=True, slots=True)
class Stay:
    """Why a Subscription keeps its version although others are offered: the reason, for programs, and a sentence."""

    reason: str
    message: str


@dataclass(frozen=True, slots=True)
class Component:
    """Subscriptions that are decided together: one plan, or one refusal for all of them."""

    subscribers: tuple[str, ...]
    chosen: tuple[Chosen, ...] = ()
    refusal: Refusal | None = None
    is_manual: bool = False
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Subscription to one sentence: what it gets and why."""
    stays: Mapping[str, Stay] | None = None
    """Subscription to why it keeps its version although others are offered. None: not decided yet."""


@dataclass(frozen=True, slots=True)
class Resolution:
    """The resolution of a namespace: every Subscription is in exactly one component and has one reason."""

    components: tuple[Component, ...] = ()
    reasons: Mapping[str, str] = field(default_factory=dict)
    """Subscription to one sentence: what it gets and why."""

    @property
    def chosen(self) -> tuple[Chosen, ...]:
        """Every bundle to install, in component order."""
        return tuple(chosen for component in self.components for chosen in component.chosen)

    @property
    def refused(self) -> frozenset[str]:
        """The Subscriptions that get nothing because their component is refused."""
        return frozenset(name for one in self.components if one.refusal for name in one.subscribers)

    @property
    def stays(self) -> Mapping[str, Stay]:
        """The Subscriptions that keep their version although others are offered, and why."""
        return {name: why for component in self.components for name, why in (component.stays or {}).items()}

    def component_of(self, subscriber: str) -> Component | None:
        """The component that decides for a Subscription."""
        return next((one for one in self.components if subscriber in one.subscribers), None)
