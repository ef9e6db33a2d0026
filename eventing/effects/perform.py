"""Performs writes in order, stops at the first failure, and returns the answer of the API server to each write.

Records come last, whatever their place: they do not count towards the writes of a run, and stop nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from eventing.effects import equality
from eventing.effects.api import Api
from eventing.effects.batches import Refusals, batch_of
from eventing.effects.notes import note
from eventing.effects.owners import Owners
from eventing.effects.secrets import stored
from eventing.effects.written import Performed, Written, is_of_another_object, kind_of, target
from shared.adapters.keys import Keyring
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest, is_deleted, metadata, resource_version_of, uid_of
from shared.domain.merge_patch import merged
from shared.ports import Clock, WriteFailure
from shared.step import Apply, Create, Delete, Merge, Record, Ref, Replace, SetStatus, StoreKeys, Try, Write

SLICE = 50
"""Maximum number of writes in one run, Records not counted; the next run continues."""


class Effects:
    """Performs the writes of decisions."""

    def __init__(self, api: Api, clock: Clock, keyring: Keyring | None = None) -> None:
        self._api = api
        self._clock = clock
        self._keyring = keyring or Keyring()

    def perform(
        self,
        writes: Sequence[Write],
        reads: Mapping[Ref, Manifest | None],
        check_lease: Callable[[], bool],
        is_over: Callable[[], bool] = lambda: False,
    ) -> Performed:
        """Perform the writes; `reads` are the objects that the step read, `check_lease` is called before each write.

        Once `is_over`, the rest is left to the next run, if it can see from the objects what this one has done.
        """
        real = [(index, write) for index, write in enumerate(writes) if not isinstance(write, Record)]
        run = _Performance(self._api, self._clock, reads, self._keyring, looks_first=len(real) > SLICE, is_over=is_over)
        written: dict[int, Written] = {}
        done = self._in_order(run, real, written, check_lease)
        if not done.is_lost:
            until = (
                len(writes)
                if done.is_partial and _has_sent_status(real, written)
                else _stop(real, written, len(writes))
            )
            done = replace(done, is_lost=self._records(run, writes[:until], written, check_lease))
        answers = tuple(written.get(index, Written("")) for index in range(max(written, default=-1) + 1))
        return replace(done, written=answers, warned=run.warned)

    def _in_order(
        self,
        run: _Performance,
        writes: Sequence[tuple[int, Write]],
        written: dict[int, Written],
        check_lease: Callable[[], bool],
    ) -> Performed:
        """Perform the writes until one is refused, the lease is lost, or the limit is reached."""
        sent, refusals = 0, Refusals()
        for index, write in writes:
            if refusals.stop(write):
                break
            if not check_lease():
                return Performed(is_lost=True)
            if sent == SLICE or (sent and run.may_rest()):
                return refusals.performed(is_partial=True)
            began = self._clock.now()
            try:
                answer = run.write(write)
            except ApiError as error:
                written[index] = _refused(error)
                failure = WriteFailure(kind_of(error), error.message, index, target(write), batch_of(write))
                refusals.add(failure, self._clock.now() - began)
                continue
            written[index] = run.after_warnings(write, answer)
            sent += answer.did == "sent"
        return refusals.performed()

    def _records(
        self, run: _Performance, writes: Sequence[Write], written: dict[int, Written], check_lease: Callable[[], bool]
    ) -> bool:
        """Perform the Records; returns whether the lease was lost before one."""
        for index, write in enumerate(writes):
            if isinstance(write, Record):
                if not check_lease():
                    return True
                try:
                    written[index] = run.write(write)
                except ApiError as error:  # why: an Event is only information for people
                    written[index] = _refused(error)
        return False


class _Performance:
    """The writes of one decision, with the objects as they were read and as its own writes changed them."""

    def __init__(
        self, api: Api, clock: Clock, reads: Mapping[Ref, Manifest | None], keyring: Keyring, *,
        looks_first: bool, is_over: Callable[[], bool],
    ) -> None:  # fmt: skip
        self._api = api
        self._clock = clock
        self._keyring = keyring
        self._known = dict(reads)
        self._created: dict[Ref, Manifest] = {}
        self._ours: set[Ref] = set()
        self._moved: dict[tuple[Ref, str], Manifest] = {}
        self._owners = Owners(api, self._known)
        self._looks_first = looks_first
        self._is_over = is_over
        self._is_evident = True
        self.warned = 0

    def may_rest(self) -> bool:
        """Whether the run is over, and the next one will see all that was done, and not send it again."""
        return self._is_evident and self._is_over()

    def write(self, write: Write) -> Written:
        """Send one write, unless it would change nothing."""
        self._is_evident &= self._looks_first or target(write) in self._known
        match write:
            case Create():
                return self._create(write)
            case Apply():
                return self._apply(write)
            case Try():
                return self._try(write)
            case Replace():
                return self._replace(write)
            case Merge():
                return self._merge(write)
            case StoreKeys():
                return self._store_keys(write)
            case SetStatus():
                return self._set_status(write)
            case Delete():
                return self._delete(write)
            case Record():
                return self._sent(None, note(self._api, write, self._known.get(write.ref), self._clock.now()))

    def _as(self, write: Create | Apply | Replace | Merge | Delete | StoreKeys) -> Api:
        """The API as the identity of a write may use it."""
        return self._api if write.identity is None else self._api.acting_as(write.identity)

    def after_warnings(self, write: Write, answer: Written) -> Written:
        """The answer to a write, after an Event was written for the warnings in it."""
        if answer.did != "sent" or not isinstance(write, Create | Replace) or write.on_warning is None:
            return answer
        warnings, record = self._api.warnings(), write.on_warning
        if warnings:
            self.warned += 1
            message = f"{len(warnings)} {record.message}: {', '.join(warnings)}"
            try:
                self.write(replace(record, message=message))
            except ApiError as error:
                return replace(answer, message=f"its warnings could not be written: {error}")
        return answer

    def _create(self, write: Create) -> Written:
        manifest, ref = write.manifest, Ref.of(write.manifest)
        present = self._known.get(ref)
        if present and (ref in self._ours or not write.must_be_new):
            return _same(present)
        try:
            whole = self._owners.fill(manifest)
            self._created[ref] = self._as(write).create(whole, field_manager=write.field_manager)
        except ApiError as error:
            if not error.already_exists or write.must_be_new:
                raise
            return Written("exists")
        return self._sent(ref, self._created[ref])

    def _apply(self, write: Apply) -> Written:
        ref, manifest = Ref.of(write.manifest), self._owners.fill(self._at_present(write.manifest))
        if self._looks_first and ref not in self._known:
            # why: the writes of earlier runs must not count towards the limit of this run
            self._known[ref] = self._api.get(ref)
        present = self._known.get(ref)
        if present and equality.applied(manifest, present, write.field_manager):
            return _same(present)
        return self._sent(ref, self._as(write).apply(manifest, field_manager=write.field_manager, force=True))

    def _at_present(self, manifest: Manifest) -> Manifest:
        """The manifest with the version that a write of this run made of the one that it names."""
        moved = self._moved.get((Ref.of(manifest), resource_version_of(manifest)))
        if moved is None:
            return manifest
        return {**manifest, "metadata": {**metadata(manifest), "resourceVersion": resource_version_of(moved)}}

    def _try(self, write: Try) -> Written:
        manifest = self._owners.fill(self._at_present(write.manifest))
        self._api.try_out(manifest, field_manager=write.field_manager)
        return Written("tried")

    def _replace(self, write: Replace) -> Written:
        ref, manifest = Ref.of(write.manifest), self._owners.fill(write.manifest)
        present = self._known.get(ref)
        if present and equality.replaced(manifest, present):
            return _same(present)
        return self._sent(ref, self._as(write).replace(manifest), locked_at=resource_version_of(manifest))

    def _store_keys(self, write: StoreKeys) -> Written:
        manifest = self._owners.fill(write.manifest)
        return self._sent(None, stored(self._as(write), manifest, write, self._keyring))

    def _merge(self, write: Merge) -> Written:
        present = self._known.get(write.ref)
        patch = self._owners.fill(write.patch, namespace=write.ref.namespace)
        if present and merged(present, patch) == present:
            return _same(present)
        if write.resource_version:
            patch = {**patch, "metadata": {**metadata(patch), "resourceVersion": write.resource_version}}
        return self._sent(write.ref, self._as(write).merge(write.ref, patch), locked_at=write.resource_version)

    def _set_status(self, write: SetStatus) -> Written:
        present = self._known.get(write.ref)
        if present and (present.get("status") or {}) == write.status:
            return _same(present)
        if not write.resource_version:
            return self._set_first_status(write)
        base = self._moved.get((write.ref, write.resource_version)) or present or self._api.get(write.ref)
        if base is None:
            raise ApiError(404, "NotFound", f"{write.ref}: the object whose status was to be set does not exist")
        version = (
            resource_version_of(base) if (write.ref, write.resource_version) in self._moved else write.resource_version
        )
        meta = {**metadata(base), "resourceVersion": version}
        body = {**base, "metadata": meta, "status": write.status}
        return self._sent(write.ref, self._api.replace_status(body), locked_at=write.resource_version)

    def _set_first_status(self, write: SetStatus) -> Written:
        """Only of an object that this run created: the status of any other one was written by somebody else."""
        created = self._created.get(write.ref)
        if created is None:
            raise ApiError(409, "Conflict", f"{write.ref}: exists already, so that it may have a status")
        patch = {"metadata": {"resourceVersion": resource_version_of(created)}, "status": write.status}
        return self._sent(write.ref, self._api.merge(write.ref, patch, subresource="status"))

    def _delete(self, write: Delete) -> Written:
        if write.ref in self._known:
            present = self._known[write.ref]
            if present is None:
                return Written("absent")
            if is_deleted(present):
                # why: a finalizer may keep it for ever, and each DELETE would be answered as if it did something
                return _same(present)
        try:
            self._as(write).delete(
                write.ref, uid=write.uid, resource_version=write.resource_version, propagation=write.propagation
            )
        except ApiError as error:
            if error.is_not_found or (write.uid and is_of_another_object(error)):
                return Written("absent")
            raise
        self._known.pop(write.ref, None)
        return Written("sent")

    def _sent(self, ref: Ref | None, answer: Manifest, *, locked_at: str = "") -> Written:
        if ref is not None:
            self._known[ref] = answer
            self._ours.add(ref)
            if locked_at:
                # why: no other client wrote in between, so a later write that names the old version is valid
                self._moved[ref, locked_at] = answer
        return Written("sent", uid_of(answer), resource_version_of(answer))


def _has_sent_status(writes: Sequence[tuple[int, Write]], written: Mapping[int, Written]) -> bool:
    """Whether a status was sent: the next run finds it, and may then have no Records."""
    return any(
        isinstance(write, SetStatus) and index in written and written[index].did == "sent" for index, write in writes
    )


def _stop(writes: Sequence[tuple[int, Write]], written: Mapping[int, Written], end: int) -> int:
    """The index of the first write that was not done: Records after it may not be true yet."""
    return next((index for index, _ in writes if index not in written or written[index].did == "refused"), end)


def _refused(error: ApiError) -> Written:
    return Written("refused", status=error.status, message=error.message)


def _same(present: Manifest) -> Written:
    return Written("same", uid_of(present), resource_version_of(present))
