"""One installation per target for all lifecycle tests: the sandbox, and a real control plane (`make conformance`)."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from shared.adapters.kube import ApiError
from shared.kinds import CLUSTER_SERVICE_VERSION, NAMESPACE, SUBSCRIPTION, Ref
from tests.conformance.targets import REAL, SANDBOX, running
from tests.kit.installation import SAMPLES, Installation, a_namespace

TARGETS = [pytest.param(SANDBOX), pytest.param(REAL, marks=pytest.mark.conformance)]


@pytest.fixture(scope="session", params=TARGETS)
def installation(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """`olmf up` with the sample bundles."""
    folder = tmp_path_factory.mktemp(request.param)
    with running(request.param, folder, "--bundles", str(SAMPLES)) as found:
        yield found


@pytest.fixture
def namespace(installation: Installation, request: pytest.FixtureRequest) -> Iterator[str]:
    """A namespace of this test alone; what the test installed goes with it, so that no global operator stays."""
    words = str(request.node.originalname).removeprefix("test_").replace("_", "-")
    name = words[:50].rstrip("-")
    installation.apply(a_namespace(name))
    yield name
    for kind in (SUBSCRIPTION, CLUSTER_SERVICE_VERSION):
        for each in installation.cluster.list(kind, name):
            _delete(installation, Ref.of(each))
    _delete(installation, NAMESPACE.ref(name))
    for each in installation.cluster.list(CLUSTER_SERVICE_VERSION, name):
        installation.until_gone(Ref.of(each))


def _delete(installation: Installation, ref: Ref) -> None:
    """Delete an object that may be gone: a version that was just replaced is deleted by the functions, too."""
    try:
        installation.cluster.delete(ref)
    except ApiError as error:
        if not error.is_not_found:
            raise
