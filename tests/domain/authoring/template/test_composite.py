from __future__ import annotations

from typing import Any

import pytest
import yaml

from shared.domain.authoring.template import TemplateError
from shared.domain.authoring.template.composite import RAW, Step, steps

BUILDERS = ["olm.builder.basic", "olm.builder.semver", "olm.builder.raw", "olm.builder.custom"]


def catalogs(*found: dict[str, Any], schema: str = "olm.composite.catalogs") -> bytes:
    main = {"name": "main", "destination": {"workingDir": "work"}, "builders": BUILDERS}
    return yaml.safe_dump({"schema": schema, "catalogs": list(found) or [main]}).encode()


def component(builder: str = "basic", name: str = "main", config: Any = None) -> dict[str, Any]:
    config = {"input": "in.yaml", "output": "out.yaml"} if config is None else config
    template = {"schema": f"olm.builder.{builder}", "config": config}
    return {"name": name, "destination": {"path": "tea"}, "strategy": {"name": "s", "template": template}}


def components(*found: dict[str, Any], schema: str = "olm.composite") -> bytes:
    return yaml.safe_dump({"schema": schema, "components": list(found)}).encode()


def test_fbc_12_5_each_component_is_built_by_its_builder_into_its_folder() -> None:
    found = list(steps(catalogs(), components(component(), component("semver"), component("raw"))))
    assert found == [
        Step("main", schema, "in.yaml", "work/tea", "out.yaml") for schema in ("olm.template.basic", "olm.semver", RAW)
    ]


def test_fbc_12_5_fields_may_be_spelled_in_another_case() -> None:
    main = {"name": "main", "Destination": {"workingdir": "work"}, "builders": BUILDERS}
    found = component() | {"destination": {"Path": "tea"}}
    [step] = steps(catalogs(main), components(found))
    assert (step.folder, step.output) == ("work/tea", "out.yaml")


@pytest.mark.parametrize(
    ("of_catalogs", "of_components", "message"),
    [
        pytest.param(b"", b"", "decoding catalog config: EOF", id="nothing"),
        pytest.param(b"catalogs: 1\n", b"", "unmarshalling catalog config: json: cannot", id="no list"),
        pytest.param(catalogs(schema="x"), b"", "catalog configuration file has unknown schema, should be "
                     '"olm.composite.catalogs"', id="another schema"),
        pytest.param(catalogs(), components(schema="x"), "composite configuration file has unknown schema, should be "
                     '"olm.composite"', id="another schema of components"),
        pytest.param(catalogs({"name": "a"}, {"name": "b"}), b"", "catalog configuration file field validation failed: "
                     "\nCatalog a:\n  - destination.workingDir must not be an empty string\n\nCatalog b:",
                     id="no folder"),
        pytest.param(catalogs({"name": "a", "builders": ["x"]}), b"", 'getting builder "x" for catalog "a": unknown '
                     'schema "x"', id="unknown builder"),
        pytest.param(catalogs({"name": "a", "builders": [None]}), b"", 'getting builder "" for catalog "a": unknown '
                     'schema ""', id="null is no builder"),
        pytest.param(catalogs(), components(component(name="x")), 'building component "x": component does not exist in '
                     "the catalog configuration. Available components are: [main]", id="unknown catalog"),
        pytest.param(catalogs(), components(component("x")), 'building component "main": no builder found for template '
                     'schema "olm.builder.x"', id="no such builder"),
        pytest.param(catalogs(), components(component("custom")), "commands are not run for you", id="a command"),
        pytest.param(catalogs(), components(component(config={})), "basic template configuration is invalid: basic "
                     "template config must have a non-empty input (templateDefinition.config.input),basic template "
                     "config must have a non-empty output (templateDefinition.config.output)",
                     id="no input, no output"),
        pytest.param(catalogs(), components(component(config={"x": 1})), 'json: unknown field "x"', id="unknown field"),
        pytest.param(catalogs(), components(component(config=1)), "unmarshalling basic template config", id="a number"),
    ],
)  # fmt: skip
def test_fbc_12_5_what_cannot_be_built_states_why(of_catalogs: bytes, of_components: bytes, message: str) -> None:
    with pytest.raises(TemplateError) as caught:
        list(steps(of_catalogs, of_components))
    assert message in str(caught.value)
