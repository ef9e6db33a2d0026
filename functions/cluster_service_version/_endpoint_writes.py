"""What becomes of the changes of webhooks and aggregated APIs: writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime

from shared.api.views import Csv, Object
from shared.domain.csv.serving import Stage
from shared.domain.endpoints import work
from shared.domain.endpoints.certificates import Content
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.facts import Facts
from shared.domain.endpoints.secret_changes import secrets
from shared.step import Create, Delete, Merge, Record, Ref, StoreKeys, Write


def secret_writes(
    csv: Csv, facts: Facts, contents: Mapping[str, Content], now: datetime
) -> Iterator[StoreKeys | Record]:
    """The writes of Secrets, and an Event of the version about each that was not as expected."""
    for one in secrets(csv, facts, contents, now):
        yield StoreKeys(one.manifest, one.texts, one.keys)
        if one.notice:
            yield Record(Ref.of(csv), "Warning", "CertificateReplaced", one.notice)


def stage_writes(csv: Csv, facts: Facts, stage: Stage) -> tuple[Write, ...]:
    """The writes of a stage of a rotation: clients first forget what the servers do not use any more."""
    if not (contents := stage.contents):
        return ()
    changes = (*work.aggregated(csv, facts, contents), *work.served(csv, facts, contents))
    is_last = not any(content.is_rotating for content in contents.values())
    return (*(writes_of(changes) if is_last else ()), *secret_writes(csv, facts, contents, stage.transition.status.now))


def writes_of(found: Iterable[Change | Object]) -> Iterator[Write]:
    """The writes of other objects: changes, and the ends of those that go."""
    for one in found:
        if isinstance(one, Object):
            yield Delete(Ref.of(one), one.uid)
        elif one.patch is None:
            yield Create(one.desired, must_be_new=True)
        else:
            yield Merge(one.ref, one.patch, one.version)
