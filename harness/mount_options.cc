#include "harness/mount_options.h"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>

#include "common/memory.h"
#include "common/units.h"
#include "harness/cpu.h"

namespace tornfs::harness {

namespace po = boost::program_options;

void DescribeLiveMountOptions(po::options_description& options) {
  options.add_options()("import", po::value<std::string>()->value_name("DIR"),
                        "start with a copy of DIR, all of it durable");
  options.add_options()("model", po::value<std::string>()->default_value("posix"),
                        "the persistence model: a name that `tornfs models` lists, or a file");
  options.add_options()("store", po::value<std::string>()->value_name("DIR"),
                        "where file contents go when memory is short, in a file without a name; "
                        "none for nowhere. /var/tmp if --memory-limit is not given either");
  options.add_options()("memory-limit", po::value<std::string>()->value_name("SIZE"),
                        "memory to take, half of what is available by default: what does not fit "
                        "goes to --store, and where that cannot be, programs get ENOSPC");
  options.add_options()("fault", po::value<std::vector<std::string>>()->value_name("RULE"),
                        "make calls go wrong, as 'fail:EIO:ext4 fsync wal/* #2'; may be given "
                        "again. See `tornfs fault --help`");
}

std::string AbsolutePath(const std::string& path) {
  std::error_code ignored;
  auto absolute = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!absolute.has_filename() && absolute.has_relative_path()) absolute = absolute.parent_path();
  return absolute;
}

namespace {

bool IsNoStore(const ParsedCommand& parsed, std::string_view option) {
  return option == "store" && parsed.options["store"].as<std::string>() == "none";
}

Status ReadMemoryOptions(const ParsedCommand& parsed, LiveMountOptions& live) {
  constexpr std::uint64_t kLeast = 256ULL << 20;
  constexpr const char* kPlace = "/var/tmp";
  live.memory_limit = std::max(kLeast, AvailableBytes() / 2);
  if (parsed.options.count("memory-limit") != 0) {
    const auto limit = ParseSize(parsed.options["memory-limit"].as<std::string>());
    if (!limit) return tl::make_unexpected(limit.error());
    live.memory_limit = *limit;
  } else if (parsed.options.count("store") == 0 && ::access(kPlace, W_OK | X_OK) == 0) {
    live.store = kPlace;
  }
  return {};
}

}  // namespace

Result<LiveMountOptions> ReadLiveMountOptions(const ParsedCommand& parsed) {
  LiveMountOptions live;
  live.owner = ::geteuid();
  live.group = ::getegid();
  const auto model = FindModel(parsed.options["model"].as<std::string>());
  if (!model) return tl::make_unexpected(model.error());
  live.model = *model;
  if (Status read = ReadMemoryOptions(parsed, live); !read) {
    return tl::make_unexpected(read.error());
  }
  for (const auto& [name, path] : {std::pair{"import", &live.import}, {"store", &live.store}}) {
    if (parsed.options.count(name) == 0 || IsNoStore(parsed, name)) continue;
    *path = AbsolutePath(parsed.options[name].as<std::string>());
    std::error_code ignored;
    if (!std::filesystem::is_directory(*path, ignored)) {
      return Fail(ErrorCode::kInvalid, *path + ": not a directory");
    }
  }
  return live;
}

Result<std::vector<FaultRule>> ReadFaultOptions(const ParsedCommand& parsed) {
  std::vector<FaultRule> rules;
  if (parsed.options.count("fault") == 0) return rules;
  for (const auto& text : parsed.options["fault"].as<std::vector<std::string>>()) {
    auto rule = ParseFaultRule(text);
    if (!rule) return tl::make_unexpected(rule.error());
    rules.push_back(std::move(*rule));
  }
  return rules;
}

Result<int> ParsePin(const std::string& text) {
  if (text == "none") return -1;
  if (text == "auto") return ::sched_getcpu();
  const auto core = ParseNumber(text);
  const auto cores = AvailableCores();
  if (core && std::ranges::any_of(cores, [&](int each) { return *core == std::uint64_t(each); })) {
    return static_cast<int>(*core);
  }
  return Fail(ErrorCode::kInvalid, "cannot pin to core '" + text + "': auto, none, or one of " +
                                       std::to_string(cores.front()) + " to " +
                                       std::to_string(cores.back()));
}

}  // namespace tornfs::harness
