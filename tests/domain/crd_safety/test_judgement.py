"""The verdict about a new edition of a definition: what counts, what is waived, and how it is told (v1.md §19)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from shared.domain.crd_safety.judgement import Waiver, counted, judged
from shared.domain.crd_safety.report import Definition, as_sarif, as_text, as_values
from shared.domain.crd_safety.request import response_to
from shared.domain.shape import InvalidRequest

Schema = dict[str, Any]
TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def version(name: str, spec: Schema) -> Schema:
    root = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    return {"name": name, "served": True, "schema": {"openAPIV3Schema": root}}


def crd(*versions: Schema, conversion: str = "") -> Schema:
    spec: Schema = {"group": "g", "names": {"kind": "A", "plural": "as"}, "versions": list(versions)}
    if conversion:
        spec["conversion"] = {"strategy": conversion}
    return {"metadata": {"name": "as.g"}, "spec": spec}


def test_findings_are_reported_with_a_way_out() -> None:
    old, new = crd(version("v1", {"a": TEXT})), crd(version("v1", {"a": TEXT | {"maxLength": 3}}))
    found = [Definition("as.g", "new.yaml", judged(old, new)), Definition("bs.g", "new.yaml", ())]
    assert as_text(found).splitlines() == [
        "as.g: unsafe",
        "  v1: ^.spec.a: maxLength: maximum constraint added when there was none previously : 3",
        "  What it means:",
        (
            "    maxLength: objects beyond the new limit will be refused; keep the old limit, or add a new version "
            "that has the change, and a conversion between the two"
        ),
        "bs.g: safe",
    ]
    [first, second] = as_values(found)
    assert (first["safe"], second["safe"]) == (False, True)
    [finding] = first["findings"]
    assert {key: finding[key] for key in ("version", "path", "check", "old", "new", "counts")} == {
        "version": "v1", "path": "^.spec.a", "check": "maxLength", "old": None, "new": 3, "counts": True,
    }  # fmt: skip


def test_a_removed_field_is_one_finding_for_people() -> None:
    """The reference compares it with nothing as well, and finds another type."""
    found = judged(crd(version("v1", {"a": TEXT})), crd(version("v1", {})))
    assert [one.problem.finding.check for one in found] == ["existingFieldRemoval", "type"]
    assert as_text([Definition("as.g", "f", found)]).splitlines()[:3] == [
        "as.g: unsafe",
        "  v1: ^.spec.a: existingFieldRemoval: removed field",
        "  What it means:",
    ]
    left = judged(
        crd(version("v1", {"a": TEXT})), crd(version("v1", {})), waivers=[Waiver.parse("existingFieldRemoval")]
    )
    assert '  v1: ^.spec.a: type: type changed : "string" -> ""' in as_text([Definition("as.g", "f", left)])


@pytest.mark.parametrize(
    ("new", "want"),
    [
        pytest.param(crd(version("v1", {})), ("v1alpha1", "version v1alpha1 is gone"), id="removed"),
        pytest.param(
            crd({**version("v1alpha1", {}), "served": False}, version("v1", {})),
            ("v1alpha1", "version v1alpha1 is no longer served"), id="not served",
        ),
    ],
)  # fmt: skip
def test_versions_that_clients_lose_are_findings_of_ours(new: Schema, want: tuple[str, str]) -> None:
    """v1.md 19: a removed version is not reported there."""
    old = crd(version("v1alpha1", {}), version("v1", {}))
    [found] = judged(old, new)
    assert (found.problem.place[0], found.problem.finding.message) == want
    assert not Definition("as.g", "f", [found]).is_safe
    response = response_to({"old": old, "new": new})
    assert (response["safe"], response["checks"], response["messages"]) == (True, [], [])
    assert [one["check"] for one in response["findings"]] == ["servedVersionRemoval"]
    [waived] = judged(old, new, waivers=[Waiver.parse("v1alpha1: servedVersionRemoval")])
    assert not waived.counts


def test_what_is_lost_is_reported_with_the_objects_that_are_known() -> None:
    stored = [
        {"apiVersion": "g/v1", "kind": "A", "metadata": {"name": f"a{number}", "namespace": "s"}} for number in range(7)
    ]
    [version_gone] = judged(crd(version("v1", {}), version("v2", {})), crd(version("v2", {})), [*stored[:1], {}])
    assert version_gone.problem.finding.message == "version v1 is gone; objects of it here: s/a0"
    [gone] = judged(crd(version("v1", {})), None, stored)
    assert gone.problem.line == (
        "definitionRemoval: the definition is gone, and all its objects with it; objects of it here: "
        "s/a0, s/a1, s/a2, s/a3, s/a4 and 2 more"
    )
    assert not counted(judged(crd(), None, waivers=[Waiver.parse("definitionRemoval")]))


def test_a_removed_field_names_its_version_and_path_in_every_form() -> None:
    old, new = crd(version("v1", {"a": TEXT})), crd(version("v1", {}))
    assert response_to({"old": old, "new": new})["checks"] == [
        ["v1", "^.spec.a", "existingFieldRemoval"],
        ["v1", "^.spec.a", "type"],
    ]
    response = response_to({"old": old, "new": new, "waive": ["v1: ^.spec.a: existingFieldRemoval", "type"]})
    assert (response["safe"], response["checks"]) == (True, [])
    found = judged(old, new)
    [finding, _] = as_values([Definition("as.g", "f", found)])[0]["findings"]
    assert (finding["version"], finding["path"]) == ("v1", "^.spec.a")
    [result, _] = json.loads(as_sarif([Definition("as.g", "f", found)]))["runs"][0]["results"]
    assert result["message"]["text"] == "as.g: v1: ^.spec.a: existingFieldRemoval: removed field"


def test_a_removed_stored_version_has_its_place() -> None:
    old = {**crd(version("v1", {}), version("v2", {})), "status": {"storedVersions": ["v1", "v2"]}}
    response = response_to({"old": old, "new": crd(version("v2", {}))})
    assert response["checks"] == [["", "", "storedVersionRemoval"]]
    assert [(one["version"], one["check"]) for one in response["findings"]] == [
        ("v1", "storedVersionRemoval"),
        ("v1", "servedVersionRemoval"),
    ]


def test_sarif_has_what_its_schema_requires() -> None:
    """SARIF 2.1.0: version and runs, tool.driver.name, rule ids, a message and a location for each result."""
    old, new = crd(version("v1", {"a": TEXT})), crd(version("v1", {"a": WHOLE | {"default": 1}}))
    found = judged(old, new, waivers=[Waiver.parse("default")])
    report = json.loads(as_sarif([Definition("as.g", "k8s/new.yaml", found)]))
    assert (report["version"], report["$schema"].endswith("sarif-2.1.0.json")) == ("2.1.0", True)
    [run] = report["runs"]
    driver = run["tool"]["driver"]
    assert (driver["name"], [rule["id"] for rule in driver["rules"]]) == ("olmf crd diff", ["default", "type"])
    waived = {result["ruleId"]: result.get("suppressions") for result in run["results"]}
    assert waived == {"type": None, "default": [{"kind": "external"}]}
    for result in run["results"]:
        assert (result["level"], result["message"]["text"][:5]) == ("error", "as.g:")
        [place] = result["locations"]
        assert place["physicalLocation"]["artifactLocation"] == {"uri": "k8s/new.yaml"}
        assert place["logicalLocations"] == [{"fullyQualifiedName": "as.g v1 ^.spec.a"}]


CHANGED = (
    crd(version("v1", {"a": TEXT, "b": TEXT}), version("v2", {"a": TEXT, "b": TEXT})),
    crd(version("v1", {"a": WHOLE}), version("v2", {"a": WHOLE, "b": TEXT})),
)


@pytest.mark.parametrize(
    ("waiver", "left"),
    [
        ("type", {"existingFieldRemoval"}),
        ("v1: type", {"existingFieldRemoval", "type"}),
        ("^.spec.a: type", {"existingFieldRemoval", "type"}),
        ("v1: ^.spec.b: existingFieldRemoval", {"type"}),
        ("v2: ^.spec.b: existingFieldRemoval", {"existingFieldRemoval", "type"}),
        ("scope", {"existingFieldRemoval", "type"}),
    ],
)
def test_a_waiver_covers_what_it_names(waiver: str, left: set[str]) -> None:
    found = judged(*CHANGED, waivers=[Waiver.parse(waiver)])
    assert {problem.finding.check for problem in counted(found)} == left
    assert len(found) == len(judged(*CHANGED))


def test_waivers_name_versions_and_paths_together() -> None:
    places = ("v1: ^.spec.a: type", "v2: ^.spec.a: type", "v1: ^.spec.b: type", "existingFieldRemoval")
    assert counted(judged(*CHANGED, waivers=list(map(Waiver.parse, places)))) == []
    assert response_to({"old": CHANGED[0], "new": CHANGED[1], "waive": list(places)})["safe"] is True


@pytest.mark.parametrize(
    ("waiver", "want"),
    [("typo", "there is no check 'typo'; there are "), ("v1: v2: type", "wanted VERSION: PATH: CHECK")],
)
def test_waivers_that_are_none(waiver: str, want: str) -> None:
    with pytest.raises(InvalidRequest, match=want):
        Waiver.parse(waiver)


@pytest.mark.parametrize("conversion", ["", "Webhook"])
def test_stored_objects_count_unless_a_webhook_converts_them(conversion: str) -> None:
    """catalog.md 4.8: with a webhook a violation is a warning."""
    old, new = crd(version("v1", {"a": {}})), crd(version("v1", {"a": {"minimum": 3}}), conversion=conversion)
    stored = {"apiVersion": "g/v1", "kind": "A", "metadata": {"name": "one"}, "spec": {"a": 2}}
    response = response_to({"old": old, "new": new, "objects": [stored], "waive": ["minimum"]})
    assert response["safe"] is bool(conversion)
    assert response["checks"] == ([] if conversion else [["v1", "^.spec.a", "storedObject"]])
    [judgement] = [one for one in judged(old, new, [stored]) if one.problem.finding.check == "storedObject"]
    assert "one: Invalid value: 2: spec.a in body should be greater than" in judgement.problem.line
    definition = Definition("as.g", "f", [judgement])
    assert ("does not count: v1: ^.spec.a: storedObject" in as_text([definition])) is bool(conversion)
