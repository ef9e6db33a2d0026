"""What is changed of the scenarios and steps of operator-controller, each change with its reason."""

from __future__ import annotations

from shared.names import KUBELET_FAIL
from tests.conformance.peers.edits import Edit

STEPS, HOOKS = "test/e2e/steps/steps.go", "test/e2e/steps/hooks.go"
TLS = "test/e2e/steps/tls_steps.go"
BUNDLES, REVISION = "test/internal/catalog/bundle.go", "test/e2e/features/revision.feature"
NO_PULL = "the simulated node pulls no image: it is told which does not exist"
DELAY = "the simulated node asks no probe: what a container needs is late instead"
LATE = 'ClusterObjectSet "${COS_NAME}" reports Progressing as False with Reason ProgressDeadlineExceeded'
DONE = 'ClusterObjectSet "${COS_NAME}" reports Progressing as True with Reason Succeeded'

STEP_EDITS = (
    Edit(
        STEPS,
        "startRegistryPortForward = sync.OnceValues(func() (string, error) {\n",
        "startRegistryPortForward = sync.OnceValues(func() (string, error) {\n"
        '\t\tif host := os.Getenv("PEER_REGISTRY"); host != "" {\n\t\t\treturn host, nil\n\t\t}\n',
        "the registry is no Pod",
    ),
    Edit(
        STEPS, 'fmt.Sprintf("https://%s%s", addr, endpoint)', 'fmt.Sprintf("http://%s%s", addr, endpoint)',
        "our metrics are served without TLS, to whom NetworkPolicies let through",
    ),
    Edit(
        TLS,
        "\tport, err := metricsPort(svc)\n\tif err != nil {\n\t\treturn err\n\t}\n\n\taddr, cleanup",
        "\tport := int32(443)\n\n\taddr, cleanup",
        "what is served over TLS are catalogs: they are asked",
    ),
    Edit(HOOKS, '\t"os/exec"\n', '\t"os"\n\t"os/exec"\n', "for the next one"),
    Edit(HOOKS, "sc.Id", 'os.Getenv("PEER_SCENARIO")', "each scenario is a run of its own, and counts from one"),
    Edit(
        BUNDLES,
        '\t\t\t\t\t\t"app": scenarioID,\n\t\t\t\t\t},\n\t\t\t\t},\n\t\t\t\tSpec: corev1.PodSpec{\n',
        '\t\t\t\t\t\t"app": scenarioID,\n\t\t\t\t\t},\n\t\t\t\t\tAnnotations: annotationsFor(containerImage),\n'
        "\t\t\t\t},\n\t\t\t\tSpec: corev1.PodSpec{\n",
        NO_PULL,
    ),
    Edit(
        BUNDLES,
        "// buildCRD creates",
        'func annotationsFor(image string) map[string]string {\n\tif image != "wrong/image" {\n\t\treturn nil\n\t}\n'
        f'\treturn map[string]string{{"{KUBELET_FAIL}": "no such image"}}\n}}\n\n// buildCRD creates',
        NO_PULL,
    ),
)  # fmt: skip

FEATURE_EDITS = (
    Edit(
        REVISION,
        "                      app: never-ready\n                  spec:\n",
        "                      app: never-ready\n"
        f'                    annotations: {{{KUBELET_FAIL}: "no such image"}}\n'
        "                  spec:\n",
        NO_PULL,
    ),
    Edit(
        REVISION,
        "                      readinessProbe:\n                        exec:\n"
        '                          command: ["true"]\n'
        "                        initialDelaySeconds: 65\n",
        "                      envFrom: [{configMapRef: {name: delay}}]\n",
        DELAY,
    ),
    Edit(
        REVISION,
        f"    Then {LATE}\n    And {DONE}",
        f'    Then {LATE}\n    When resource is applied\n      """\n      apiVersion: v1\n      kind: ConfigMap\n'
        '      metadata:\n        name: delay\n        namespace: ${TEST_NAMESPACE}\n      """\n'
        f"    Then {DONE}",
        DELAY,
    ),
)
