// Trace: a Recording as a file, with the tree it starts from and every byte it refers to. What can
// be worked out from a recording can be worked out from its trace, on another machine or years
// later; nothing is run again.
//
// All fixed-size integers are little-endian. A varint is 7 bits a byte, lowest first, the high bit
// set on all but the last; a signed one is zigzag-coded. docs/trace-format.md has the records.
//
//   offset   size   field
//        0      8   magic       "TORNTRC1"
//        8      4   version     1
//       12      4   sections    how many follow
//       16      8   length      of the whole file
//       24      8   checksum    XXH3-64 of bytes [0, 24)
//       32          sections, one behind the other
//
// A section:
//
//   offset   size   field
//        0      4   tag         see below
//        4      4   zero
//        8      8   length      of the payload
//       16      8   checksum    XXH3-64 of the payload
//       24          payload
//
// In this order, each once but DATA:
//
//   HEAD   text of the caller's, not looked into
//   STRS   string table: names, paths, link targets, promised lines
//   DATA   a run of file contents; none, one or many. A place in the contents is an offset into
//          the payloads of all of them, one behind the other
//   BASE   where the recording starts: numbers and the durable tree
//   OPSS   ops
//   BORN   inodes that came into being
//   EFFS   effects, the pending ones of the start first, and when each became durable
//   PROM   promises
//   DURA   the durable trees, each as what differs from the one before
//
// Reading trusts nothing: what is not as described here is refused, no length is believed before
// the bytes are there, and memory is taken in proportion to the size of the file.
#pragma once

#include <string>

#include "common/result.h"
#include "fusefs/core/content_store.h"
#include "fusefs/core/recording.h"

namespace tornfs {

struct Trace {
  std::string header;
  Recording recording;
};

// Writes `recording` to `path`, replacing what was there only when all is written. Not synced.
//   header_json  kept as it is; says where the recording comes from.
// Bytes of `store` that the recording does not refer to are left out, the others are written once.
// Errors: kIo.
[[nodiscard]] Status WriteTrace(const std::string& path, const std::string& header_json,
                                const Recording& recording, const ContentStore& store);

// Reads a trace; its contents are appended to `store`. After an error some may have been, too.
// The recording gives the same Base for every cut as the one that was written.
// Errors: kCorrupt for a file that is no trace or is damaged; kInvalid for another version; kIo,
// with ENOSPC when `store` is full.
[[nodiscard]] Result<Trace> ReadTrace(const std::string& path, ContentStore& store);

}  // namespace tornfs
