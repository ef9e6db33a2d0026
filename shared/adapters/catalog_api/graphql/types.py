"""The types of GraphQL for the documents of a catalog, and how their fields are read (v1.md §7)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, TypeAlias

from graphql import (
    GraphQLArgument,
    GraphQLBoolean,
    GraphQLField,
    GraphQLFloat,
    GraphQLInt,
    GraphQLList,
    GraphQLObjectType,
    GraphQLOutputType,
    GraphQLResolveInfo,
    GraphQLScalarType,
    GraphQLSchema,
    GraphQLString,
)

from shared.adapters.catalog_api.graphql.fields import Field, Schema, Schemas, field_name, root_name, type_name
from shared.domain.go import encode

LARGEST_PAGE: Final = 100
_LARGEST_INT: Final = 2**31
_SCALARS: Final[Mapping[str, GraphQLScalarType]] = {
    one.name: one for one in (GraphQLString, GraphQLBoolean, GraphQLInt, GraphQLFloat)
}
_Value: TypeAlias = Any  # why: any JSON value
_Resolve: TypeAlias = Callable[[_Value, GraphQLResolveInfo[_Value]], _Value]
Load: TypeAlias = Callable[[str, int, int], Iterator[Mapping[str, _Value]]]
"""The documents of a schema from a position on, at most so many."""
Spend: TypeAlias = Callable[[_Value], _Value]
"""Counts a value of the answer, and gives it back."""


class ClashError(ValueError):
    """Two schemas would be called the same."""


def schema_of(schemas: Schemas, load: Load, spend: Spend) -> GraphQLSchema:
    """What can be asked of a catalog. ClashError, TypeError."""
    for naming, what in ((type_name, "type"), (root_name, "field")):
        taken: dict[str, str] = {}
        for schema in schemas:
            if (other := taken.setdefault(naming(schema), schema)) != schema:
                raise ClashError(f"schemas {other!r} and {schema!r} both map to {what} {naming(schema)!r}")
    roots = {root_name(name): _list(name, one, load, spend) for name, one in schemas.items()}
    return GraphQLSchema(GraphQLObjectType("Query", {**roots, "summary": _summary(schemas)}))


def _list(name: str, schema: Schema, load: Load, spend: Spend) -> GraphQLField:
    def documents(_: object, __: object, limit: int | None = None, offset: int | None = None) -> _Value:
        most = limit if limit and 0 < limit <= LARGEST_PAGE else LARGEST_PAGE
        return load(name, max(offset or 0, 0), most)

    arguments = {
        "limit": GraphQLArgument(GraphQLInt, LARGEST_PAGE, "Maximum number of items to return"),
        "offset": GraphQLArgument(GraphQLInt, 0, "Number of items to skip"),
    }
    return GraphQLField(GraphQLList(_object(type_name(name), schema.fields, spend)), arguments, documents)


def _object(name: str, fields: Mapping[str, Field], spend: Spend) -> GraphQLObjectType:
    made = {}
    for one, field in sorted(fields.items()):
        of: GraphQLOutputType = _SCALARS[field.type]
        if field.inner:
            of = _object(name + type_name(one), field.inner, spend)
        is_list = field.is_list or bool(field.inner)
        made[one] = GraphQLField(GraphQLList(of) if is_list else of, resolve=_reading(one, field, spend))
    return GraphQLObjectType(name, made)


def _reading(name: str, field: Field, spend: Spend) -> _Resolve:
    """The value of a field in a document, as its type wants it."""

    def read(source: _Value, _: GraphQLResolveInfo[_Value]) -> _Value:
        if not isinstance(source, Mapping):
            return None
        value = next((source[key] for key in source if field_name(key) == name), None)
        if field.inner:
            return value if isinstance(value, list) else None
        if field.is_list:
            return [spend(_fitting(field.type, one)) for one in value] if isinstance(value, list) else None
        return spend(_fitting(field.type, value))

    return read


def _fitting(kind: str, value: _Value) -> _Value:
    """The value if the type can hold it, and None if not: other documents may hold other things in the same field."""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    match kind:
        case "String":
            return value if value is None or isinstance(value, str) else encode.json_text(value)
        case "Boolean":
            return value if isinstance(value, bool) else None
        case "Float":
            return value if is_number else None
    return int(value) if is_number and -_LARGEST_INT <= value < _LARGEST_INT else None


def _summary(schemas: Schemas) -> GraphQLField:
    one = {"name": GraphQLString, "totalObjects": GraphQLInt, "totalFields": GraphQLInt}
    of_schema = GraphQLObjectType("SchemaSummary", {name: GraphQLField(of) for name, of in one.items()})
    fields = {"totalSchemas": GraphQLField(GraphQLInt), "schemas": GraphQLField(GraphQLList(of_schema))}
    found = [
        {"name": name, "totalObjects": schema.total, "totalFields": len(schema.fields)}
        for name, schema in sorted(schemas.items())
    ]
    content = {"totalSchemas": len(found), "schemas": found}
    return GraphQLField(GraphQLObjectType("CatalogSummary", fields), resolve=lambda *_: content)
