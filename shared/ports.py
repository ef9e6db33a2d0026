"""The ports of a step: the interfaces through which it reads the world. A step names those it needs in its signature.

A port is a Protocol, or a plain value. Every answer is recorded and is given again on replay, so answers are JSON
values, dataclasses, or tuples of these.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, NamedTuple, Protocol, TypeAlias

from shared.api.manifest import Manifest, ReadOnly
from shared.domain.catalog.model import Package
from shared.domain.csv.copies import Copy
from shared.domain.endpoints.certificates import Pair, StoredPair
from shared.domain.image_source import ImageSource
from shared.domain.progress import Progress
from shared.domain.unpack.causes import Warned
from shared.kinds import Kind, Ref
from shared.policy import Policy as Policy


class Listing(NamedTuple):
    """The arguments of `Cluster.list`."""

    kind: Kind
    namespace: str = ""
    labels: Mapping[str, str] | None = None


class Cluster(Protocol):
    """Reads of the Kubernetes API. Steps share the answers: do not change them in place."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        ...

    def list(
        self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None, most: int = 0
    ) -> tuple[Manifest, ...]:
        """At `most` so many (0: all) of a kind, of a namespace or of all, that carry all `labels`, sorted by name.

        As values of labels, `names.ANY` stands for any value and `names.NONE` for objects without the label.
        """
        ...

    def get_all(self, refs: Sequence[Ref]) -> tuple[Manifest | None, ...]:
        """What `get` answers for each, asked for at once: a step waits as long as for one."""
        ...

    def list_all(self, listings: Sequence[Listing]) -> tuple[tuple[Manifest, ...], ...]:
        """What `list` answers for each, asked for at once."""
        ...


@dataclass(frozen=True, slots=True)
class Denied:
    """A read or a write that a ServiceAccount may not make."""

    message: str
    """The sentence of the API server: verb, resource, API group, namespace and name."""


class Accounts(Protocol):
    """Questions to the Kubernetes API with the rights of a ServiceAccount; never answered from what we may read.

    Without an account they are asked with our own rights: of kinds that nobody may have granted to us.
    """

    def get(self, ref: Ref, account: Ref | None) -> Manifest | Denied | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        ...

    def list(self, kind: Kind, namespace: str, account: Ref | None) -> tuple[Manifest, ...] | Denied:
        """The objects of a kind in a namespace, sorted by name."""
        ...

    def refusal(self, manifest: Manifest, account: Ref | None) -> Denied | None:
        """Why it may not create (with a resourceVersion: replace) the object: a dry run. No Secrets: it is recorded."""
        ...

    def allows(self, access: Manifest) -> bool:
        """Whether a user may do something: `access` is the spec of a SubjectAccessReview."""
        ...


class Copies(Protocol):
    """Summaries of copied ClusterServiceVersions: there may be thousands of copies, each as large as its original."""

    def made_from(self, namespace: str, name: str = "") -> tuple[Copy, ...]:
        """The copies of the originals in `namespace` (empty: in all), or of that `name`; by namespace and name."""
        ...

    def others(self, namespace: str, name: str) -> frozenset[str]:
        """Namespaces with a ClusterServiceVersion of that name that is not a copy of the one in `namespace`."""
        ...


class Inventory(Protocol):
    """The objects that exist, without their content."""

    def versions(self, kind: Kind, *, labels: Mapping[str, str] | None = None) -> tuple[tuple[Ref, str], ...]:
        """Every object of a kind that carries all of `labels`, with its resourceVersion."""
        ...


class Discovery(Protocol):
    """The version of the API server and the kinds that it serves."""

    def version(self) -> str:
        """`gitVersion`, e.g. `v1.35.4`."""
        ...

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The kind, or None when the API server does not serve it."""
        ...


class Warnings(Protocol):
    """The warnings that Events state; read only about an object that somebody waits for."""

    def about(self, ref: Ref, uid: str) -> tuple[Warned, ...]:
        """The newest warnings about the object with that uid, at most eight, the oldest first."""
        ...


class Keys(Protocol):
    """Certificates. Private keys are never told: a step knows their handles, which effects resolve."""

    def stored(self, secret: Ref) -> StoredPair | None:
        """What a Secret with a serving certificate says in public; None when it does not exist."""
        ...

    def issue(self, hosts: tuple[str, ...], now: datetime) -> Pair:
        """A new CA, and a serving certificate of it for these names."""
        ...


class Clock(Protocol):
    """Time, always UTC."""

    def now(self) -> datetime:
        """The current time in whole seconds, the precision of Kubernetes timestamps."""
        ...


@dataclass(frozen=True, slots=True)
class Pulled:
    """A catalog that was read and indexed."""

    reference: str
    """The image by digest: `registry/name@sha256:…`."""
    packages: int
    left_out: tuple[str, ...] = ()
    """One sentence for each bundle that the maker of the catalog had to leave out of it."""


UnavailableReason: TypeAlias = Literal[
    "DNS", "TLS", "Unreachable", "Unauthorized", "NotFound", "DigestMismatch", "TooLarge", "Malformed",
    "Blocked", "MirrorMiss", "TimedOut", "NoCatalog", "BadCatalog", "NotRecorded",
]  # fmt: skip
"""Why content is unavailable: `Blocked` by a rule of the administrator, `TimedOut` by the bounds of a pull, at all
mirrors `MirrorMiss`, `NoCatalog`: an image does not say where its catalog is, `BadCatalog`: its files are no catalog,
`NotRecorded`: in a replay."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Content that could not be read; `message` is a sentence that says why and what to do next."""

    reason: UnavailableReason
    message: str
    after: timedelta = timedelta(0)
    """How long asking again is in vain."""


class IndexedCatalogs(Protocol):
    """Reads of catalogs that are indexed, by reference; `source` says how to index one again."""

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        """One package of an indexed catalog, None when the catalog has no such package."""

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        """The names of all packages, sorted."""

    def providers(
        self, reference: str, api: tuple[str, str, str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        """The names of the packages with a bundle that provides `api` (group, version, kind)."""


class WrittenCatalogs(IndexedCatalogs, Protocol):
    """Those that tell, besides, what is written in them."""

    def documents(self, reference: str, name: str, source: ImageSource) -> tuple[ReadOnly, ...] | Unavailable:
        """Every document of a package in order, whole, whether or not they make a package."""


class Catalogs(WrittenCatalogs, Protocol):
    """Catalog images, read by digest and indexed once per digest."""

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        """Resolve the image to a digest and index it. For a digest that is already indexed this is one HEAD request."""

    def package_digests(
        self, reference: str, packages: Sequence[str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        """`Package.digest` of each package of an indexed catalog; empty for one that the catalog does not have."""


class ReadSets(Protocol):
    """What decisions read of catalogs. Whoever loses that need not know: nothing is known then."""

    def of(self, refs: Sequence[Ref]) -> tuple[Manifest, ...]:
        """What the last decision about each read (`ReadSet.as_json`): its resolution, or of a Subscription its status.

        Empty where nothing is known, and while a run waits or is under way.
        """
        ...

    def keep_only(self, refs: Sequence[Ref]) -> int:
        """Forget what was read for others, which are gone; returns for how many something was known."""
        ...


class Runs(Protocol):
    """The runs that are going on."""

    def progress(self, ref: Ref) -> Progress | None:
        """How far the run on that object is; None when there is none, or none that says so."""
        ...


class Content(Protocol):
    """The local store of catalog content. Content can be pulled again, so deleting it does not count as a write."""

    def keep_only(self, references: Sequence[str]) -> int:
        """Delete the other catalogs, except those used recently; returns the number of bytes freed."""
        ...


class Bundles(Protocol):
    """Bundle images."""

    def files(self, source: ImageSource) -> Manifest | Unavailable:
        """`{"binaryData": …}` of the files of the image by path, as a ConfigMap would hold them, without its limit."""
        ...

    def config_map_payload(self, source: ImageSource) -> Manifest | Unavailable:
        """`{"annotations": …, "binaryData": …}`: the ConfigMap content of the unpacked bundle (catalog.md §5.5)."""
        ...


FailureKind: TypeAlias = Literal["conflict", "forbidden", "invalid", "gone", "unanswered", "unavailable"]
"""Why the API server refused a write: `conflict` needs a new read, `unavailable` may go away by itself, `unanswered`
waits for a webhook that has to allow the write, perhaps for long."""


@dataclass(frozen=True, slots=True)
class WriteFailure:
    """A write of the previous attempt of this run that the API server refused."""

    kind: FailureKind
    message: str
    index: int  # of the write in the Outcome
    ref: Ref
    batch: int = 0


@dataclass(frozen=True, slots=True)
class Attempt:
    """The number of this attempt (1, 2, …), and the write that the API server refused in the previous one.

    A step that names this port runs again at once after a refusal, and decides what it means; others with back-off.
    """

    number: int = 1
    failure: WriteFailure | None = None
    ended: str = ""
    """Why the attempt before was ended by force, e.g. `ended after 600 s: its time limit`."""
    others: tuple[WriteFailure, ...] = ()  # beside `failure`, of the same batch
    conflict: WriteFailure | None = None
    """The write of the decision just before this one that met an object which has changed, or exists already."""

    @property
    def ended_pull(self) -> Unavailable | None:
        """The answer to a pull that was ended: it could not tell why itself. The attempt after this one pulls again."""
        return Unavailable("Unreachable", f"the pull was {self.ended}") if self.ended else None


class Journal(Protocol):
    """The watch events that were received; for the audit only."""

    def unseen(self, identities: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        """The refs of those (ref, resourceVersion) pairs for which no event was received."""
        ...
