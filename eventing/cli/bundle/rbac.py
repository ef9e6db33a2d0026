"""`olmf bundle rbac`: the least that whoever installs a bundle must be allowed."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from eventing.cli.extension.files import GatesOption, gates_of
from eventing.cli.extension.objects import (
    CertOption,
    ConfigOption,
    InstallNamespaceOption,
    config_of,
    rendered,
)
from eventing.cli.failure import USAGE, CliError
from eventing.cli.inputs.bundle import BundleArgument
from eventing.cli.inputs.pulling import pulling
from eventing.cli.names import checked
from eventing.cli.output import manifests_as
from shared.domain.extension.permissions import Installer, least


def register(group: typer.Typer) -> None:
    """Add the verb."""
    group.command()(pulling(rbac))


def rbac(
    bundle: BundleArgument,
    *,
    install_namespace: InstallNamespaceOption = "",
    name: Annotated[str, typer.Option(help="Of the roles; else that of the package with -installer.")] = "",
    service_account: Annotated[
        str, typer.Option(metavar="[NAMESPACE/]NAME", help="Bind the roles to it, too; it lives beside the operator.")
    ] = "",
    extension: Annotated[str, typer.Option(help="The ClusterExtension that will own the objects.")] = "",
    config: ConfigOption = "",
    cert_provider: CertOption = "none",
    feature_gates: GatesOption = "",
    output: Annotated[str, typer.Option("-o", "--output", help="yaml or json.")] = "yaml",
) -> None:  # fmt: skip
    """Print the Roles and the ClusterRole that suffice to install, watch, change and remove a bundle.

    Verbs are narrowed to the names of its objects where Kubernetes can do that. Whoever installs roles must have every
    rule in them, so those are listed, too.
    """
    if not install_namespace:
        raise CliError("bundle rbac: --install-namespace names the namespace of the operator", USAGE)
    gates = gates_of(feature_gates)
    found = rendered(bundle, install_namespace, config=config_of(config), cert_provider=cert_provider, gates=gates)
    namespace, _, account = service_account.rpartition("/")
    bound = (checked("--service-account", namespace) or install_namespace, account) if account else None
    installer = Installer(name or f"{found.package}-installer", bound, extension)
    sys.stdout.write(manifests_as(list(least(found.objects, installer)), output))
