"""What is changed of the specs of Operator Lifecycle Manager, each change with its reason."""

from __future__ import annotations

from tests.conformance.peers.edits import Edit

UTIL, CATALOGS = "test/e2e/util.go", "test/e2e/catalog_e2e_test.go"
REGISTRY = "test/e2e/registry.go"
COPIED = (
    "\tinitialPods, err := c.KubernetesInterface().CoreV1().Pods(catalog.GetNamespace()).List(context.Background(), "
    'metav1.ListOptions{LabelSelector: "olm.catalogSource=" + catalog.GetName()})\n'
    "\tExpect(err).ToNot(HaveOccurred())\n\tExpect(initialPods.Items).To(HaveLen(1))\n\n\tpod := initialPods.Items[0]\n"
)
SERVED = (
    "\tconfigMaps := c.KubernetesInterface().CoreV1().ConfigMaps(catalog.GetNamespace())\n"
    "\tcontent, err := configMaps.Get(context.Background(), catalog.Spec.ConfigMap, metav1.GetOptions{})\n"
    "\tExpect(err).ToNot(HaveOccurred())\n"
    '\tcontent.ObjectMeta = metav1.ObjectMeta{Namespace: catalog.GetNamespace(), Name: catalog.GetName() + "-copy"}\n'
    "\t_, err = configMaps.Create(context.Background(), content, metav1.CreateOptions{})\n"
    "\tExpect(err).ToNot(HaveOccurred())\n"
    "\tpod := (&MagicCatalog{configMapName: content.GetName()}).makeCatalogSourcePod()\n"
)
MEASURES = 'getMetricsFromPod(ctx.Ctx().KubeClient(), getPodWithLabel(ctx.Ctx().KubeClient(), "app=catalog-operator"))'
RESTART = 'By("Rescaling catalog operator...")'
STARTED = """It("The registry pod comes up successfully", func() {
				Eventually(func() (bool, error) {
					podList, err := c.KubernetesInterface().CoreV1().Pods(generatedNamespace.GetName()).List(context.TODO(), metav1.ListOptions{})
					if err != nil {
						return false, err
					}
					for _, pod := range podList.Items {
						if pod.ObjectMeta.OwnerReferences != nil && pod.ObjectMeta.OwnerReferences[0].Name == sourceName {
							if pod.Status.ContainerStatuses != nil {
								if *pod.Status.ContainerStatuses[0].Started == true {
									return true, nil
								}
							}
						}
					}
					return false, nil
				}).Should(BeTrue())
"""  # noqa: E501
READY = """It("The registry pod comes up successfully", func() {
				_, err := fetchCatalogSourceOnStatus(crc, sourceName, generatedNamespace.GetName(), catalogSourceRegistryPodSynced())
				Expect(err).ToNot(HaveOccurred())
"""  # noqa: E501
POLLED = """Image:      "quay.io/olmtest/catsrc-update-test:new",
					GrpcPodConfig: &v1alpha1.GrpcPodConfig{
						SecurityContextConfig: v1alpha1.Restricted,
					},
					UpdateStrategy: &v1alpha1.UpdateStrategy{
						RegistryPoll: &v1alpha1.RegistryPoll{
							RawInterval: "45s",
"""
POD_READY = """			Eventually(func() (bool, error) {
				podList, err := c.KubernetesInterface().CoreV1().Pods(source.GetNamespace()).List(context.Background(), metav1.ListOptions{LabelSelector: selector.String()})
				if err != nil {
					return false, err
				}

				for _, p := range podList.Items {
					if podReady(&p) {
						return true, nil
					}
					return false, nil
				}

				return false, nil
			}).Should(BeTrue())
"""  # noqa: E501
CATALOG_READY = """			_, err = fetchCatalogSourceOnStatus(crc, source.GetName(), source.GetNamespace(), catalogSourceRegistryPodSynced())
			Expect(err).ToNot(HaveOccurred())
"""  # noqa: E501
POD_OF_POLL = """			By("Wait roughly the polling interval for update pod to show up")
			updateSelector := labels.SelectorFromSet(map[string]string{"catalogsource.operators.coreos.com/update": source.GetName()})
			updatePods, err := awaitPodsWithInterval(GinkgoT(), c, source.GetNamespace(), updateSelector.String(), 5*time.Second, 2*time.Minute, singlePod)
			Expect(err).ToNot(HaveOccurred())
			Expect(updatePods).ToNot(BeNil())
			Expect(updatePods.Items).To(HaveLen(1))

			By("No update to image: update pod should be deleted quickly")
			noPod := podCount(0)
			updatePods, err = awaitPodsWithInterval(GinkgoT(), c, source.GetNamespace(), updateSelector.String(), 1*time.Second, 30*time.Second, noPod)
			Expect(err).ToNot(HaveOccurred())
			Expect(updatePods.Items).To(HaveLen(0))
"""  # noqa: E501
REQUESTS_OF_POLL = """			var interval time.Duration
			requests := func() int {
				log, err := os.ReadFile(os.Getenv("PEER_REGISTRY_LOG"))
				Expect(err).ToNot(HaveOccurred())
				return strings.Count(string(log), "catsrc-update-test/manifests/polled")
			}
			for range 2 {
				By("Wait for the next poll")
				time.Sleep(10 * time.Second)
				before, since := requests(), time.Now()
				Eventually(requests, 2*time.Minute, time.Second).Should(BeNumerically(">", before))
				interval = time.Since(since) + 10*time.Second
			}
			Expect(interval).To(BeNumerically("~", 45*time.Second, 15*time.Second))
"""
FORWARDED = """	for range 300 {
		if there, err := net.Dial("tcp", localFQDN); err == nil {
			return there.Close()
		}
		time.Sleep(100 * time.Millisecond)
	}
	return fmt.Errorf("nothing answers at %s", localFQDN)
}
"""
GONE = (
    "_, err := c.GetDeployment(generatedNamespace.GetName(), deploymentName)\n"
    '\t\t\tg.Expect(k8serror.IsNotFound(err)).To(BeTrue(), "deployment should be deleted")'
)
GONE_OR_BACK = (
    "deployment, err := c.GetDeployment(generatedNamespace.GetName(), deploymentName)\n"
    "\t\t\tg.Expect(k8serror.IsNotFound(err) || err == nil && deployment.UID != deploymentUID).To(BeTrue(), "
    '"deployment should be deleted")'
)
LABELLED = "\t\tEventually(Apply({}, setComponentLabel)).Should(Succeed())\n"
REFERRED = "\t\tcomponentRefEventuallyExists(w, true, getReference(scheme, {}))\n"
TOLD = (
    '\n\t\tBy("Ensure o\'s status.components.refs field eventually contains references to sa-a and sa-b")\n'
    '\t\tBy("eventually listing multiple component references")\n'
)

OLM_EDITS = (
    Edit(
        CATALOGS, COPIED, SERVED,
        "no pod serves a catalog: in place of a copy of it a pod is made that serves a copy of the ConfigMap",
    ),
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
        CATALOGS, "Expect(initialPods.Items).To(HaveLen(1))",
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
    Edit(
        CATALOGS, STARTED, READY, "no pod serves a catalog: here it has to be ready in such a namespace",
    ),
    Edit(
        CATALOGS,
        "awaitPodsWithInterval(GinkgoT(), c, source.GetNamespace(), selector.String(), 30*time.Second, 10*time.Minute, "
        "podCheckFunc)",
        "awaitPods(GinkgoT(), c, source.GetNamespace(), selector.String(), podCheckFunc)",
        "no pod serves a catalog; that the newer image is used shows in the version that it brings",
    ),
    Edit(CATALOGS, '"net"\n', '"net"\n\t"os"\n', "the next one needs it"),
    Edit(CATALOGS, POLLED, POLLED.replace(":new", ":polled"), "only this spec asks for that image"),
    Edit(CATALOGS, POD_READY, CATALOG_READY, "no pod serves a catalog"),
    Edit(
        CATALOGS, POD_OF_POLL, REQUESTS_OF_POLL,
        "a poll needs no pod: it asks the registry for the digest, and the registry notes that",
    ),
    Edit(
        CATALOGS, RESTART, f"{MEASURES}\n\t\t{RESTART}",
        "our program is seen through the pod of the Deployment, and ends when another one stands there",
    ),
    Edit(
        CATALOGS, 'By("check for last synced update to catalogsource")\n',
        f"{MEASURES}\n"
        '\t\tBy("changing the catalog")\n'
        "\t\tmore := registry.PackageManifest{PackageName: packageName + \"-more\", Channels: manifests[0].Channels, "
        "DefaultChannelName: stableChannel}\n"
        "\t\tupdateInternalCatalog(GinkgoT(), c, crc, catalogSourceName, generatedNamespace.GetName(), "
        "[]apiextensionsv1.CustomResourceDefinition{crd}, []v1alpha1.ClusterServiceVersion{csv}, "
        "append(manifests, more))\n",
        "a restart alone writes nothing; that the catalog is loaded after it shows when its content changes",
    ),
    Edit(REGISTRY, "\treturn nil\n}\n", FORWARDED, "the port-forward is begun, and does not lead anywhere yet"),
    Edit(REGISTRY, '\t"os/exec"\n', '\t"net"\n\t"os/exec"\n\t"time"\n', "the one before needs it"),
    Edit(
        CATALOGS, GONE, GONE_OR_BACK,
        "what is deleted is there again within milliseconds, and the spec looks once a second: another uid shows it",
    ),
    Edit(
        "test/e2e/operator_test.go",
        LABELLED.format("saA") + LABELLED.format("saB") + TOLD + REFERRED.format("saA") + REFERRED.format("saB"),
        LABELLED.format("saA") + REFERRED.format("saA") + LABELLED.format("saB") + TOLD + REFERRED.format("saB"),
        "what changes together is written at once: two waits for two events need two changes",
    ),
)  # fmt: skip
