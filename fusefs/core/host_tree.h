// Between directories of the host and Trees: what a mount starts from, and what is taken out of it.
//
// Both ways keep types, modes, modification times, extended attributes with ACLs, holes, symbolic
// links, fifos, sockets and hard links inside the directory. Neither follows a symbolic link below
// the directory or leaves it by any other way. The two other times of an imported inode are its
// modification time, so that the same directory always gives the same Tree.
//
// Nobody else may change the directory meanwhile; a file that shrinks while it is read is an error.
// Every level of depth takes one descriptor.
//
// Threads: none.
#pragma once

#include <string>

#include "common/result.h"
#include "fusefs/core/content_store.h"
#include "fusefs/core/tree.h"

namespace tornfs {

struct ImportedTree {
  Tree tree;
  Ino next_ino = kRootIno + 1;  // The first inode number not used.
};

// Copies `directory`, contents into `store`. The directory itself becomes the root. Inodes are
// numbered in the order of a walk, depth first, names sorted by bytes. Device nodes are left out
// with a warning.
// Errors: kIo, with the path that failed; kInvalid for a file larger than kMaxFileBytes.
[[nodiscard]] Result<ImportedTree> ImportDirectory(ContentStore& store,
                                                   const std::string& directory);

// Writes what can be reached in `tree` into `directory`, which is made if it is not there and must
// be empty. It takes the mode and times of the root. Owners are set only by root; device nodes are
// left out with a warning. Nothing is synced. After an error the directory holds a part of the
// tree.
// Errors: kInvalid for a directory that is not empty, or a tree in which a directory contains
// itself; kIo, with the path that failed.
[[nodiscard]] Status ExportTree(const Tree& tree, const ContentStore& store,
                                const std::string& directory);

}  // namespace tornfs
