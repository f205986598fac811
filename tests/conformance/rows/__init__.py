"""The table: every module has ROWS."""

from . import (attributes, descriptors, directories, limits, locks, mapping, names, owners, paths, permissions, space,
               transfer, types, xattrs)

MODULES = (paths, types, descriptors, permissions, names, owners, attributes, xattrs, space, transfer, mapping,
           locks, directories, limits)
ROWS = [row for module in MODULES for row in module.ROWS]
