"""The table: every module has ROWS."""

from . import attributes, descriptors, directories, locks, mapping, names, paths, permissions, space, types, xattrs

MODULES = (paths, types, descriptors, permissions, names, attributes, xattrs, space, mapping, locks, directories)
ROWS = [row for module in MODULES for row in module.ROWS]
