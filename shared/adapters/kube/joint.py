"""Makes one request of the merge patches of one object that are to be sent while another one is on its way.

Ten plans of ten namespaces annotate the same eight CustomResourceDefinitions, and each patch of a large one takes an
API server a quarter of a second.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Final, Literal, TypeAlias

from shared.adapters.kube.errors import ApiError
from shared.api.manifest import Manifest
from shared.domain.merge_patch import united
from shared.kinds import Ref

Send: TypeAlias = Callable[[Ref, Manifest], Manifest]
LEAD: Final = "lead"
ALONE: Final = "alone"


@dataclass(eq=False)
class _Patch:
    """One that waits: for the object that it was part of, for its turn to be sent with others, or to go alone."""

    content: Manifest
    turn: Future[Manifest | Literal["lead", "alone"]] = field(default_factory=Future)


class JointPatches:
    """The patches that wait, by object; of all threads of a client, each without a lock on the object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._waiting: dict[Ref, list[_Patch]] = {}

    def merge(self, ref: Ref, content: Manifest, send: Send) -> Manifest:
        """The object after the patch. ApiError.

        Patches that say different things of one field go one after the other, and so does each of several that are
        refused together: one that is bad stops itself alone.
        """
        mine = _Patch(content)
        with self._lock:
            is_first = ref not in self._waiting
            waiting = self._waiting.setdefault(ref, [])
            if not is_first:
                waiting.append(mine)
        turn = LEAD if is_first else mine.turn.result()
        if turn == LEAD:
            return self._lead(ref, mine, send)
        return send(ref, content) if isinstance(turn, str) else turn

    def _lead(self, ref: Ref, mine: _Patch, send: Send) -> Manifest:
        """Send all that wait now."""
        others: list[_Patch] = []
        try:
            whole = self._together(ref, mine, others)
            answer = send(ref, whole)
            for one in others:
                one.turn.set_result(answer)
        except ApiError:
            if not others:
                raise
            return send(ref, mine.content)
        else:
            return answer
        finally:
            for one in others:
                if not one.turn.done():
                    one.turn.set_result(ALONE)
            self._pass_on(ref)

    def _together(self, ref: Ref, mine: _Patch, others: list[_Patch]) -> Manifest:
        """One patch that says what this one says and those that agree with it; these become `others`."""
        whole = mine.content
        with self._lock:
            for one in [*self._waiting[ref]]:
                if (both := united(whole, one.content)) is not None:
                    whole = both
                    self._waiting[ref].remove(one)
                    others.append(one)
        return whole

    def _pass_on(self, ref: Ref) -> None:
        """Let the next one lead; the object is free when nobody waits."""
        with self._lock:
            if waiting := self._waiting[ref]:
                waiting.pop(0).turn.set_result(LEAD)
            else:
                del self._waiting[ref]
