"""What every test of the event side begins with."""

from __future__ import annotations

import pytest

from eventing.cli.commands import lead_to_cluster


@pytest.fixture(autouse=True)
def _nobody_chose_a_cluster() -> None:
    """A verb that an earlier test called in this process has chosen one, to which printed commands lead."""
    lead_to_cluster()
