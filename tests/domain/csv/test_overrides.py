from typing import Any

import pytest

from shared.api.manifest import Manifest
from shared.api.views import Csv, Proxy, Subscription
from shared.domain.csv.overrides import config_of, overridden, proxied
from tests.domain.csv.builders import a_csv


def a_pod(**more: Any) -> Manifest:
    return {"containers": [{"name": "c"}], **more}


def a_container(**more: Any) -> Manifest:
    return {"name": "c", **more}


def env(**values: str) -> list[Manifest]:
    return [{"name": name, "value": value} for name, value in values.items()]


@pytest.mark.parametrize(
    ("container", "config", "want"),
    [
        pytest.param({}, {"env": env(A="1")}, {"env": env(A="1")}, id="csv.md 18 row 81: env, none before"),
        pytest.param(
            {"env": env(A="1")}, {"env": env(B="2")}, {"env": env(A="1", B="2")}, id="csv.md 6.3: env, appended"
        ),
        pytest.param(
            {"env": env(A="1", B="2")}, {"env": env(C="3", A="9")}, {"env": env(A="9", B="2", C="3")},
            id="csv.md 6.3: env, replaced in place",
        ),
        pytest.param(
            {"env": [*env(A="1"), *env(A="2")]}, {"env": env(A="9")}, {"env": [*env(A="9"), *env(A="9")]},
            id="csv.md 19-26: a name that occurs twice stays a name",
        ),
        pytest.param(
            {"envFrom": [{"prefix": "a"}]}, {"envFrom": [{"prefix": "a"}, {"prefix": "b"}, {"prefix": "b"}]},
            {"envFrom": [{"prefix": "a"}, {"prefix": "b"}]}, id="csv.md 6.3: envFrom, appended unless equal",
        ),
        pytest.param(
            {"volumeMounts": [{"name": "a", "mountPath": "/1"}]}, {"volumeMounts": [{"name": "a", "mountPath": "/2"}]},
            {"volumeMounts": [{"name": "a", "mountPath": "/2"}]}, id="csv.md 6.3: volumeMounts, by name",
        ),
        pytest.param(
            {"resources": {"limits": {"cpu": 1}}}, {"resources": {"requests": {"cpu": 2}}},
            {"resources": {"requests": {"cpu": 2}}}, id="csv.md 6.3: resources, replaced",
        ),
        pytest.param({"resources": {"limits": {}}}, {"resources": {}}, {}, id="catalog.md 3.2: resources, cleared"),
        pytest.param({"resources": {"limits": {}}}, {}, {"resources": {"limits": {}}}, id="csv.md 6.3: resources"),
    ],
)  # fmt: skip
def test_containers(container: Manifest, config: Manifest, want: Manifest) -> None:
    pod = {"containers": [a_container(**container), a_container(**container)]}
    assert overridden(pod, config)["containers"] == [a_container(**want)] * 2


NODE, POD, ANTI = {"nodeAffinity": {"n": 1}}, {"podAffinity": {"p": 1}}, {"podAntiAffinity": {"a": 1}}


@pytest.mark.parametrize(
    ("before", "config", "want"),
    [
        pytest.param(
            {"volumes": [{"name": "a", "x": 1}]}, {"volumes": [{"name": "a", "x": 2}, {"name": "b"}]},
            {"volumes": [{"name": "a", "x": 2}, {"name": "b"}]}, id="csv.md 6.3: volumes, by name",
        ),
        pytest.param(
            {"tolerations": [{"key": "a"}]}, {"tolerations": [{"key": "a"}, {"key": "b"}]},
            {"tolerations": [{"key": "a"}, {"key": "b"}]}, id="csv.md 6.3: tolerations, appended unless equal",
        ),
        pytest.param(
            {"nodeSelector": {"a": "1"}}, {"nodeSelector": {"b": "2"}}, {"nodeSelector": {"b": "2"}},
            id="csv.md 6.3: nodeSelector, replaced",
        ),
        pytest.param({"nodeSelector": {"a": "1"}}, {"nodeSelector": {}}, {}, id="csv.md 18 row 82: cleared"),
        pytest.param(
            {"nodeSelector": {"a": "1"}}, {"nodeSelector": None}, {"nodeSelector": {"a": "1"}},
            id="csv.md 18 row 82: nodeSelector, unchanged",
        ),
        pytest.param({"affinity": NODE}, {}, {"affinity": NODE}, id="csv.md 6.3: affinity, untouched"),
        pytest.param({"affinity": NODE}, {"affinity": {}}, {}, id="csv.md 18 row 83: affinity, removed"),
        pytest.param({}, {"affinity": NODE}, {"affinity": NODE}, id="csv.md 6.3: affinity, none before"),
        pytest.param(
            {"affinity": {**NODE, **POD}}, {"affinity": {"nodeAffinity": {"n": 2}}},
            {"affinity": {"nodeAffinity": {"n": 2}, **POD}}, id="csv.md 18 row 83: affinity, the others are kept",
        ),
        pytest.param(
            {"affinity": {**NODE, **POD}}, {"affinity": {"nodeAffinity": {"n": 2}, "podAffinity": {}}},
            {"affinity": {"nodeAffinity": {"n": 2}}}, id="csv.md 18 row 83: affinity, one replaced and one cleared",
        ),
        pytest.param(
            {"affinity": {**NODE, **ANTI}}, {"affinity": {"podAntiAffinity": {}, "podAffinity": None}},
            {"affinity": NODE}, id="csv.md 19-26: an empty podAntiAffinity clears itself only",
        ),
        pytest.param({"affinity": NODE}, {"affinity": {"nodeAffinity": {}}}, {}, id="csv.md 6.3: nothing left"),
    ],
)  # fmt: skip
def test_pods(before: Manifest, config: Manifest, want: Manifest) -> None:
    assert overridden(a_pod(**before), config) == a_pod(**want)


def test_init_containers_are_left_alone_csv_md_6_3() -> None:
    pod = a_pod(initContainers=[a_container()])
    assert overridden(pod, {"env": env(A="1"), "resources": {"x": 1}})["initContainers"] == [a_container()]


@pytest.mark.parametrize(
    ("installed", "want"),
    [
        pytest.param(["b", "a.v1", "a.v1"], {"n": 1}, id="csv.md 6.3: the first that installed the version"),
        pytest.param(["b"], {}, id="csv.md 6.3: none"),
    ],
)
def test_config_of(installed: list[str], want: Manifest) -> None:
    subscriptions = [
        {"spec": {"config": {"n": index}}, "status": {"installedCSV": name}} for index, name in enumerate(installed)
    ]
    assert config_of(Csv(a_csv()), Subscription.each(subscriptions)) == want


def test_a_subscription_without_config_changes_nothing() -> None:
    assert config_of(Csv(a_csv()), [Subscription({"spec": {}, "status": {"installedCSV": "a.v1"}})]) == {}


DECLARED = {"httpProxy": "http://p:1", "httpsProxy": "http://p:2", "noProxy": ".svc"}
ALL_THREE = env(HTTP_PROXY="http://p:1", HTTPS_PROXY="http://p:2", NO_PROXY=".svc")


@pytest.mark.parametrize(
    ("status", "own", "want"),
    [
        pytest.param(DECLARED, [], ALL_THREE, id="csv.md 6.3: all of it"),
        pytest.param(DECLARED, env(A="1"), [*env(A="1"), *ALL_THREE], id="csv.md 6.3: behind what the user wants"),
        pytest.param({"httpProxy": "http://p:1", "noProxy": ""}, [], ALL_THREE[:1], id="csv.md 6.3: no empty ones"),
        pytest.param(DECLARED, env(NO_PROXY="x"), env(NO_PROXY="x"), id="csv.md 18 row 80: one is named, none comes"),
        pytest.param(DECLARED, env(HTTP_PROXY=""), env(HTTP_PROXY=""), id="csv.md 18 row 80: unset on purpose"),
        pytest.param({}, env(A="1"), env(A="1"), id="csv.md 6.3: there is no proxy"),
    ],
)  # fmt: skip
def test_the_proxy_of_the_cluster(status: Manifest, own: list[Manifest], want: list[Manifest]) -> None:
    assert proxied({"env": own}, Proxy({"status": status})) == {"env": want}


def test_without_a_proxy_the_config_stays_csv_md_6_3() -> None:
    assert proxied({"tolerations": []}, None) == {"tolerations": []}
    assert proxied({}, Proxy({"status": {}})) == {}
