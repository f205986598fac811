#include "harness/mount_options.h"

#include <unistd.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <filesystem>

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
                        "keep file contents in an unnamed file in DIR");
  options.add_options()("memory-limit", po::value<std::string>()->value_name("SIZE"),
                        "contents in memory: with --store beyond it only on disk, without it "
                        "writing gets ENOSPC");
}

std::string AbsolutePath(const std::string& path) {
  std::error_code ignored;
  auto absolute = std::filesystem::absolute(path, ignored).lexically_normal();
  if (!absolute.has_filename() && absolute.has_relative_path()) absolute = absolute.parent_path();
  return absolute;
}

Result<LiveMountOptions> ReadLiveMountOptions(const ParsedCommand& parsed) {
  LiveMountOptions live;
  live.owner = ::geteuid();
  live.group = ::getegid();
  const auto model = FindModel(parsed.options["model"].as<std::string>());
  if (!model) return tl::make_unexpected(model.error());
  live.model = *model;
  if (parsed.options.count("memory-limit") != 0) {
    const auto limit = ParseSize(parsed.options["memory-limit"].as<std::string>());
    if (!limit) return tl::make_unexpected(limit.error());
    live.memory_limit = *limit;
  }
  for (const auto& [name, path] : {std::pair{"import", &live.import}, {"store", &live.store}}) {
    if (parsed.options.count(name) == 0) continue;
    *path = AbsolutePath(parsed.options[name].as<std::string>());
    std::error_code ignored;
    if (!std::filesystem::is_directory(*path, ignored)) {
      return Fail(ErrorCode::kInvalid, *path + ": not a directory");
    }
  }
  return live;
}

Result<int> ParsePin(const std::string& text) {
  if (text == "none") return -1;
  const auto core = ParseNumber(text);
  const auto cores = AvailableCores();
  if (core && std::ranges::any_of(cores, [&](int each) { return *core == std::uint64_t(each); })) {
    return static_cast<int>(*core);
  }
  return Fail(ErrorCode::kInvalid, "cannot pin to core '" + text + "': none, or one of " +
                                       std::to_string(cores.front()) + " to " +
                                       std::to_string(cores.back()));
}

}  // namespace tornfs::harness
