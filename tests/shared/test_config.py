"""Settings come from the environment, and a bad value stops the process with its name."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from shared.config import SettingError, Settings


def test_defaults_need_no_environment() -> None:
    assert Settings.read({}) == Settings()


def test_each_type_of_setting_is_read() -> None:
    values = Settings.read(
        {
            "OLMF_LEASE_SECONDS": "7",
            "OLMF_LOG_JSON": "false",
            "OLMF_CONTENT": "/tmp/x",
            "OLMF_STEPS": "bundle, subscription",
            "OLMF_UNPACK": "direct",
            "OLMF_UNPACK_TIMEOUT": "90",
        }
    )
    assert (values.lease_seconds, values.log_json, values.content) == (7, False, Path("/tmp/x"))
    assert values.steps == ("bundle", "subscription")
    assert (values.policy.unpack, values.policy.unpack_timeout) == ("direct", timedelta(seconds=90))


def test_the_usual_names_of_redis_and_kubeconfig_are_known_and_ours_win() -> None:
    usual = {"REDIS_URL": "redis://a", "KUBECONFIG": "/k"}
    assert Settings.read(usual).redis_url == "redis://a"
    assert Settings.read(usual).kubeconfig == "/k"
    assert Settings.read({**usual, "OLMF_REDIS_URL": "redis://b"}).redis_url == "redis://b"


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param("OLMF_LEASE_SECONDS", "soon", id="not a number"),
        pytest.param("OLMF_LOG_JSON", "perhaps", id="not a boolean"),
        pytest.param("OLMF_UNPACK", "magic", id="not one of the choices"),
        pytest.param("OLMF_UNPACK_TIMEOUT", "ten", id="not a duration in seconds"),
        pytest.param("OLMF_UNPACK_TIMEOUT", "inf", id="a duration without end"),
        pytest.param("OLMF_LANE", "slow", id="not a lane"),
        pytest.param("OLMF_RUN_SECONDS", "0", id="no time"),
        pytest.param("OLMF_LONG_RUNS_PER_NAMESPACE", "-1", id="fewer than none"),
        pytest.param("OLMF_RUN_MEMORY_BYTES", "1000000", id="less memory than the worker itself needs"),
        pytest.param("OLMF_PULL_SECONDS", "0", id="no time for a pull; it does not mean without end"),
        pytest.param("OLMF_PULL_SLOW_SECONDS", "0", id="no patience with any registry"),
        pytest.param("OLMF_PULL_BYTES", "0", id="nothing may come"),
        pytest.param("OLMF_HEALTH_PORT", "-1", id="not a port"),
        pytest.param("OLMF_SINK", "sink.example:80", id="not a URL"),
    ],
)
def test_a_bad_value_is_refused_with_its_name(name: str, text: str) -> None:
    with pytest.raises(SettingError, match=f"{name}='{text}'"):
        Settings.read({name: text})


def test_a_platform_may_choose_the_port() -> None:
    assert Settings.read({"PORT": "5000"}).port == 5000
    assert Settings.read({"PORT": "5000", "OLMF_PORT": "6000"}).port == 6000
    with pytest.raises(SettingError, match="PORT='x'"):
        Settings.read({"PORT": "x"})


@pytest.mark.parametrize(
    ("environ", "want"),
    [
        pytest.param({}, False, id="nobody wants any"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}, True, id="an address for all signals"),
        pytest.param({"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/v1/traces"}, True, id="an address for traces"),
        pytest.param({"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": "http://c/v1/metrics"}, False, id="one for other signals"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": ""}, False, id="an empty address"),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_SDK_DISABLED": "True"}, False, id="disabled"),
        pytest.param(
            {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OTEL_TRACES_EXPORTER": "none"}, False, id="no traces"
        ),
        pytest.param({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://c", "OLMF_TRACES": "false"}, False, id="ours wins"),
        pytest.param({"OLMF_TRACES": "true"}, True, id="to the default address"),
    ],
)
def test_the_standard_variables_of_opentelemetry_turn_traces_on(environ: dict[str, str], *, want: bool) -> None:
    assert Settings.read(environ).traces is want
