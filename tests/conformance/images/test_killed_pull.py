"""A worker that is killed while it pulls from Debian's registry: what came is kept, and only the rest is asked for."""

from __future__ import annotations

import random
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from shared.adapters.content.kept_blobs import BLOB
from shared.adapters.image_writer import write_image
from shared.adapters.oci.pace import Allowance
from shared.domain.bundle.annotations import CONFIGS
from shared.domain.image_source import ImageSource
from shared.ports import Pulled
from tests.adapters.content.test_catalogs import a_package
from tests.adapters.content.test_kept_blobs import PULL, catalogs
from tests.conformance.images.registry import running
from tests.conformance.images.test_registry import client
from tests.kit.waiting import wait_for

pytestmark = pytest.mark.conformance
LARGE = 200_000_000


def test_what_came_before_the_kill_is_not_asked_for_again(tmp_path: Path) -> None:
    store = tmp_path / "store"
    files = {"configs/tea.json": a_package("tea"), "large": random.Random(1).randbytes(LARGE)}
    with running(tmp_path, has_tls=False, has_login=False) as served:
        image = write_image(files, {CONFIGS: "/configs"}, served.reference("cat:1"), client(served))
        with subprocess.Popen([sys.executable, "-c", PULL, image, str(store)], cwd=Path.cwd()) as puller:
            wait_for(lambda: came(store) > LARGE / 50)
            puller.send_signal(signal.SIGKILL)
        kept = came(store)
        assert kept < LARGE, "it was not killed in the middle: the test shows nothing"
        less = Allowance(bytes=LARGE - kept // 2)
        found = catalogs(store, less).pull(ImageSource(image, "olm"))
        assert isinstance(found, Pulled)
        wait_for(lambda: len(served.blobs_asked()) == 3)
        assert sorted(Counter(served.blobs_asked()).values()) == [1, 2], (
            "the configuration once, the layer in two parts"
        )


def came(store: Path) -> int:
    """How many bytes of the layer are here."""
    return max((path.stat().st_size for path in store.glob(f"{BLOB}*")), default=0)
