#!/usr/bin/env python3
# PYTHON tensorboard_root.py OUT: makes the files of the image rota-tensorboard, apart from libraries
# of the system, which closure.sh adds. PYTHON belongs to an environment in which TensorBoard is
# installed. The image gets this Python, TensorBoard, and the packages that TensorBoard requires.
import importlib.metadata
import os
import pathlib
import shutil
import sys

from packaging.requirements import Requirement

OUT = pathlib.Path(sys.argv[1])
LIBRARY = OUT / "usr/lib" / f"python{sys.version_info.major}.{sys.version_info.minor}"
PACKAGES = OUT / "usr/share/tensorboard"
# Parts of Python that no server needs, and packages of the machine.
LEFT_OUT = shutil.ignore_patterns(
    "__pycache__", "config-*", "dist-packages", "ensurepip", "idlelib", "lib2to3", "site-packages",
    "test", "tkinter", "turtledemo", "_tkinter.*", "_test*.so", "xxlimited*.so")
# Not a file that pip makes: its first line would name the Python of this machine.
START = f"""#!/usr/bin/python3
import sys
sys.path.append("/{PACKAGES.relative_to(OUT)}")
from tensorboard.main import run_main
run_main()
"""


def required_by(name, found):
    """Adds the distribution `name`, and all that it requires, to `found`."""
    distribution = importlib.metadata.distribution(name)
    if distribution.metadata["Name"] in found:
        return
    found[distribution.metadata["Name"]] = distribution
    for line in distribution.requires or []:
        requirement = Requirement(line)
        if requirement.marker is None or requirement.marker.evaluate({"extra": ""}):
            required_by(requirement.name, found)


def copy_package(distribution):
    for file in distribution.files:
        # pip also lists what it has compiled, and programs outside of the packages.
        if "__pycache__" in file.parts or ".." in file.parts:
            continue
        target = PACKAGES / file
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file.locate(), target)


(OUT / "usr/bin").mkdir(parents=True)
shutil.copy(os.path.realpath(sys.executable), OUT / "usr/bin/python3")
shutil.copytree(os.path.dirname(os.__file__), LIBRARY, ignore=LEFT_OUT)
distributions = {}
required_by("tensorboard", distributions)
for each in distributions.values():
    copy_package(each)
start = OUT / "usr/bin/tensorboard"
start.write_text(START)
start.chmod(0o755)
