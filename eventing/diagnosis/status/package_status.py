"""What is answered about a package, the same by every verb; the closed set of reasons, and what was read to find it."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING

from shared.api.views import Csv, InstallPlan, Object, OperatorGroup, Subscription
from shared.domain.command import Command, Fix
from shared.domain.progress import Progress
from shared.kinds import CLUSTER_EXTENSION, CLUSTER_SERVICE_VERSION, SUBSCRIPTION, Kind, Ref

if TYPE_CHECKING:  # why: the queue brings the Redis client
    from eventing.diagnosis.why.facts import LastRun
    from eventing.workqueue import Listed


class Code(StrEnum):
    """Why a package is where it is: one for each rule of the decider."""

    INSTALLED = "Installed"
    HELD = "Held"
    PINNED = "Pinned"
    RESOLVING = "Resolving"
    PULLING = "PullingCatalog"
    CSV_DELETED = "InstalledVersionDeleted"
    UNSATISFIABLE = "Unsatisfiable"
    RESOLUTION_PREVENTED = "ResolutionPrevented"
    UNPACKING = "UnpackingBundle"
    UNPACK_REFUSED = "UnpackingRefused"
    UNPACK_FAILED = "UnpackingFailed"
    APPROVAL_NEEDED = "ApprovalNeeded"
    PLAN_UNFINISHED = "PlanUnfinished"
    PERMISSIONS_LACKING = "PermissionsLacking"
    PLAN_FAILED = "PlanFailed"
    PLAN_DELETED = "PlanDeleted"
    STRANDED = "Stranded"
    NOT_INSTALLABLE = "NewerNotInstallable"
    CATALOG_UNHEALTHY = "CatalogUnhealthy"
    INSTALLING = "Installing"
    VERSION_FAILED = "VersionFailed"
    REQUIREMENTS_UNMET = "RequirementsUnmet"
    PREDECESSOR_STUCK = "PredecessorStuck"
    INSTALL_MODE_UNSUPPORTED = "InstallModeUnsupported"
    API_CONFLICT = "ApiConflict"
    NO_OPERATOR_GROUP = "NoOperatorGroup"
    TOO_MANY_OPERATOR_GROUPS = "TooManyOperatorGroups"
    RETRYING = "Retrying"
    CONFIGURATION_INVALID = "ConfigurationInvalid"
    ROLLOUT_REFUSED = "RolloutRefused"
    ROLLOUT_BLOCKED = "RolloutBlocked"
    ROLLOUT_LATE = "RolloutLate"
    UNAVAILABLE = "Unavailable"
    DELETING = "Deleting"
    DOUBLED = "InstalledTwice"


_UNRESOLVED = frozenset({Code.UNSATISFIABLE, Code.RESOLUTION_PREVENTED, Code.DOUBLED})


def ref_of(kind: Kind, found: Object) -> Ref:
    """The ref of an object of that kind; files may hold objects that do not say which kind they are."""
    return kind.ref(found.name, found.namespace)


@dataclass(frozen=True, slots=True)
class NamespaceContext:
    """What else stands in the namespace, and groups elsewhere: only what a rule asks for is read."""

    csvs: tuple[Csv, ...] = ()
    plans: tuple[InstallPlan, ...] = ()
    groups: tuple[OperatorGroup, ...] | None = None
    """None: not read."""
    all_groups: tuple[OperatorGroup, ...] = ()
    """The OperatorGroups of all namespaces."""
    providers: tuple[Csv, ...] = ()
    """The versions of the namespaces whose groups provide an API of this one."""


@dataclass(frozen=True, slots=True)
class Package:
    """What was read about one package."""

    subscription: Subscription | None
    """None: a version that nobody subscribes to."""
    csv: Csv | None = None
    """The version that is installed or on its way; None: not there yet."""
    kept: Csv | None = None
    """What is installed until that one is; None: nothing else."""
    context: NamespaceContext = field(default_factory=NamespaceContext)
    job: Listed | None = None
    """The job about one of its objects whose last run failed."""
    due: str = ""
    """When the queue runs a step on one of its objects again."""
    pull: Progress | None = None
    """How far the pull of its catalog is that is going on: phase, bytes, attempt."""
    last: tuple[LastRun, ...] = ()
    """Where steps left its version, then its Subscription, as the journal has it."""
    catalog_due: str = ""
    """When its catalog is tried again, if that one waits for something."""


@dataclass(frozen=True, slots=True)
class PackageStatus:
    """Where a package stands, what it waits for, why, and what helps."""

    namespace: str
    subscription: str
    """Empty: nobody subscribes to it, or it is a ClusterExtension."""
    package: str
    installed: str
    """Name of the CSV that is installed; empty: none."""
    version: str
    """Name of the CSV that is installed or on its way; empty before there is one."""
    phase: str
    """The phase of that CSV, or what the Subscription is at."""
    code: Code = field(default=Code.INSTALLED, compare=False)
    reason: str = field(default="", compare=False)
    """The reason that the CSV or the condition of the Subscription states."""
    message: str = ""
    """What it waits for, or what went wrong; empty when all is well."""
    brief: str = field(default="", compare=False)
    """The same in a sentence for a row, where it has lines; empty: the message is one."""
    since: str = field(default="", compare=False)
    """Since when; who follows a package sees no news in it."""
    not_working_since: str = field(default="", compare=False)
    """Since when that CSV has not worked, however often it was tried again; empty when it works, or is not there."""
    until: str = field(default="", compare=False)
    """What ends the wait, where it is known."""
    next_try: str | Command = field(default="", compare=False)
    """When it is tried again: a time, `now`, an event in words, a command; empty: nothing is tried."""
    evidence: tuple[Ref, ...] = field(default=(), compare=False)
    """The objects that show it."""
    fixes: tuple[Fix, ...] = field(default=(), compare=False)
    extension: str = ""
    """The ClusterExtension that it is of; empty: OLM v1 has nothing to do with it."""
    moves: str = field(default="", compare=False)
    """What it is being moved from: a Subscription (`namespace/name`) or a ClusterExtension."""
    channel: str = ""
    approval: str = ""
    catalog: str = ""
    """`namespace/name` of a CatalogSource, or the name of the ClusterCatalog that an extension is answered by."""
    plan: str = ""
    """The InstallPlan that waits for approval."""
    held: str = ""
    """The version that a hold keeps, and why."""
    pinned: str = ""
    """What the annotation asks for, and what is newer; empty when nothing is."""
    pin: str = ""
    """What the annotation asks for."""
    stranded: str = ""
    """Why the channel leads nowhere from what is installed, or to nothing that can be installed."""
    deprecated: str = field(default="", compare=False)
    """What its catalog says of the package, channel or version that it advises to leave; it works all the same."""
    is_done: bool = False
    """The wanted version is installed and works, and nothing newer was found impossible."""
    is_stuck: bool = False
    """It does not go on before somebody changes what is wanted or offered."""
    is_failing: bool = field(default=False, compare=False)
    """The last run about it failed."""

    @property
    def headline(self) -> str:
        """The first line of the whole message."""
        return next(iter(self.whole_message.splitlines()), "")

    @property
    def whole_message(self) -> str:
        """The message, and that it is deprecated."""
        return self._with_deprecation(self.message)

    @property
    def row_message(self) -> str:
        """The same for a row."""
        return self._with_deprecation(self.brief or self.message)

    def _with_deprecation(self, message: str) -> str:
        return "; ".join(filter(None, (message, self.deprecated and f"deprecated: {self.deprecated}")))

    @property
    def is_well(self) -> bool:
        """Its version works."""
        return self.phase == "Succeeded"

    @property
    def ref(self) -> Ref:
        """What runs the package."""
        if self.extension:
            return CLUSTER_EXTENSION.ref(self.extension)
        if self.subscription:
            return SUBSCRIPTION.ref(self.subscription, self.namespace)
        return CLUSTER_SERVICE_VERSION.ref(self.version, self.namespace)

    @property
    def advised(self) -> tuple[Fix, ...]:
        """What helps: of what works only where it cannot go on, or not alone; what people want is not to be mended."""
        return self.fixes if not self.is_well or self.code in _UNRESOLVED else ()
