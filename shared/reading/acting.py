"""Questions with the rights of whoever carries out a plan."""

from __future__ import annotations

from collections.abc import Sequence

from shared.api.manifest import Manifest
from shared.api.views import Object
from shared.kinds import BY_IDENTITY, SECRET, Kind, Ref
from shared.ports import Accounts, Cluster, Denied, Listing


class ActingReads:
    """What an account may not see is not there; without an account these are our own reads.

    Ours are refused only of kinds that have no name in code: all others are in the roles that we come with.
    """

    def __init__(self, cluster: Cluster, accounts: Accounts, account: Ref | None) -> None:
        self._cluster, self._accounts, self.account = cluster, accounts, account
        self.denied: dict[Ref, str] = {}
        """The refusals of the API server, by object."""

    @property
    def ours(self) -> ActingReads:
        """The same reads with our own rights."""
        return self if self.account is None else ActingReads(self._cluster, self._accounts, None)

    def _is_ours(self, asked: Ref | Kind) -> bool:
        """Whether it is read with our own rights, and nobody refuses that."""
        return self.account is None and (asked.api_version, asked.kind) in BY_IDENTITY

    def get(self, ref: Ref) -> Manifest | None:
        """The object; None when it does not exist, or may not be read."""
        if self._is_ours(ref):
            return self._cluster.get(ref)
        answer = self._accounts.get(ref, self.account)
        if not isinstance(answer, Denied):
            return answer
        self.denied[ref] = answer.message
        return None

    def list_all(self, kinds: Sequence[Kind], namespace: str) -> tuple[tuple[Manifest, ...] | None, ...]:
        """The objects of each kind in a namespace; None where they may not be listed."""
        if all(map(self._is_ours, kinds)):
            return self._cluster.list_all([Listing(kind, namespace) for kind in kinds])
        answers = [self.list(kind, namespace) for kind in kinds]
        return tuple(None if isinstance(answer, Denied) else answer for answer in answers)

    def list(self, kind: Kind, namespace: str = "") -> tuple[Manifest, ...] | Denied:
        """The objects of a kind in a namespace (empty: in all), or why they may not be listed."""
        if self._is_ours(kind):
            return self._cluster.list(kind, namespace)
        return self._accounts.list(kind, namespace, self.account)

    def refusal(self, manifest: Manifest) -> str:
        """Why the object may not be written; empty when it may, without an account, and for a Secret (never asked).

        Without owners, which may not exist yet.
        """
        view = Object(manifest)
        if self.account is None or view.kind == SECRET.kind:
            return ""
        meta = {key: value for key, value in view.metadata.items() if key != "ownerReferences"}
        found = self._accounts.refusal({**manifest, "metadata": meta}, self.account)
        return "" if found is None else found.message
