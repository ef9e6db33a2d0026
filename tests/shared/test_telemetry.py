"""Logs of programs."""

from __future__ import annotations

import resource
from collections.abc import Iterator
from contextlib import redirect_stderr
from pathlib import Path

import pytest
import structlog

from shared.telemetry import configure_logging


@pytest.fixture
def _configured() -> Iterator[None]:
    configure_logging()
    yield
    structlog.reset_defaults()


@pytest.mark.usefixtures("_configured")
def test_a_line_for_which_the_disk_has_no_room_does_not_end_the_program(tmp_path: Path) -> None:
    log, limits = structlog.get_logger(), resource.getrlimit(resource.RLIMIT_FSIZE)
    with (tmp_path / "log").open("w") as file, redirect_stderr(file):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, limits[1]))
        try:
            log.info("lost")
        finally:
            resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        log.info("kept")
    assert "kept" in (tmp_path / "log").read_text()


@pytest.mark.usefixtures("_configured")
def test_a_password_in_a_url_is_not_logged(tmp_path: Path) -> None:
    log = structlog.get_logger()
    with (tmp_path / "log").open("w") as file, redirect_stderr(file):
        log.info("pulled", result="https://me:hunter2@registry.example/a:v1 is not there", mail="a@b.example")
    text = (tmp_path / "log").read_text()
    assert "hunter2" not in text
    assert "https://me:***@registry.example/a:v1 is not there" in text
    assert "a@b.example" in text
