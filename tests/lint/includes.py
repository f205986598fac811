#!/usr/bin/env python3
"""Dependencies point down only: who may include what (docs/ARCHITECTURE.md, "Folders")."""

import re

import tree

# Folder, longest first: the folders of ours it may include.
ALLOWED = {
    "common": {"common"},
    "journal": {"common", "journal"},
    "fusefs/core": {"common", "fusefs/core"},
    "fusefs/fuse": {"common", "fusefs/core", "fusefs/fuse"},
    "fusefs/image": {"common", "fusefs/core", "fusefs/fuse", "fusefs/image"},
    "harness": {"common", "fusefs/core", "fusefs/fuse", "fusefs/image", "harness"},
    # Ordinary programs: they must not be able to know where they run.
    "workloads": {"workloads"},
}
FOLDERS = sorted(set().union(*ALLOWED.values()), key=len, reverse=True)
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
LIBFUSE = re.compile(r"^(fuse3?/|fuse(_\w+)?\.h$|linux/fuse\.h$)")
MAY_USE_LIBFUSE = ("fusefs/fuse", "fusefs/image")


def folder_of(name):
    return next((folder for folder in FOLDERS if name.startswith(folder + "/")), None)


def problems():
    for name in tree.files(tree.CODE):
        folder = folder_of(name)
        if folder is None:
            continue  # Tests may look at everything.
        for _, included in INCLUDE.findall(tree.read(name)):
            target = folder_of(included)
            if target is not None and target not in ALLOWED[folder]:
                yield f"{name}: {folder} must not include {included}"
            if LIBFUSE.match(included) and folder not in MAY_USE_LIBFUSE:
                yield f"{name}: only {' and '.join(MAY_USE_LIBFUSE)} include libfuse, not {folder}"
            if folder == "workloads" and target is None and "/" in included and "sys/" not in included:
                yield f"{name}: workloads link nothing but the C and C++ libraries: {included}"


def linked():
    """The workloads' CMake file names no library."""
    text = tree.read("workloads/CMakeLists.txt")
    for libraries in re.findall(r"target_link_libraries\(([^)]*)\)", text):
        for word in libraries.split()[1:]:
            if word not in ("PRIVATE", "tornfs_warnings"):
                yield f"workloads/CMakeLists.txt: links {word}"


if __name__ == "__main__":
    tree.finish([*problems(), *linked()])
