"""What a step may ask: each port is a Protocol (or a value) named in the step's signature.

Every answer is recorded, and given again on replay: answers are JSON values, dataclasses, or tuples of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Literal, Protocol, TypeAlias

from shared.api.manifest import Manifest
from shared.domain.catalog.model import Package
from shared.domain.groups.copies import Copy
from shared.kinds import Kind, Ref


class Cluster(Protocol):
    """Reads of the Kubernetes API. Answers are shared: do not change them in place."""

    def get(self, ref: Ref) -> Manifest | None:
        """The object, or None when it does not exist (or its kind is not served)."""
        ...

    def list(self, kind: Kind, namespace: str = "", *, labels: Mapping[str, str] | None = None) -> tuple[Manifest, ...]:
        """All objects of a kind, in name order; `namespace` empty means all; `labels` must all be equal."""
        ...


class Copies(Protocol):
    """Copied ClusterServiceVersions in a few words: there may be thousands, each as large as its original."""

    def made_from(self, namespace: str, name: str = "") -> tuple[Copy, ...]:
        """The copies of the originals in a namespace (of one of them; empty: in all), by namespace and name."""
        ...


class Inventory(Protocol):
    """What there is, without content."""

    def versions(self, kind: Kind, *, labels: Mapping[str, str] | None = None) -> tuple[tuple[Ref, str], ...]:
        """Every object of a kind with its resourceVersion; `labels` must all be equal."""
        ...


class Discovery(Protocol):
    """What the API server serves."""

    def version(self) -> str:
        """`gitVersion`, e.g. `v1.35.4`."""
        ...

    def find(self, api_version: str, kind: str) -> Kind | None:
        """The served kind, or None."""
        ...


class Clock(Protocol):
    """Time, always UTC."""

    def now(self) -> datetime:
        """The present instant, whole seconds (what Kubernetes timestamps hold)."""
        ...


@dataclass(frozen=True, slots=True)
class ImageSource:
    """Where an image is, and whose pull secrets open it."""

    image: str
    namespace: str
    """Where the secrets are."""
    secrets: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Pulled:
    """A catalog that was read and indexed."""

    reference: str
    """The image by digest: `registry/name@sha256:…`."""
    packages: int
    left_out: tuple[str, ...] = ()
    """A sentence for each thing that whoever made the catalog could not put into it."""


UnavailableReason: TypeAlias = Literal[
    "DNS", "TLS", "Unreachable", "Unauthorized", "NotFound", "DigestMismatch", "TooLarge", "Malformed",
    "Blocked", "MirrorMiss", "NotRecorded",
]  # fmt: skip
"""`Blocked` and `MirrorMiss` are about mirrors of images, `NotRecorded` about a replay."""


@dataclass(frozen=True, slots=True)
class Unavailable:
    """Content that could not be had, as a sentence with its next step."""

    reason: UnavailableReason
    message: str


class Catalogs(Protocol):
    """Catalog images, read by digest and indexed once per digest."""

    def pull(self, source: ImageSource) -> Pulled | Unavailable:
        """Resolve the image to a digest and index it; a digest already indexed costs one HEAD."""
        ...

    def package(self, reference: str, name: str, source: ImageSource) -> Package | Unavailable | None:
        """One package of an indexed catalog (indexed again from `source` when the content is not here)."""
        ...

    def packages(self, reference: str, source: ImageSource) -> tuple[str, ...] | Unavailable:
        """The names of all packages, sorted."""
        ...

    def providers(
        self, reference: str, api: tuple[str, str, str], source: ImageSource
    ) -> tuple[str, ...] | Unavailable:
        """The packages that have a bundle which provides an API: its group, version and kind."""
        ...


class Content(Protocol):
    """What is kept of catalogs here. It can be had again, so that to forget it is no write."""

    def keep_only(self, references: Sequence[str]) -> int:
        """Forget the other catalogs, unless they were used lately; how many bytes that were."""
        ...


class Bundles(Protocol):
    """Bundle images."""

    def config_map_payload(self, source: ImageSource) -> Manifest | Unavailable:
        """`{"annotations": …, "binaryData": …}` of the unpacked bundle (catalog.md §5.5)."""
        ...


@dataclass(frozen=True, slots=True)
class WriteFailure:
    """Why a write of the previous attempt of this very run was refused."""

    kind: Literal["conflict", "forbidden", "invalid", "gone", "unavailable"]
    message: str
    index: int
    """Which write of the Outcome it was."""
    ref: Ref


@dataclass(frozen=True, slots=True)
class Attempt:
    """Which attempt this is (1, 2, …), and what the API server refused in the one before.

    A step that names this port is run again at once after a refused write, with `failure` set, so that it can decide
    what the refusal means; without it the runner retries with back-off.
    """

    number: int = 1
    failure: WriteFailure | None = None


@dataclass(frozen=True, slots=True)
class Policy:
    """The values an administrator chose, the same for all steps."""

    global_namespace: str = "olm"
    """Catalogs here serve every namespace."""
    unpack: Literal["job", "direct"] = "job"
    """Unpack bundles in a Job (as OLM) or in the worker."""
    unpack_image: str = "olm-functions:latest"
    """The image of the container in the unpack Job."""
    unpack_timeout: timedelta = timedelta(minutes=10)
    """Deadline of an unpack Job; zero means none."""
    plan_scope: Literal["component", "namespace"] = "component"
    """One InstallPlan per connected component of a namespace, or one per namespace as OLM."""
    catalog_policy: Literal["available", "strict"] = "available"
    """What of a catalog that cannot be read now: its last good snapshot counts, or it stops everybody as in OLM."""
    plan_retry: timedelta = timedelta(minutes=1)
    """How long a failing InstallPlan is retried before it is `Failed`."""
    install_timeout: timedelta = timedelta(minutes=5)
    """How long a Deployment may take to become available."""
    protected_copy_namespaces: tuple[str, ...] = ()
    """Namespaces that receive copied CSVs even where copying is disabled."""


class Journal(Protocol):
    """What the system has seen; for the audit only."""

    def unseen(self, identities: Sequence[tuple[Ref, str]]) -> tuple[Ref, ...]:
        """Of (ref, resourceVersion) pairs, the refs whose version no event has told of."""
        ...
