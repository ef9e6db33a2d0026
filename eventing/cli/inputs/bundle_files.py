"""The files of a bundle: of the one that the user names, or of the image that a catalog names."""

from __future__ import annotations

import os

from eventing.cli.failure import UNKNOWN, CliError
from eventing.cli.inputs.bundle import opened, pulled
from eventing.cli.inputs.failures import cli_errors
from shared.adapters.content import kept_bundles
from shared.adapters.content.store import Store
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.reference import Reference
from shared.domain.bundle.model import Files


def image_of(image: str, bundle: str) -> Reference:
    """The image that a catalog names for a bundle. CliError when it names none, or what is no reference."""
    if not image:
        raise CliError(f"the catalog names no image of {bundle}; name its content with --bundle DIR", UNKNOWN)
    try:
        return Reference.parse(image)
    except OciError as error:
        raise CliError(f"{bundle}: {error}", UNKNOWN) from error


def files_of(bundle: str | Reference) -> Files:
    """The files of a word of the command line, or of an image, which is kept on this machine if it is by digest.

    What a catalog says comes as a reference: it must not choose files of this machine. CliError.
    """
    if isinstance(bundle, Reference):
        return kept_bundles.files_of(bundle, Store.of_user(os.environ), _pulled)
    with opened(bundle) as source:
        return source.files()


def _pulled(reference: Reference) -> Files:
    name = str(reference)
    with cli_errors(name), pulled(reference, name) as source:
        return source.files()
