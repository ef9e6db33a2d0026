"""The API that performs writes, which notes when each request was sent and how it was answered."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal, Self

from eventing.effects import Api
from shared.adapters.kube import ApiError
from shared.api.manifest import Manifest
from shared.kinds import Kind, Ref

UNREACHABLE = "Unreachable"


@dataclass(slots=True)
class WriteRequest:
    """One request that writes; of the object only its identity is kept."""

    verb: str
    method: Literal["POST", "PUT", "PATCH", "DELETE"]
    ref: Ref
    began: int
    """Nanoseconds since the epoch."""
    ended: int = 0
    status: int = 0
    """The HTTP status of a refusal."""
    error: str = ""
    """The reason of a refusal: `Conflict`, `Invalid`, …"""


@dataclass(frozen=True, slots=True)
class TracedApi:
    """Implements `Api`: asks another one, and appends each request that writes to a list."""

    api: Api
    requests: list[WriteRequest] = field(default_factory=list)
    on_written: Callable[[Manifest, bool], None] = lambda _answer, _is_whole: None
    """Called with each object in an answer, before anybody hears of its event, and whether the whole object is ours."""
    now: Callable[[], int] = time.time_ns

    def get(self, ref: Ref) -> Manifest | None:
        """Implements `Api`."""
        return self.api.get(ref)

    def acting_as(self, account: Ref) -> Self:
        """Implements `Api`."""
        return type(self)(self.api.acting_as(account), self.requests, self.on_written, self.now)

    def create(self, manifest: Manifest, *, field_manager: str = "") -> Manifest:
        """Implements `Api`."""
        with self._request("create", "POST", Ref.of(manifest)):
            answer = self.api.create(manifest, field_manager=field_manager)
        return self._written(answer, is_whole=True)

    def apply(self, manifest: Manifest, *, field_manager: str, force: bool = True) -> Manifest:
        """Implements `Api`."""
        with self._request("apply", "PATCH", Ref.of(manifest)):
            answer = self.api.apply(manifest, field_manager=field_manager, force=force)
        return self._written(answer, is_whole=True)

    def try_out(self, manifest: Manifest, *, field_manager: str = "") -> None:
        """Implements `Api`."""
        with self._request("try", "POST", Ref.of(manifest)):
            self.api.try_out(manifest, field_manager=field_manager)

    def replace(self, manifest: Manifest) -> Manifest:
        """Implements `Api`."""
        with self._request("replace", "PUT", Ref.of(manifest)):
            answer = self.api.replace(manifest)
        return self._written(answer)

    def replace_status(self, manifest: Manifest) -> Manifest:
        """Implements `Api`."""
        with self._request("replace status of", "PUT", Ref.of(manifest)):
            answer = self.api.replace_status(manifest)
        return self._written(answer)

    def merge(self, ref: Ref, patch: Manifest, *, subresource: str = "") -> Manifest:
        """Implements `Api`."""
        with self._request(f"merge {subresource} of" if subresource else "merge", "PATCH", ref):
            answer = self.api.merge(ref, patch, subresource=subresource)
        return self._written(answer)

    def delete(
        self, ref: Ref, *, uid: str = "", resource_version: str = "",
        propagation: Literal["Background", "Foreground", "Orphan"] = "Background",
    ) -> None:  # fmt: skip
        """Implements `Api`."""
        with self._request("delete", "DELETE", ref):
            self.api.delete(ref, uid=uid, resource_version=resource_version, propagation=propagation)

    def warnings(self) -> tuple[str, ...]:
        """Implements `Api`."""
        return self.api.warnings()

    def find(self, api_version: str, kind: str) -> Kind | None:
        """Implements `Api`."""
        return self.api.find(api_version, kind)

    @contextmanager
    def _request(self, verb: str, method: Literal["POST", "PUT", "PATCH", "DELETE"], ref: Ref) -> Iterator[None]:
        request = WriteRequest(verb, method, ref, self.now())
        self.requests.append(request)
        try:
            yield
        except ApiError as error:
            request.status, request.error = error.status, error.reason or UNREACHABLE
            raise
        finally:
            request.ended = self.now()

    def _written(self, answer: Manifest, *, is_whole: bool = False) -> Manifest:
        self.on_written(answer, is_whole)
        return answer
