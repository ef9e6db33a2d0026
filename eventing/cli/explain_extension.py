"""What `olmf explain` says of ClusterExtensions: where each stands, and why it is that bundle."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from eventing.cli.extension.answer import Answer, answer_about
from eventing.cli.extension.cluster import FORBIDDEN, content_of_cluster, extension_of
from eventing.cli.status_text import row_of, stands
from eventing.diagnosis.status.reader import Sources
from shared.adapters.kube.errors import ApiError
from shared.api.views import ClusterExtension
from shared.kinds import CLUSTER_EXTENSION

if TYPE_CHECKING:
    from eventing.cli.target import Target
    from shared.ports import Cluster

PREFIX = f"{CLUSTER_EXTENSION.kind}/"


@dataclass(frozen=True, slots=True)
class Explained:
    """One extension."""

    answer: Answer

    def lines(self) -> Iterator[str]:
        """For people."""
        yield f"{PREFIX}{self.answer.status.extension}: {stands(self.answer.status)}"
        yield from (f"  {line}" for one in self.answer.reasons for line in one.splitlines())

    def json(self) -> Mapping[str, Any]:
        """The same as JSON."""
        return {**row_of(self.answer.status), **self.answer.json()}


def is_extension(words: str) -> bool:
    """Whether somebody asks about an extension: `ClusterExtension/NAME`."""
    return words.lower().startswith(PREFIX.lower())


def explained_extensions(target: Target, *, name: str = "", namespace: str = "") -> Sequence[Explained]:
    """The extension of that name, or those that install into the namespace. CliError when none has that name."""
    cluster = target.cluster()
    found = [extension_of(cluster, name)] if name else [*_installing_into(namespace, cluster)]
    if not found:
        return ()
    sources, content = Sources(cluster, target.jobs()), content_of_cluster(cluster)
    return [Explained(answer_about(one, sources, content, cluster)) for one in found]


def _installing_into(namespace: str, cluster: Cluster) -> Iterator[ClusterExtension]:
    """None, and a note, for who may not list them."""
    try:
        listed = ClusterExtension.each(cluster.list(CLUSTER_EXTENSION))
    except ApiError as error:
        if error.status != FORBIDDEN:
            raise
        sys.stderr.write(f"# without ClusterExtensions: {error.message}\n")
        return
    yield from (one for one in listed if one.install_namespace == namespace)
