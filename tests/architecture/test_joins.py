"""No list and no key is joined of raw text: whose part may hold the separator, who says so, and the check bites."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tests.architecture.joins import joins, lists

ROOT = Path(__file__).parents[2]
ABOUT = ("eventing/**/*.py", "shared/adapters/**/*.py", "shared/api/**/*.py", "shared/*.py")
"""Where foreign text becomes keys of Redis, lists of events, and requests."""
OTHERS = ("eventing/cli", "eventing/local", "eventing/deploy", "eventing/diagnosis")
"""What people ask, on their own machine."""
CHECKED: Mapping[str, int] = {
    "eventing/effects/notes.py": 1,  # a Ref
    "eventing/events/event.py": 3,  # Owner encodes names; an id that scripts keep is one line (`_one_line`)
    "eventing/events/hints.py": 1,  # names of Operators, from keys of labels
    "eventing/journal/changes.py": 3,  # a Kind, and a namespace
    "eventing/watch/known_objects.py": 1,  # two lists of that kind
    "eventing/workqueue/rq_long.py": 1,  # a name for people; a digest tells it from others
    "eventing/workqueue/values.py": 1,  # a Ref is one word, and is parsed back
    "eventing/workqueue/arguments.py": 3,  # `_one_line`, and keys of a Kind and a namespace
    "shared/adapters/content/config_map_snapshots.py": 2,  # a digest, and a Ref
    "shared/adapters/content/snapshot/form.py": 1,  # refuses what holds the separator
    "shared/adapters/kube/copies.py": 1,  # a namespace
    "shared/adapters/kube/listing.py": 3,  # labels are checked, fields are escaped
    "shared/adapters/kube/paths.py": 1,  # each part is encoded
    "shared/adapters/oci/credentials.py": 2,  # a registry and its path, as a reference holds them
    "shared/adapters/oci/reference.py": 2,  # likewise
    "shared/api/resource.py": 1,  # names of our own kinds
    "shared/api/views/csv.py": 2,  # names of an APIService, which a Ref checks
    "shared/kinds.py": 1,  # names of our own kinds
    "shared/refs.py": 2,  # a Ref
}  # fmt: skip
"""Each part was checked or encoded: it cannot hold the separator."""
OWN: Mapping[str, int] = {
    "eventing/packages/app.py": 3, "eventing/routes.py": 1, "eventing/runner/run.py": 2, "eventing/runner/steps.py": 2,
    "eventing/wiring/waking.py": 1, "eventing/watch/demands.py": 1, "eventing/wiring/intake.py": 1,
    "eventing/worker/child.py": 1,
    "eventing/worker/scheduler.py": 1, "eventing/worker/parent.py": 1, "eventing/workqueue/rq_cron.py": 1,
    "eventing/journal/files.py": 1, "eventing/events/trace.py": 1, "eventing/metrics/exposition.py": 1,
    "eventing/tracing/spans.py": 1,
    "shared/adapters/content/snapshot/identity.py": 2, "shared/adapters/catalog_client/methods.py": 1,
    "shared/adapters/kube/transport.py": 1, "shared/adapters/oci/download.py": 1, "shared/adapters/oci/verify.py": 2,
    "shared/adapters/whole_file.py": 1, "shared/adapters/catalog_api/lines.py": 2,
    "shared/adapters/oci/addresses.py": 2,
}  # fmt: skip
"""All parts are ours: numbers, digests, names of steps, programs, services and files."""
SHOWN: Mapping[str, int] = {
    "eventing/catalogs/served_sources.py": 6, "eventing/packages/catalog_follower.py": 3,
    "eventing/packages/requester.py": 1, "eventing/effects/notes.py": 1, "eventing/watch/demands.py": 1,
    "eventing/worker/outlet.py": 1, "eventing/workqueue/rq_long.py": 1,
    "shared/adapters/catalog_api/cache_folder.py": 1,
    "shared/adapters/catalog_api/server.py": 1, "shared/adapters/files.py": 1,
}  # fmt: skip
"""People read it, nothing takes it apart: a sentence, a log line, the name of a Kubernetes Event or of a task."""
PROTOCOLS: Mapping[str, int] = {
    "eventing/catalogs/program.py": 1, "eventing/catalogs/tls_profile.py": 1, "eventing/packages/documents.py": 1,
    "shared/adapters/catalog_api/web.py": 1, "shared/adapters/catalog_client/dialing.py": 2,
    "shared/adapters/kube/connection.py": 1, "shared/adapters/oci/transport.py": 1,
    "shared/adapters/oci/credentials.py": 1,
    "shared/adapters/content/folders.py": 3,
}  # fmt: skip
"""Whoever gave the parts may as well have given the whole: an address, a login, a header, documents of JSON, files of
this machine."""
RULES = ("shared/domain/**/*.py", "shared/reading/**/*.py", "functions/**/*.py")
READ = ("shared/domain/authoring", "shared/domain/crd_safety")
"""What people read of their own files."""
LISTS: Mapping[str, int] = {
    "shared/domain/catalog/image_reference.py": 1,  # a pattern of our own
    "shared/domain/extension/openshift.py": 1,  # a sentence
    "shared/domain/extension/phases/demands.py": 1,  # kinds that are possible
    "shared/domain/extension/render/deployment.py": 1,  # namespaces of a configuration that was validated
    "shared/domain/extension/render/webhook_validation.py": 2,  # sentences
    "shared/domain/extension/selector.py": 1,  # each value is quoted
    "shared/domain/plan/bundle_kinds.py": 1,  # kinds that are possible, and a setting
    "shared/domain/operator_groups/group.py": 2,  # APIs that an annotation can name; encoded namespaces
}  # fmt: skip
"""Lists that rules make."""


def found_in(
    patterns: tuple[str, ...], others: tuple[str, ...], look: Callable[[str], Iterator[int]]
) -> dict[str, int]:
    files = sorted({path for pattern in patterns for path in ROOT.glob(pattern)})
    found = {str(path.relative_to(ROOT)): len(list(look(path.read_text()))) for path in files}
    return {name: count for name, count in found.items() if count and not name.startswith(others)}


def test_whatever_is_joined_has_a_reason_why_its_parts_cannot_be_mistaken() -> None:
    known = Counter[str]()
    for reasons in (CHECKED, OWN, SHOWN, PROTOCOLS):
        known.update(reasons)
    assert Counter(found_in(ABOUT, OTHERS, joins)) - known == {}, "encode or check the parts, and say so here"


def test_lists_that_rules_make_have_a_reason_too() -> None:
    assert Counter(found_in(RULES, READ, lists)) - Counter(LISTS) == {}, "encode or check the items, and say so here"


@pytest.mark.parametrize(
    ("source", "want"),
    [
        pytest.param('",".join(names)', [1], id="a list"),
        pytest.param('b"\\0".join(parts)', [1], id="a key of bytes"),
        pytest.param('"\\n".join(lines)', [1], id="lines"),
        pytest.param('f"{group}/{version}/{kind}"', [1], id="a key"),
        pytest.param('f"{key}={value}"', [1], id="a selector"),
        pytest.param('", ".join(names)', [], id="a sentence"),
        pytest.param('f"{name} is gone"', [], id="another sentence"),
        pytest.param('f"olmf:{kind}"', [], id="one part behind a prefix"),
        pytest.param("os.path.join(a, b)", [], id="another join"),
    ],
)
def test_the_check_bites(source: str, want: list[int]) -> None:
    assert list(joins(source)) == want


def test_the_check_of_lists_bites() -> None:
    assert list(lists('",".join(names)\n"/".join(names)\n" ".join(names)')) == [1]
