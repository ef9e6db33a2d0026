"""The changes that a roll-out would make on a cluster: `olmf extension plan NAME`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from eventing.cli.extension.cluster import content_of_cluster, extension_of
from eventing.cli.extension.files import read_files, source_of
from eventing.cli.extension.report import Report
from eventing.cli.failure import USAGE, CliError
from eventing.cli.inputs import bundle_files
from eventing.cli.requests.extensions import no_catalog
from eventing.diagnosis.forecast.present_objects import stored_in
from eventing.diagnosis.rollout import Place, outlook
from eventing.diagnosis.status.extension_reader import images_in
from shared.api.views import ClusterExtension
from shared.domain.bundle.model import Files
from shared.domain.extension.decision import request_for
from shared.kinds import CLUSTER_EXTENSION
from shared.reading.extension import read_inputs

if TYPE_CHECKING:
    from eventing.cli.target import Target
    from shared.adapters.kube import KubeClient
    from shared.domain.crd_safety.judgement import Waiver
    from shared.reading.extension import Sources

_Options = tuple[str, Sequence["Waiver"], Mapping[str, object]]
"""Content of the bundle (empty: its image is pulled), findings to ignore, options that are for files, by name."""


def planned_on(target: Target, name: str, file: Sequence[str] | None, options: _Options) -> Report:
    """The report about the extension of that name, as it is, or with the spec of the file. CliError."""
    bundle, waivers, of_files = options
    if wrong := next((option for option, value in of_files.items() if value), ""):
        raise CliError(f"{wrong} is for files; the cluster has its own catalogs and objects", USAGE)
    cluster = target.cluster()
    return report_on(cluster, desired(cluster, name, file), content_of_cluster(cluster), (bundle, waivers))


def report_on(
    cluster: KubeClient, extension: ClusterExtension, content: Sources, options: tuple[str, Sequence[Waiver]]
) -> Report:
    """The report about an extension of a cluster. CliError when the content of its bundle cannot be had."""
    bundle, waivers = options
    place = Place(
        cluster,
        cluster,
        lambda image: files_of(bundle, image),
        lambda changed: [*stored_in(cluster, map(dict, changed))],
    )
    inputs = read_inputs(extension, content)
    found = outlook(extension, inputs, place, waivers)
    lacks = () if inputs.catalogs else (no_catalog(images_in(content, request_for(extension).package)),)
    return Report(found.reasons, found.changes, (), found.blockers, (*lacks, *found.remarks))


def desired(cluster: KubeClient, name: str, file: Sequence[str] | None) -> ClusterExtension:
    """The extension of that name; the spec of the file with the identity of the one that is there. CliError."""
    if not file:
        return extension_of(cluster, name)
    manifest = read_files(file).extension
    source_of(manifest)
    found = ClusterExtension(manifest)
    if name and name.rpartition("/")[2] != found.name:
        raise CliError(f"-f: holds ClusterExtension {found.name}, not {name}", USAGE)
    there = CLUSTER_EXTENSION.look_up(cluster.get, found.name)
    return ClusterExtension({**there, "spec": found.spec}) if there else found


def files_of(bundle: str, image: str) -> Files:
    """The content of a bundle: of the option, else of its image. CliError."""
    return bundle_files.files_of(bundle or bundle_files.image_of(image, "the bundle"))
