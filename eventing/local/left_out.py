"""Reads from the registry of an installation which bundles it does not serve, and why."""

from __future__ import annotations

import json

from shared import names

READ_SECONDS = 30.0
"""Timeout; the first request reads the whole folder."""


def left_out(registry: str, catalog: str) -> tuple[str, ...]:
    """A sentence per defect of the present bundles. OSError when the registry does not answer."""
    place = f"http://{registry}/v2/catalogs/{catalog}"
    manifest = json.loads(_get(f"{place}/manifests/latest"))
    config = json.loads(_get(f"{place}/blobs/{manifest['config']['digest']}"))
    return tuple(json.loads(config["config"]["Labels"].get(names.LEFT_OUT, "[]")))


def _get(url: str) -> bytes:
    import urllib3

    try:
        response = urllib3.request("GET", url, timeout=READ_SECONDS, retries=False)
    except urllib3.exceptions.HTTPError as error:
        raise OSError(f"{url}: {error}") from error
    if response.status != 200:
        raise OSError(f"{url}: {response.status}")
    return response.data
