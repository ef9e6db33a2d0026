"""What keeps pods apart and in bounds: NetworkPolicies, PodSecurity, probes."""

from __future__ import annotations

import subprocess

from shared.kinds import POD
from tests.conformance.node.in_pods import IMAGE, OURS, InPods
from tests.kit.waiting import wait_for

ASK = """
import socket
for host, port in (%s):
    try:
        socket.create_connection((host, port), 3).close()
        print(port, "open")
    except OSError as error:
        print(port, "closed")
"""
WEIGH = """
import os, shutil
files = (os.lstat(os.path.join(place, name)) for place, _, names in os.walk("/") for name in names
         if not place.startswith(("/proc", "/sys", "/dev")))
print(sum(file.st_size for file in files))
print([name for name in ("pip", "pip3", "cc", "gcc") if shutil.which(name)])
"""
IMAGE_MEGABYTES = 250
MUST = {6379: "closed", 8080: "closed", 8081: "closed", 443: "open", 50051: "open"}
"""Redis is for our programs only, metrics for who measures, the health of a worker for the kubelet; catalogs are for
everybody, as with OLM."""
MEASURING = {"metrics": "enabled"}
REDIS_IS_MISSED_BY = ("olmf-worker", "olmf-scheduler")


def keeps_networks_apart(host: InPods) -> str:
    """From a pod of another namespace, from one of a namespace that measures, from one with the label of ours."""
    worker = next(pod for pod in host.cluster.list(POD, OURS) if pod["metadata"]["name"].startswith("olmf-worker"))
    targets = (
        ("olmf-redis.olm.svc", 6379), ("olmf-watch.olm.svc", 8080), (worker["status"]["podIP"], 8081),
        ("olmf-catalogs.olm.svc", 443), ("olmf-catalogs.olm.svc", 50051),
    )  # fmt: skip
    asks = "import time; time.sleep(2)" + ASK % f"*{targets!r},"
    with host.namespaces("stranger"):
        assert asked(host, asks, "stranger") == MUST
    with host.namespaces("measuring", labels=MEASURING):
        assert asked(host, asks, "measuring") == MUST | {8080: "open"}
    ours = {"app.kubernetes.io/part-of": "olm-functions"}
    output = host.output("import time; time.sleep(2)" + ASK % f"{targets[0]!r},", OURS, ours)
    assert output.strip() == "6379 open", output
    return (
        "from another namespace: Redis, metrics and the health of a worker closed, catalogs open; "
        "from one that measures: metrics open; from a pod of ours: Redis open"
    )


def asked(host: InPods, script: str, namespace: str) -> dict[int, str]:
    """What a pod there finds open and closed, by port."""
    return {int(line.split()[0]): line.split()[1] for line in host.output(script, namespace).splitlines()}


def admits_restricted_pods(host: InPods) -> str:
    """A privileged pod is refused in our namespace, and none of ours runs as root."""
    words = ("run", "bad", f"--image={IMAGE}", "--privileged", "--restart=Never")
    try:
        host.kubectl(*words)
    except subprocess.CalledProcessError as error:
        refusal = str(error.stderr)
    else:
        raise AssertionError("a privileged pod was admitted")
    assert 'violates PodSecurity "restricted' in refusal, refusal
    users = set(
        host.kubectl("exec", "deploy/olmf-worker", "--", "python", "-c", "import os; print(os.getuid())").split()
    )
    assert users == {"1001"}, users
    return 'a privileged pod is refused (violates PodSecurity "restricted:latest"); ours run as user 1001'


def is_small(host: InPods) -> str:
    """The files of the image, as a pod sees them: below the bound, and nothing that builds or installs."""
    weight, tools = host.output(WEIGH, OURS).splitlines()
    megabytes = int(weight) / 1e6
    assert megabytes <= IMAGE_MEGABYTES, f"{megabytes:.0f} MB"
    assert tools == "[]", tools
    return f"{megabytes:.0f} MB in all, no pip and no compiler"


def probes_report(host: InPods) -> str:
    """Without Redis who needs it is not Ready, and nothing is restarted; then all are Ready again."""
    before = [(name, restarts) for name, restarts, _ in host.pods()]
    host.kubectl("scale", "deploy/olmf-redis", "--replicas=0")
    try:
        wait_for(
            lambda: not any(is_ready for name, _, is_ready in host.pods() if name.startswith(REDIS_IS_MISSED_BY)),
            "that they are not Ready",
        )
    finally:
        host.kubectl("scale", "deploy/olmf-redis", "--replicas=1")
    host.until_ready()
    assert [(name, restarts) for name, restarts, _ in host.pods()] == before, host.pods()
    return "without Redis worker and scheduler are not Ready; with it all are; nothing restarted"
