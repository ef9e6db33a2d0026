"""Objects as files have them: a stream of YAML documents, or a List in JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import yaml

from eventing.cli.failure import USAGE, CliError


def written(objects: Sequence[Mapping[str, Any]], output: str) -> str:
    """Objects as a stream of YAML documents, or as one List in JSON. CliError for another format."""
    if output == "json":
        return json.dumps({"apiVersion": "v1", "kind": "List", "items": objects}, indent=2) + "\n"
    if output != "yaml":
        raise CliError(f"-o {output}: wanted yaml or json", USAGE)
    return as_yaml(objects)


def as_yaml(objects: Iterable[Mapping[str, Any]]) -> str:
    """Objects as a stream of YAML documents."""

    class Plain(yaml.CSafeDumper):
        """Writes the same value twice rather than an alias."""

        def ignore_aliases(self, data: object) -> bool:  # noqa: ARG002
            return True

    dumped = (yaml.dump(dict(one), Dumper=Plain, sort_keys=False, allow_unicode=True) for one in objects)
    return "".join(f"---\n{text}" for text in dumped)
