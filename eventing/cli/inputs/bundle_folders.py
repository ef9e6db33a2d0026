"""Folders of bundles that are named as catalogs: what they are, and what makes a catalog of them."""

from __future__ import annotations

from os.path import normpath
from pathlib import Path
from typing import Final

from eventing.cli.commands import quoted
from shared.domain.command import olmf

_ABOUT: Final = "metadata/annotations.yaml"
_TEXTS: Final = (".yaml", ".yml", ".json")


def bundles_only(path: str) -> str:
    """What a folder with bundles and no other manifests is, and what to do with it; empty for anything else."""
    place = Path(path)
    about = place.rglob(_ABOUT) if place.is_dir() else ()
    found = sorted(one.parents[1] for one in about if (one.parents[1] / "manifests").is_dir())
    bundles, texts = set(found), (one for one in place.rglob("*") if one.suffix in _TEXTS)
    if not found or any(bundles.isdisjoint(one.parents) for one in texts):
        return ""
    judges = quoted(olmf("bundle", "validate", str(found[0])))
    folder = normpath(found[0] / ".." / "..")
    serves = quoted(olmf("up", "--bundles", folder))
    makes = f"{quoted(olmf('catalog', 'template', 'semver', 'FILE'))} makes a catalog of images that FILE names"
    if found == [place]:
        return f"{path} is a bundle and no catalog: {judges} judges it, {serves} serves it with a catalog, {makes}"
    what = f"{path} holds {len(found)} bundle{'s' if found[1:] else ''} and no catalog"
    return f"{what}: {judges} judges one of them, {serves} serves those in {folder} with a catalog, {makes}"
