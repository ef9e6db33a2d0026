"""The rules that enforce NetworkPolicies on the node say what the policies say."""

from __future__ import annotations

from typing import Any

import pytest

from tests.conformance.node.policies import World, matches, rules


def a_pod(name: str, address: str, namespace: str = "olm", **labels: str) -> dict[str, Any]:
    ports = [{"name": "http", "containerPort": 8080}]
    return {
        "metadata": {"name": name, "namespace": namespace, "uid": f"{name}-uid", "labels": labels},
        "spec": {"containers": [{"ports": ports}]}, "status": {"podIP": address, "phase": "Running"},
    }  # fmt: skip


def a_policy(**spec: Any) -> dict[str, Any]:
    return {"metadata": {"namespace": "olm"}, "spec": {"podSelector": {"matchLabels": {"app": "redis"}}, **spec}}


WORLD = World(
    {"olm": {}, "sea": {"team": "blue"}},
    (
        a_pod("redis", "10.0.0.2", app="redis"), a_pod("worker", "10.0.0.3", part="ours"),
        a_pod("guest", "10.0.0.4", "sea"),
    ),
    (),
)  # fmt: skip


def table(*policies: dict[str, Any]) -> str:
    return rules(World(WORLD.spaces, WORLD.pods, policies))


PORT = [{"port": 6379, "protocol": "TCP"}]


@pytest.mark.parametrize(
    ("rule", "lines"),
    [
        ({"from": [{"podSelector": {"matchLabels": {"part": "ours"}}}], "ports": PORT},
         "ip saddr 10.0.0.3 tcp dport 6379 return; counter drop;"),
        ({"from": [{"namespaceSelector": {"matchLabels": {"team": "blue"}}}]},
         "ip saddr 10.0.0.4 return; counter drop;"),
        ({"from": [{"ipBlock": {"cidr": "10.1.0.0/16", "except": ["10.1.2.0/24"]}}]},
         "ip saddr 10.1.0.0/16 ip saddr != { 10.1.2.0/24 } return; counter drop;"),
        ({"ports": [{"port": "http"}, {"port": 5, "endPort": 9, "protocol": "UDP"}]},
         "tcp dport 8080 return; udp dport 5-9 return; counter drop;"),
        ({}, "return; counter drop;"),
    ],
)  # fmt: skip
def test_who_may_come_in(rule: dict[str, Any], lines: str) -> None:
    assert f"chain ingress_redisuid {{ {lines} }}" in table(a_policy(ingress=[rule]))


def test_a_direction_that_no_policy_is_about_is_open() -> None:
    text = table(a_policy(policyTypes=["Ingress"]))
    assert "chain ingress_redisuid { counter drop; }" in text
    assert "ip daddr vmap { 10.0.0.2 : jump ingress_redisuid }" in text
    assert "egress_" not in text


@pytest.mark.parametrize(
    ("operator", "values", "holds"),
    [
        ("In", ["a"], True),
        ("In", ["b"], False),
        ("NotIn", ["b"], True),
        ("Exists", [], True),
        ("DoesNotExist", [], False),
    ],
)
def test_expressions(operator: str, values: list[str], holds: bool) -> None:
    assert (
        matches({"matchExpressions": [{"key": "app", "operator": operator, "values": values}]}, {"app": "a"}) == holds
    )
