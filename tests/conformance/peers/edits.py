"""What is changed in a peer's checkout before it is built, each change with its reason; the checkout stays as it is.

Go's `-overlay` puts the changed files in place of those of the checkout.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Edit:
    """One text of a file, replaced wherever it stands."""

    file: str
    """Path inside the checkout."""
    before: str
    after: str
    why: str

    def applied(self, text: str) -> str:
        """The text of the file with the change. EditError."""
        if self.before not in text:
            raise EditError(f"{self.file}: {self.before!r} is not there; wanted the commit of the report")
        return text.replace(self.before, self.after)


UTIL = "test/e2e/util.go"
OLM_EDITS = (
    Edit(
        UTIL, "pollDuration = 5 * time.Minute", "pollDuration = 90 * time.Second",
        "what takes us longer than a minute and a half does not come any more",
    ),
    Edit(
        "test/e2e/e2e_test.go", "SetDefaultConsistentlyDuration(30 * time.Second)",
        "SetDefaultConsistentlyDuration(8 * time.Second)", "what changes nothing for so long stays as it is",
    ),
    Edit(
        UTIL,
        "func awaitPods(t GinkgoTInterface, c operatorclient.ClientInterface, namespace, selector string, "
        "checkPods podsCheckFunc) (*corev1.PodList, error) {\n",
        "func awaitPods(t GinkgoTInterface, c operatorclient.ClientInterface, namespace, selector string, "
        "checkPods podsCheckFunc) (*corev1.PodList, error) {\n"
        '\tif strings.Contains(selector, "olm.catalogSource") {\n'
        "\t\treturn &corev1.PodList{Items: make([]corev1.Pod, 1)}, nil\n\t}\n",
        "no pod serves a catalog",
    ),
    Edit(
        "test/e2e/catalog_e2e_test.go", "Expect(initialPods.Items).To(HaveLen(1))",
        "Expect(initialPods.Items).To(BeEmpty())", "no pod serves a catalog",
    ),
    Edit(
        "test/e2e/fail_forward_e2e_test.go", 'By("updating the catalog with a new bundle images")',
        'By("waiting for the end of the ConfigMap of the catalog")\n\tEventually(func() error {\n'
        "\t\t_, err := ctx.Ctx().KubeClient().KubernetesInterface().CoreV1().ConfigMaps(namespace).Get("
        'context.Background(), name+"-configmap", metav1.GetOptions{})\n\t\treturn err\n\t}).ShouldNot(Succeed())\n'
        '\tBy("updating the catalog with a new bundle images")',
        "it is collected with its catalog; for that the suite relies on the time that the end of a pod takes",
    ),
)  # fmt: skip


class EditError(Exception):
    """A checkout has not the text that is to be replaced: it is of another commit."""


def overlay(checkout: Path, edits: tuple[Edit, ...], folder: Path) -> Path:
    """Write the changed files into a folder; returns the file that names them to Go. EditError."""
    changed: dict[str, str] = {}
    for edit in edits:
        changed[edit.file] = edit.applied(changed.get(edit.file) or (checkout / edit.file).read_text())
    replaced = {}
    for number, (file, text) in enumerate(changed.items()):
        made = folder / f"{number}-{Path(file).name}"
        made.write_text(text)
        replaced[str(checkout / file)] = str(made)
    listing = folder / "overlay.json"
    listing.write_text(json.dumps({"Replace": replaced}))
    return listing
