// Config: a configuration file of LazyFS, in TOML.
//
// What concerns its page cache (custom_size, blocks_per_page, apply_eviction, [cache.manual]) is
// checked for its type and means nothing here.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "harness/lazyfs/fault.h"

namespace tornfs::harness::lazyfs {

struct Config {
  std::string fifo;       // "": none.
  std::string completed;  // The completion FIFO; "": none.
  std::string logfile;    // "": standard output.
  bool log_all_operations = false;
  std::vector<Fault> faults;
};

// Errors: kInvalid, with the line where there is one.
[[nodiscard]] Result<Config> ParseConfig(std::string_view text);
// Errors: those of ParseConfig, and of reading.
[[nodiscard]] Result<Config> ReadConfig(const std::string& path);

}  // namespace tornfs::harness::lazyfs
