"""The catalog that a template stands for, with the images that it names."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import copy_context
from typing import TYPE_CHECKING

from eventing.cli.catalog.source import render_bundle
from eventing.cli.failure import NEGATIVE, CliError
from shared.domain.authoring.template import SCHEMAS, TemplateError, detect, images
from shared.domain.authoring.template import render as render_template

if TYPE_CHECKING:
    from eventing.cli.catalog.source import Rendering
    from shared.domain.authoring.template import RenderImage
    from shared.domain.catalog.config import Config


_PULLS = 4
"""Images that are pulled at the same time."""


def rendered(content: bytes, kind: str, rendering: Rendering) -> Config:
    """The catalog that a template stands for; its type is found out when none is given. CliError."""
    try:
        schema = SCHEMAS[kind] if kind else detect(content)
    except TemplateError as error:
        raise CliError(f"auto-detecting template type: {error}", NEGATIVE) from error
    try:
        with _pulled_ahead(images(content, schema), rendering) as render_image:
            return render_template(content, schema, render_image)
    except (TemplateError, CliError) as error:
        code = error.code if isinstance(error, CliError) else NEGATIVE
        raise CliError(f"rendering template: {error}", code) from error


@contextmanager
def _pulled_ahead(images: Iterable[str], rendering: Rendering) -> Iterator[RenderImage]:
    """Several images are pulled at once; each is asked for in its turn, and fails in its turn."""
    with ThreadPoolExecutor(_PULLS) as pool:
        ahead = {image: pool.submit(copy_context().run, render_bundle, image, rendering) for image in images}
        try:
            yield lambda image: ahead[image].result()
        finally:
            pool.shutdown(cancel_futures=True)
