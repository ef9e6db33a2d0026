"""Whether a "no" is one, while some catalogs were not read yet."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

from eventing.cli.failure import NEGATIVE, UNKNOWN, CliError
from eventing.cli.namespace_inputs import catalog_readers
from eventing.cli.offers import PackageRequest, offer_among
from shared.domain.resolver.identity import CatalogKey
from tests.domain.resolver.scenery import (
    releases,
)

READ, LATER = CatalogKey("olm", "read"), CatalogKey("olm", "later")


@pytest.fixture(autouse=True)
def catalog(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """A folder with the package tea."""
    monkeypatch.setenv("OLMF_CONTENT", str(tmp_path / "content"))
    (tmp_path / "cat").mkdir()
    (tmp_path / "cat" / "catalog.yaml").write_text(yaml.safe_dump_all(releases("tea", 2)))
    return str(tmp_path / "cat")


def asked(package: str, source: str) -> PackageRequest:
    return PackageRequest(package, None, source, "mine", (None, None))


@pytest.mark.parametrize(
    ("source", "code", "why"),
    [
        pytest.param(
            "", UNKNOWN, "no catalog in sight has package soup; some were not read yet: olm/later (no answer)",
            id="any catalog may have it",
        ),
        pytest.param("read", NEGATIVE, "catalog olm/read has no package soup", id="the one that is asked for was read"),
        pytest.param(
            "later", UNKNOWN, "--source later: catalog olm/later (no answer) was not read yet", id="it was not read yet"
        ),
        pytest.param(
            "other", NEGATIVE, "--source other: no such catalog in sight; there are: olm/read, olm/later",
            id="there is no such catalog",
        ),
    ],
)  # fmt: skip
def test_a_catalog_that_was_not_read_yet_matters_where_it_may_answer(
    source: str, code: int, why: str, catalog: str
) -> None:
    (reader,) = catalog_readers([catalog]).values()
    with pytest.raises(CliError) as error:
        offer_among(asked("soup", source), {READ: reader}, {LATER: "no answer"}, " in sight")
    assert (error.value.code, str(error.value)) == (code, why)


@pytest.mark.parametrize("source", ["", "read", "olm/read"])
def test_what_was_read_answers_meanwhile(source: str, catalog: str) -> None:
    (reader,) = catalog_readers([catalog]).values()
    assert offer_among(asked("tea", source), {READ: reader}, {LATER: ""}, " in sight").catalog == READ
