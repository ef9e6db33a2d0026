"""Applies a ConfigMap, and says in another what the API server refused."""

from __future__ import annotations

from shared.ports import Attempt
from shared.step import Apply, Outcome, Ref


def explain_refusal(ref: Ref, attempt: Attempt) -> Outcome:
    name = ref.name if attempt.failure is None else "refused"
    output = attempt.failure.message if attempt.failure else ""
    meta = {"name": name, "namespace": ref.namespace}
    manifest = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {"said": output}}
    return Outcome((Apply(manifest),), summary=output)
