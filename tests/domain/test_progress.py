"""How far a long run is, in words."""

from __future__ import annotations

import pytest

from shared.domain.progress import Progress


@pytest.mark.parametrize(
    ("progress", "text"),
    [
        pytest.param(Progress(1, 4, 600), "running, after 4 of at most 600 s", id="nothing is known yet"),
        pytest.param(
            Progress(1, 4, 600, "pulling"), "waiting for the registry, after 4 of at most 600 s", id="no manifest yet"
        ),
        pytest.param(
            Progress(2, 35, 600, "pulling", 34_500_000, 80_000_000, 2, 5),
            "pulling, 34 of 80 MB and 2 of 5 layers so far, after 35 of at most 600 s, attempt 2",
            id="in the middle, for the second time",
        ),
        pytest.param(
            Progress(1, 3, 600, "pulling", 40_000, 9_950_000, 0, 1),
            "pulling, 0.0 of 9.9 MB and 0 of 1 layers so far, after 3 of at most 600 s",
            id="a small image",
        ),
        pytest.param(
            Progress(1, 90, 600, "indexing", 80, 80, 5, 5, 120),
            "indexing, 120 packages so far, after 90 of at most 600 s",
            id="it is here, and is indexed",
        ),
    ],
)
def test_progress_in_words(progress: Progress, text: str) -> None:
    assert str(progress) == text
