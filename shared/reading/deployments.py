"""Reads who holds the name of a Deployment that a version misses."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shared import kinds
from shared.api.manifest import Manifest
from shared.api.views import Csv, Deployment
from shared.domain.csv.health import Problem, first_problem, with_owner
from shared.ports import Cluster


def read_problem(
    csv: Csv, desired: Sequence[Manifest], labelled: Iterable[Deployment], cluster: Cluster
) -> Problem | None:
    """The first problem of the Deployments; only one that is missing is asked for, as another version's."""
    problem = first_problem(csv, desired, labelled)
    if problem is None or not problem.missing:
        return problem
    return with_owner(problem, Deployment.of(kinds.DEPLOYMENT.look_up(cluster.get, problem.missing, csv.namespace)))
