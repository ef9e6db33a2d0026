"""Resolving without a cluster: questions as JSON lines, catalogs from folders and images."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from shared.adapters import files
from shared.adapters.oci import OciError
from shared.domain.catalog.documents import NotACatalog, light, read
from shared.domain.resolver import resolve
from shared.domain.resolver.explain import explain
from shared.domain.resolver.question import InvalidQuestion, answer_of, inputs_of, shelf_of
from shared.domain.resolver.shelves import LoadedShelf


def answering(*, is_whole: bool) -> Callable[[Mapping[str, Any]], dict[str, Any]]:
    """What answers questions; catalogs that are named by the same path are loaded once.

    InvalidQuestion says what is wrong with a question, or with a catalog of it.
    """
    loaded: dict[str, LoadedShelf] = {}

    def load(path: str) -> LoadedShelf:
        if path not in loaded:
            loaded[path] = _loaded(path)
        return loaded[path]

    def answer(question: Mapping[str, Any]) -> dict[str, Any]:
        inputs = inputs_of(question, load, is_whole=is_whole)
        resolution = resolve(inputs)
        return answer_of(resolution, explain(inputs, resolution))

    return answer


def _loaded(path: str) -> LoadedShelf:
    try:
        with files.opened(path) as found:
            documents = [light(one) for file in found for one in read(file.name, file.read())]
    except (OSError, OciError, NotACatalog) as error:
        raise InvalidQuestion(f"catalog {path}: {error}") from error
    named = ({"schema": one.schema, "package": one.package, "name": one.name, **one.fields} for one in documents)
    return shelf_of(named)
