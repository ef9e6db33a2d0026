"""The composite template: which catalogs a package goes to, and how each is built (fbc.md §12.5).

Two files say it: the maintainers of catalogs name folders and the builders that they trust, the author of an operator
names a builder and its input for each catalog. A builder that runs a command is refused: whoever wants one runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from shared.domain.authoring.template import basic, semver
from shared.domain.authoring.template.source import TemplateError, first_document
from shared.domain.catalog import shapes
from shared.domain.catalog.config import Blob
from shared.domain.go.text import quoted

CATALOGS: Final = "olm.composite.catalogs"
COMPONENTS: Final = "olm.composite"
RAW: Final = ""
"""The input is a catalog already."""
BUILDERS: Final[Mapping[str, str]] = {
    "olm.builder.basic": basic.SCHEMA, "olm.builder.semver": semver.SCHEMA, "olm.builder.raw": RAW,
}  # fmt: skip
"""The schema of the template that each builder renders."""
_CUSTOM: Final = "olm.builder.custom"

_FOLDER: Final = shapes.struct("composite.CatalogDestination", "workingDir")
_CATALOG: Final = shapes.struct("composite.Catalog", "name", destination=_FOLDER, builders=shapes.TEXTS)
_CATALOG_FILE: Final = shapes.struct("composite.CatalogConfig", "schema", catalogs=shapes.list_of(_CATALOG))
_CONFIG: Final = shapes.struct("composite.BuilderConfig", "input output")
_TEMPLATE: Final = shapes.struct("composite.TemplateDefinition", "schema", config=shapes.RAW)
_STRATEGY: Final = shapes.struct("composite.BuildStrategy", "name", template=_TEMPLATE)
_DESTINATION: Final = shapes.struct("composite.ComponentDestination", "path")
_COMPONENT: Final = shapes.struct("composite.Component", "name", destination=_DESTINATION, strategy=_STRATEGY)
_COMPONENT_FILE: Final = shapes.struct("composite.CompositeConfig", "schema", components=shapes.list_of(_COMPONENT))


@dataclass(frozen=True, slots=True)
class Step:
    """One catalog to build: its input, the template that the input is, and its output."""

    catalog: str
    template: str
    """The schema of the template that the input is; `RAW` when it is a catalog."""
    input: str
    folder: str
    output: str


def steps(catalogs: bytes, components: bytes) -> Iterator[Step]:
    """The catalogs to build, in order. TemplateError at the first component that cannot be built."""
    known = _catalogs(_read(catalogs, _CATALOG_FILE, CATALOGS, "catalog"))
    fields = _read(components, _COMPONENT_FILE, COMPONENTS, "composite")
    for one in fields.get("components") or ():
        yield _step(_COMPONENT.read(one), known)


def _read(content: bytes, shape: shapes.Struct, schema: str, what: str) -> Blob:
    value = first_document(content, what=f"decoding {what} config")
    if why := shapes.why_not(shape, value):
        raise TemplateError(f"unmarshalling {what} config: {why}")
    fields = shape.read(value)
    if fields.get("schema") != schema:
        raise TemplateError(f"{what} configuration file has unknown schema, should be {quoted(schema)}")
    return fields


def _catalogs(fields: Blob) -> dict[str, tuple[str, frozenset[str]]]:
    """The working folder and the builders of each catalog."""
    found, wrong = {}, []
    for one in map(_CATALOG.read, fields.get("catalogs") or ()):
        name = one.get("name") or ""
        folder = _FOLDER.read(one.get("destination")).get("workingDir") or ""
        if not folder:
            wrong.append(f"\nCatalog {name}:\n  - destination.workingDir must not be an empty string\n")
        builders = [builder or "" for builder in one.get("builders") or ()]
        for builder in builders:
            if builder not in (*BUILDERS, _CUSTOM):
                where = f"getting builder {quoted(builder)} for catalog {quoted(name)}"
                raise TemplateError(f"{where}: unknown schema {quoted(builder)}")
        found[name] = (folder, frozenset(builders))
    if wrong:
        raise TemplateError(f"catalog configuration file field validation failed: {''.join(wrong)}")
    return found


def _step(component: Blob, known: Mapping[str, tuple[str, frozenset[str]]]) -> Step:
    name = component.get("name") or ""
    where = f"building component {quoted(name)}"
    if name not in known:
        available = f"Available components are: [{' '.join(sorted(known))}]"
        raise TemplateError(f"{where}: component does not exist in the catalog configuration. {available}")
    folder, builders = known[name]
    template = _TEMPLATE.read(_STRATEGY.read(component.get("strategy")).get("template"))
    builder = template.get("schema") or ""
    if builder not in builders:
        raise TemplateError(f"{where}: no builder found for template schema {quoted(builder)}")
    if builder == _CUSTOM:
        raise TemplateError(f"{where}: commands are not run for you: run it, and name its output with olm.builder.raw")
    config = _config(template.get("config"), builder.rpartition(".")[2], where)
    path = _DESTINATION.read(component.get("destination")).get("path") or ""
    return Step(name, BUILDERS[builder], config["input"], f"{folder}/{path}", config["output"])


def _config(value: Any, kind: str, where: str) -> Blob:
    if why := shapes.why_not(_CONFIG, value):
        raise TemplateError(f"{where}: unmarshalling {kind} template config: {why}")
    if strange := [key for key in value or {} if _CONFIG.name_of(key) is None]:
        raise TemplateError(f"{where}: unmarshalling {kind} template config: json: unknown field {quoted(strange[0])}")
    fields = _CONFIG.read(value)
    absent = [field for field in ("input", "output") if not fields.get(field)]
    if absent:
        what = f"{kind} template config must have a non-empty"
        listed = ",".join(f"{what} {field} (templateDefinition.config.{field})" for field in absent)
        raise TemplateError(f"{where}: {kind} template configuration is invalid: {listed}")
    return fields
