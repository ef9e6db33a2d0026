"""The files of the image that a catalog names for a bundle."""

from __future__ import annotations

import os

from eventing.cli.inputs.bundle import pulled
from eventing.cli.inputs.failures import cli_errors
from shared.adapters.content import kept_bundles
from shared.adapters.content.store import Store
from shared.adapters.oci.reference import Reference
from shared.domain.bundle.model import Files


def files_of(reference: Reference) -> Files:
    """The files; those of an image by digest are kept on this machine. CliError.

    It takes no path: a catalog must not choose files of this machine.
    """
    with cli_errors(str(reference)):
        return kept_bundles.files_of(reference, Store.of_user(os.environ), _pulled)


def _pulled(reference: Reference) -> Files:
    with pulled(str(reference), str(reference)) as source:
        return source.files()
