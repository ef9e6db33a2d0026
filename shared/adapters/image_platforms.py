"""Reads the platforms of images from their registries, without a container tool and without pulling a layer."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from pathlib import Path
from typing import Final

from shared.adapters.oci import logins
from shared.adapters.oci.errors import OciError
from shared.adapters.oci.image import platforms
from shared.adapters.oci.reference import Reference
from shared.domain.bundle.platform import NotInspected, Platforms

_SECONDS: Final = 60.0
_AT_ONCE: Final = 8


class Inspector:
    """Reads each image once, however many bundles name it, with the logins and mirrors of this machine."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self._seconds = seconds
        self._ends = time.monotonic() + seconds
        self._known: dict[str, Platforms | NotInspected] = {}

    def inspected(self, images: Iterable[str]) -> Mapping[str, Platforms | NotInspected]:
        """The platforms of these images and of those of earlier calls, or why they are not known.

        After `seconds` no further image is read; each request has the time limits of the registry client.
        """
        new = [image for image in images if image not in self._known]
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            asked = [pool.submit(copy_context().run, self._ask, image) for image in new]
        self._known.update(zip(new, (one.result() for one in asked), strict=True))
        return self._known

    def _ask(self, image: str) -> Platforms | NotInspected:
        if time.monotonic() > self._ends:
            return NotInspected(f"it was not asked for, because the registries took more than {self._seconds:g} s")
        try:
            return platforms(logins.registry_of_machine(os.environ, Path.home()), Reference.parse(image))
        except OciError as error:
            return NotInspected(str(error), is_missing=error.reason == "NotFound")
