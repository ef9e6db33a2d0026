"""What becomes of the changes of webhooks and aggregated APIs: writes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from shared.api.views import Csv, Object
from shared.domain.endpoints import work
from shared.domain.endpoints.certificates import Content
from shared.domain.endpoints.changes import Change
from shared.domain.endpoints.facts import Facts
from shared.step import Create, Delete, Merge, Ref, StoreKeys, Write


def secret_writes(csv: Csv, facts: Facts, contents: Mapping[str, Content]) -> Iterator[StoreKeys]:
    """The writes of Secrets."""
    return (StoreKeys(one.manifest, one.texts, one.keys) for one in work.secrets(csv, facts, contents))


def stage_writes(csv: Csv, facts: Facts, contents: Mapping[str, Content]) -> tuple[Write, ...]:
    """The writes of a stage of a rotation: clients first forget what the servers do not use any more."""
    if not contents:
        return ()
    changes = (*work.aggregated(csv, facts, contents), *work.served(csv, facts, contents))
    is_last = not any(content.is_rotating for content in contents.values())
    return (*(writes_of(changes) if is_last else ()), *secret_writes(csv, facts, contents))


def writes_of(found: Iterable[Change | Object]) -> Iterator[Write]:
    """The writes of other objects: changes, and the ends of those that go."""
    for one in found:
        if isinstance(one, Object):
            yield Delete(Ref.of(one), one.uid)
        elif one.patch is None:
            yield Create(one.desired, must_be_new=True)
        else:
            yield Merge(one.ref, one.patch, one.version)
