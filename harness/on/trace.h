// The trace of `explore --on`: everything that a crash image is made from, in one file.
//
// All integers are little-endian and of 64 bits. A text is its length and its bytes.
//
//   magic        8 bytes, "TORNTRCD"
//   spec         text: JSON of OnSpec
//   blocks       count, then 4096 bytes each: contents, every one once
//   recordings   count, then each:
//     schedule   the letter
//     promises   count, then texts
//     base       count of blocks of the device that were ever written, then of each its offset and
//                the number of its content
//     log        count of events, then of each kind, issued, completed, offset, bytes of data, mark
//                and the numbers of as many contents as the data fill, the last filled up with 0
//   checksum     XXH3-64 of all before
//
// Reading trusts nothing.
#pragma once

#include <string>

#include "common/result.h"
#include "harness/on/campaign.h"

namespace tornfs::harness {

// Whether `path` begins like such a trace.
[[nodiscard]] bool IsOnTrace(const std::string& path);

// For what takes traces of other explorations only; `path` is a trace or an output directory.
// Errors: kInvalid if it is such a trace.
[[nodiscard]] Status MustNotBeOnTrace(const std::string& path);

// Errors: kIo.
[[nodiscard]] Status SaveOnCampaign(const OnCampaign& campaign, const std::string& path);
// Errors: kNotFound, kCorrupt, kIo.
[[nodiscard]] Result<OnCampaign> LoadOnCampaign(const std::string& path);

}  // namespace tornfs::harness
