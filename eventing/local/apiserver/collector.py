"""Garbage collection: deletes dependents, the content of namespaces, and the objects of CRDs.

It runs directly after the write that causes it, in its own task, as the controllers of a real cluster do.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict, deque

import structlog

from eventing.local.apiserver import definitions, endpoints_controller
from eventing.local.apiserver.deletion import CRD_CLEANUP, FOREGROUND, ORPHAN, remove
from eventing.local.apiserver.resources import RBAC
from eventing.local.apiserver.store import Change, Key, Stored
from eventing.local.apiserver.world import World
from shared.api.manifest import ReadOnly, labels_of, metadata, uid_of
from shared.domain.selectors import matches

log = structlog.get_logger()
NAMESPACES = "/namespaces"
RETRY_SECONDS = 1.0
"""Pause after a write that failed."""
CLUSTER_ROLES = f"{RBAC}/clusterroles"


class Collector:
    """Observes every write and keeps an index of the dependents of each object."""

    def __init__(self, world: World) -> None:
        self._world = world
        self._due: deque[Change] = deque()
        self._wake = asyncio.Event()
        self._dependents: defaultdict[str, set[Key]] = defaultdict(set)
        self._present: dict[str, Key] = {}
        for stored in world.store.all():
            self._note(Change("ADDED", stored, None))
            self._due.append(Change("ADDED", stored, None))
        world.store.observe(self._observe)

    def _observe(self, change: Change) -> None:
        self._note(change)
        self._due.append(change)
        self._wake.set()
        if change.now.key[0] == definitions.TABLE:
            definitions.follow(change, self._world)

    def _note(self, change: Change) -> None:
        now_owners, before_owners = _owner_uids(change.now.manifest), set[str]()
        if change.before:
            before_owners = _owner_uids(change.before.manifest)
        if change.type == "DELETED":
            self._present.pop(uid_of(change.now.manifest), None)
            now_owners = set()
        else:
            self._present[uid_of(change.now.manifest)] = change.now.key
        for uid in before_owners - now_owners:
            self._dependents[uid].discard(change.now.key)
            if not self._dependents[uid]:
                del self._dependents[uid]
        for uid in now_owners - before_owners:
            self._dependents[uid].add(change.now.key)

    def catch_up(self) -> None:
        """Do all work that follows from the writes so far."""
        while self._due:
            self._follow(self._due.popleft())

    async def run(self) -> None:
        """Run for ever, with requests served in between; when the file of the store fails, try again."""
        while True:
            while self._due:
                try:
                    self._follow(self._due[0])
                except OSError as error:
                    log.warning("collector_waits", error=str(error))
                    await asyncio.sleep(RETRY_SECONDS)
                    continue
                self._due.popleft()
                await asyncio.sleep(0)
            await self._wake.wait()
            self._wake.clear()

    def _follow(self, change: Change) -> None:
        key, store = change.now.key, self._world.store
        aggregate(change, self._world)
        endpoints_controller.follow(change, self._world)
        if change.type == "DELETED":
            self._release_owners(change.now.manifest)
            for dependent in list(self._dependents.get(uid_of(change.now.manifest), ())):
                self._collect(dependent)
            self._continue_container(key)
            return
        stored = store.get(key)
        if stored is None:
            return
        self._collect(key)
        if key[0] == NAMESPACES:
            self._default_account(stored)
        if metadata(stored.manifest).get("deletionTimestamp"):
            self._continue_deletion(key)

    def _default_account(self, namespace: Stored) -> None:
        key = ("/serviceaccounts", namespace.key[2], "default")
        meta = metadata(namespace.manifest)
        if meta.get("deletionTimestamp") or self._world.store.get(key):
            return
        self._world.store.put(key, self._world.new_object("v1", "ServiceAccount", "default", namespace.key[2]))

    def _collect(self, key: Key) -> None:
        """Delete an object whose owners are all deleted; if others exist, remove the references to deleted ones."""
        stored = self._world.store.get(key)
        owners = metadata(stored.manifest).get("ownerReferences") or [] if stored else []
        if stored is None or not owners:
            return
        kept = [owner for owner in owners if self._exists(owner, key)]
        if kept and len(kept) == len(owners):
            return
        resource = self._world.registry.of_table(key[0])
        if resource is None:
            return
        if not kept:
            remove(resource, stored, self._world)
        else:
            self._rewrite(stored, "ownerReferences", kept)

    def _exists(self, owner: ReadOnly, dependent: Key) -> bool:
        key = self._present.get(str(owner["uid"]))
        return key is not None and key[1] in ("", dependent[1])

    def _rewrite(self, stored: Stored, field: str, value: list[object]) -> None:
        changed = stored.copy()
        changed["metadata"][field] = value
        if not value:
            del changed["metadata"][field]
        if field == "finalizers" and not value and stored.key[0] != NAMESPACES:
            self._world.store.remove(stored.key)
        else:
            self._world.store.put(stored.key, changed)

    def _continue_deletion(self, key: Key) -> None:
        """The next step of an object that is being deleted."""
        stored = self._world.store.get(key)
        if stored is None:
            return
        uid, finalizers = uid_of(stored.manifest), metadata(stored.manifest).get("finalizers") or []
        dependents = [found for one in list(self._dependents.get(uid, ())) if (found := self._world.store.get(one))]
        if ORPHAN in finalizers:
            for dependent in dependents:
                owners = [o for o in dependent.manifest["metadata"]["ownerReferences"] if o["uid"] != uid]
                self._rewrite(dependent, "ownerReferences", owners)
            self._drop_finalizer(key, ORPHAN)
        elif FOREGROUND in finalizers:
            self._continue_foreground(key, uid, dependents)
        self._continue_container(key)

    def _continue_foreground(self, key: Key, uid: str, dependents: list[Stored]) -> None:
        """Delete the dependents, except for those with an owner that stays, which lose the reference only."""
        is_blocked = False
        for dependent in dependents:
            owners = dependent.manifest["metadata"]["ownerReferences"]
            if kept := [owner for owner in owners if self._stays(owner, dependent.key)]:
                self._rewrite(dependent, "ownerReferences", kept)
                continue
            blocks = any(owner["uid"] == uid and owner.get("blockOwnerDeletion") for owner in owners)
            resource = self._world.registry.of_table(dependent.key[0])
            if resource and not metadata(dependent.manifest).get("deletionTimestamp"):
                remove(resource, dependent, self._world, "Foreground" if blocks else "Background")
            is_blocked |= blocks and self._world.store.get(dependent.key) is not None
        if not is_blocked:
            self._drop_finalizer(key, FOREGROUND)

    def _stays(self, owner: ReadOnly, dependent: Key) -> bool:
        """Whether an owner exists and does not wait for the deletion of its dependents."""
        stored = self._world.store.get(self._present[str(owner["uid"])]) if self._exists(owner, dependent) else None
        return stored is not None and FOREGROUND not in (metadata(stored.manifest).get("finalizers") or ())

    def _release_owners(self, gone: ReadOnly) -> None:
        """Check again the owners that wait for this object in a foreground deletion."""
        for uid in _owner_uids(gone):
            key = self._present.get(uid)
            stored = self._world.store.get(key) if key else None
            if stored and FOREGROUND in (metadata(stored.manifest).get("finalizers") or ()):
                self._continue_deletion(stored.key)

    def _drop_finalizer(self, key: Key, name: str) -> None:
        stored = self._world.store.get(key)
        if stored:
            left = [one for one in metadata(stored.manifest).get("finalizers") or [] if one != name]
            self._rewrite(stored, "finalizers", left)

    def _continue_container(self, key: Key) -> None:
        """Delete the content of a namespace or a CRD that is being deleted, and finish the deletion when empty."""
        table, namespace, name = key
        if table == NAMESPACES:
            self._empty_namespace(name)
        elif namespace:
            self._empty_namespace(namespace)
        group, _, plural = table.rpartition("/")
        if table == definitions.TABLE:
            self._empty_definition(name)
        elif group:
            self._empty_definition(f"{plural}.{group}")

    def _empty_namespace(self, name: str) -> None:
        stored = self._world.store.get((NAMESPACES, "", name))
        if stored is None or not metadata(stored.manifest).get("deletionTimestamp"):
            return
        for content in list(self._world.store.in_namespace(name)):
            resource = self._world.registry.of_table(content.key[0])
            if resource and not metadata(content.manifest).get("deletionTimestamp"):
                remove(resource, content, self._world)
        stored = self._world.store.get((NAMESPACES, "", name))
        if stored is None or any(self._world.store.in_namespace(name)):
            return
        if metadata(stored.manifest).get("finalizers"):
            if (stored.manifest.get("spec") or {}).get("finalizers"):
                self._world.store.put(stored.key, {**stored.copy(), "spec": {}})
            return
        self._world.store.remove(stored.key)

    def _empty_definition(self, name: str) -> None:
        stored = self._world.store.get((definitions.TABLE, "", name))
        if stored is None or CRD_CLEANUP not in (metadata(stored.manifest).get("finalizers") or ()):
            return
        spec = stored.manifest["spec"]
        table = f"{spec['group']}/{spec['names']['plural']}"
        for content in self._world.store.list(table):
            resource = self._world.registry.of_table(table)
            if resource and not metadata(content.manifest).get("deletionTimestamp"):
                remove(resource, content, self._world)
        if not self._world.store.list(table):
            self._drop_finalizer(stored.key, CRD_CLEANUP)


def _owner_uids(manifest: ReadOnly) -> set[str]:
    return {str(owner["uid"]) for owner in metadata(manifest).get("ownerReferences") or ()}


def aggregate(change: Change, world: World) -> None:
    """Update the aggregated roles that select the changed role (or are the changed role) with the rules they select."""
    if change.now.key[0] != CLUSTER_ROLES:
        return
    states = [labels_of(one.manifest) for one in (change.now, change.before) if one]
    roles = world.store.list(CLUSTER_ROLES)
    for role in roles:
        selectors = _selectors(role)
        is_concerned = role.key == change.now.key or any(matches(one, labels) for one in selectors for labels in states)
        if selectors and is_concerned:
            _gather(role, roles, world)


def _selectors(role: Stored) -> list[ReadOnly]:
    return (role.manifest.get("aggregationRule") or {}).get("clusterRoleSelectors") or []


def _gather(role: Stored, roles: list[Stored], world: World) -> None:
    rules: list[ReadOnly] = []
    for other in roles:
        labels = labels_of(other.manifest)
        if other.key != role.key and any(matches(selector, labels) for selector in _selectors(role)):
            rules += [rule for rule in other.manifest.get("rules") or [] if rule not in rules]
    if rules != (role.manifest.get("rules") or []):
        world.store.put(role.key, {**role.copy(), "rules": rules})
