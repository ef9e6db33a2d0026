"""A bundle that was read, and what somebody wants of it, as values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from shared.api.manifest import Manifest, ReadOnly

CertProvider: TypeAlias = Literal["none", "cert-manager", "openshift-service-ca"]
CERT_PROVIDERS: Final[tuple[CertProvider, ...]] = ("none", "cert-manager", "openshift-service-ca")

ALL: Final = "AllNamespaces"
OWN: Final = "OwnNamespace"
SINGLE: Final = "SingleNamespace"
MULTI: Final = "MultiNamespace"

SINGLE_OWN_GATE: Final = "SingleOwnNamespaceInstallSupport"
DEPLOYMENT_CONFIG_GATE: Final = "DeploymentConfig"


class NotRenderedError(ValueError):
    """A bundle gives no objects; the message is the one of OLM v1."""

    def __init__(self, message: str, *, is_terminal: bool = False, fix: str = "") -> None:
        super().__init__(message)
        self.is_terminal = is_terminal
        """Only an edit of the extension can help; otherwise OLM v1 tries again."""
        self.fix = fix
        """What we know to help, where OLM v1 says nothing of it."""


@dataclass(frozen=True, slots=True)
class Bundle:
    """What the files of a bundle say, as Go's types hold it."""

    package: str
    csv: ReadOnly
    """The ClusterServiceVersion."""
    definitions: tuple[ReadOnly, ...] = ()
    """The CustomResourceDefinitions."""
    others: tuple[ReadOnly, ...] = ()
    """Everything else, as it is in the files."""

    @property
    def name(self) -> str:
        """Name of the ClusterServiceVersion."""
        return str(self.csv["metadata"].get("name") or "")

    @property
    def annotations(self) -> Mapping[str, str]:
        """Those of the ClusterServiceVersion."""
        return self.csv["metadata"].get("annotations") or {}

    @property
    def strategy(self) -> ReadOnly:
        """Deployments and permissions."""
        strategy: ReadOnly = self.csv["spec"]["install"]["spec"]
        return strategy

    @property
    def deployments(self) -> list[Manifest]:
        """The Deployments of the strategy, each with `name`, `spec` and `label`."""
        return self.strategy.get("deployments") or []

    @property
    def webhooks(self) -> list[Manifest]:
        """The webhooks of all types."""
        return self.csv["spec"].get("webhookdefinitions") or []

    @property
    def install_modes(self) -> frozenset[str]:
        """The install modes that are supported."""
        modes = self.csv["spec"].get("installModes") or []
        return frozenset(mode["type"] for mode in modes if mode["supported"])


@dataclass(frozen=True, slots=True)
class RenderOptions:
    """What a ClusterExtension and the flags of OLM v1 say about rendering."""

    install_namespace: str
    config: Any = None  # why: any JSON value
    """`spec.config.inline`; None when the extension has no config."""
    cert_provider: CertProvider = "none"
    gates: Mapping[str, bool] = field(default_factory=dict)

    def is_on(self, gate: str) -> bool:
        """Whether a feature gate is on; those that rendering asks for are off by default."""
        return bool(self.gates.get(gate, False))


@dataclass(frozen=True, slots=True)
class Plan:
    """Where and how the objects are made."""

    install_namespace: str
    targets: tuple[str, ...]
    """The namespaces that are watched; one empty name stands for all."""
    cert_provider: CertProvider = "none"
    deployment_config: ReadOnly | None = None

    @property
    def is_global(self) -> bool:
        """Whether all namespaces are watched."""
        return self.targets == ("",)
