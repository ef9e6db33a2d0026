"""Makes a Python installation lean, inside the build of the image: removes what our programs never import.

`python lean.py VENV` removes the files of `left_out.txt` from the virtual environment and from the Python below it, and
compiles the rest. Compiled files are checked by the hash of their source, not by its time, which copies of layers
change; and those of the standard library are made, too, because a pod cannot store them.
"""

from __future__ import annotations

import compileall
import os
import py_compile
import shutil
import sys
import sysconfig
from pathlib import Path

LIST = Path(__file__).with_name("left_out.txt")


def left_out(section: str) -> list[str]:
    """The patterns below `[section]` of the list."""
    chosen, found = "", []
    for line in LIST.read_text().splitlines():
        text = line.partition("#")[0].strip()
        if text.startswith("["):
            chosen = text.strip("[]")
        elif text and chosen == section:
            found.append(text)
    return found


def remove(folder: Path, patterns: list[str]) -> None:
    """Remove what the patterns match below a folder."""
    for pattern in patterns:
        for path in list(folder.glob(pattern)):
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)


def compiled(folder: Path) -> None:
    """Compile every module below a folder anew."""
    # What cannot be compiled (a template, another version of Python) stays as it is; check.py finds what we need.
    mode = py_compile.PycInvalidationMode.CHECKED_HASH
    compileall.compile_dir(str(folder), quiet=2, force=True, invalidation_mode=mode)


def main(environment: Path) -> None:
    """Remove and compile."""
    (packages,) = environment.glob("lib/python3*/site-packages")
    standard = Path(sysconfig.get_path("stdlib"))
    remove(packages, left_out("packages"))
    remove(standard, left_out("python"))
    remove(Path(os.sep), left_out("system"))
    compiled(standard)
    compiled(packages)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
