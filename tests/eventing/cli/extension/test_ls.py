"""`olmf extension ls` says what extensions run, and why one is not as it should be."""

from __future__ import annotations

from typing import Any

import pytest

from eventing.cli.extension.ls import row_of
from shared.api.views import ClusterExtension


def an_extension(*conditions: tuple[str, str, str, str], version: str = "1.0.0") -> ClusterExtension:
    entry = [dict(zip(("type", "status", "reason", "message"), one, strict=True)) for one in conditions]
    bundle = {"install": {"bundle": {"name": f"etcd.v{version}", "version": version}}} if version else {}
    return ClusterExtension({
        "metadata": {"name": "etcd"},
        "spec": {"namespace": "etcd-system", "source": {"catalog": {"packageName": "etcd"}}},
        "status": {"conditions": entry, **bundle},
    })  # fmt: skip


INSTALLED = ("Installed", "True", "Succeeded", "Installed bundle x successfully")
AVAILABLE = ("Available", "True", "ProbesSucceeded", "Objects are available and pass all probes.")
SETTLED = ("Progressing", "True", "Succeeded", "Revision 1.0.0 has rolled out.")


@pytest.mark.parametrize(
    ("extension", "want"),
    [
        (an_extension(INSTALLED, AVAILABLE, SETTLED), {"version": "1.0.0", "installed": "True", "message": ""}),
        (
            an_extension(INSTALLED, ("Available", "False", "ProbeFailure", "not ready"), SETTLED),
            {"available": "ProbeFailure", "message": "not ready"},
        ),
        (
            an_extension(INSTALLED, AVAILABLE, ("Progressing", "True", "Retrying", "no bundles found")),
            {"progressing": "Retrying", "message": "no bundles found"},
        ),
        (an_extension(version=""), {"version": "", "installed": "", "message": ""}),
    ],
    ids=["settled", "not available", "retrying", "new"],
)
def test_a_row_reports_what_is_not_as_it_should_be(extension: ClusterExtension, want: dict[str, Any]) -> None:
    row = row_of(extension)
    assert {key: row[key] for key in want} == want
    assert (row["name"], row["namespace"], row["package"]) == ("etcd", "etcd-system", "etcd")
