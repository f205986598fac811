#include "harness/lazyfs/config.h"

#include <toml++/toml.h>

#include <utility>

#include "common/fd.h"

namespace tornfs::harness::lazyfs {
namespace {

// A table, with the first mistake found in it.
class Reader {
 public:
  explicit Reader(const toml::table& table) : table_(table) {}

  template <class T>
  T Get(std::string_view key, T otherwise) {
    const toml::node* node = table_.get(key);
    if (node == nullptr) return otherwise;
    if (const auto value = node->value_exact<T>()) return *value;
    Wrong(key, node->source());
    return otherwise;
  }

  // A number from 0 on.
  std::uint64_t Number(std::string_view key, std::int64_t otherwise) {
    const auto value = Get<std::int64_t>(key, otherwise);
    if (value >= 0) return static_cast<std::uint64_t>(value);
    Wrong(key, table_.get(key)->source());
    return 0;
  }

  std::vector<std::uint64_t> Numbers(std::string_view key) {
    std::vector<std::uint64_t> numbers;
    const toml::node* node = table_.get(key);
    if (node == nullptr) return numbers;
    const toml::array* array = node->as_array();
    if (array == nullptr) Wrong(key, node->source());
    for (std::size_t i = 0; array != nullptr && i < array->size(); ++i) {
      const auto value = array->get(i)->value_exact<std::int64_t>();
      if (!value || *value < 0) {
        Wrong(key, node->source());
        break;
      }
      numbers.push_back(static_cast<std::uint64_t>(*value));
    }
    return numbers;
  }

  void Wrong(std::string_view what, const toml::source_region& where) {
    if (!mistake_.empty()) return;
    mistake_ = "line " + std::to_string(where.begin.line) + ": '" + std::string(what) +
               "' has a value that cannot be";
  }

  [[nodiscard]] Status Verdict() const {
    if (mistake_.empty()) return {};
    return Fail(ErrorCode::kInvalid, mistake_);
  }

 private:
  const toml::table& table_;
  std::string mistake_;
};

TornOp ReadTornOp(Reader& reader) {
  TornOp fault;
  fault.file = reader.Get<std::string>("file", "");
  fault.occurrence = reader.Number("occurrence", 1);
  fault.parts = reader.Number("parts", 0);
  fault.bytes = reader.Numbers("parts_bytes");
  fault.persist = reader.Numbers("persist");
  return fault;
}

TornSeq ReadTornSeq(Reader& reader) {
  TornSeq fault;
  fault.file = reader.Get<std::string>("file", "");
  fault.op = reader.Get<std::string>("op", "write");
  fault.occurrence = reader.Number("occurrence", 1);
  fault.persist = reader.Numbers("persist");
  return fault;
}

ClearFault ReadClear(Reader& reader, const toml::table& table) {
  ClearFault fault;
  fault.from = reader.Get<std::string>("from", reader.Get<std::string>("file", ""));
  fault.to = reader.Get<std::string>("to", "");
  fault.op = reader.Get<std::string>("op", "");
  fault.occurrence = reader.Number("occurrence", 1);
  fault.crash = reader.Get<bool>("crash", false);
  const auto timing = reader.Get<std::string>("timing", "");
  if (timing != "before" && timing != "after") reader.Wrong("timing", table.source());
  fault.before = timing == "before";
  return fault;
}

Status AddInjection(const toml::table& table, Config& config) {
  Reader reader(table);
  const auto type = reader.Get<std::string>("type", "");
  Status complete;
  if (type == "torn-op") {
    TornOp fault = ReadTornOp(reader);
    complete = Complete(fault);
    config.faults.emplace_back(std::move(fault));
  } else if (type == "torn-seq") {
    TornSeq fault = ReadTornSeq(reader);
    complete = Complete(fault);
    config.faults.emplace_back(std::move(fault));
  } else if (type == "clear-cache" || type == "clear") {
    ClearFault fault = ReadClear(reader, table);
    complete = Complete(fault);
    config.faults.emplace_back(std::move(fault));
  } else {
    reader.Wrong("type", table.source());
  }
  if (Status verdict = reader.Verdict(); !verdict) return verdict;
  if (complete) return {};
  return Fail(ErrorCode::kInvalid, "line " + std::to_string(table.source().begin.line) + ": " +
                                       type + ": " + complete.error().context);
}

Status AddInjections(const toml::table& root, Config& config) {
  const toml::node* node = root.get("injection");
  if (node == nullptr) return {};
  const toml::array* array = node->as_array();
  if (array == nullptr) return Fail(ErrorCode::kInvalid, "'injection' is not [[injection]]");
  for (const toml::node& each : *array) {
    const toml::table* table = each.as_table();
    if (table == nullptr) return Fail(ErrorCode::kInvalid, "'injection' is not [[injection]]");
    if (Status added = AddInjection(*table, config); !added) return added;
  }
  return {};
}

const toml::table& SectionOf(const toml::table& root, std::string_view name) {
  static const toml::table kNone;
  const toml::node* node = root.get(name);
  const toml::table* table = node == nullptr ? nullptr : node->as_table();
  return table == nullptr ? kNone : *table;
}

Result<Config> FromTable(const toml::table& root) {
  Config config;
  Reader faults(SectionOf(root, "faults"));
  config.fifo = faults.Get<std::string>("fifo_path", "faults.fifo");
  config.completed = faults.Get<std::string>("fifo_path_completed", "");
  Reader filesystem(SectionOf(root, "filesystem"));
  config.log_all_operations = filesystem.Get<bool>("log_all_operations", false);
  config.logfile = filesystem.Get<std::string>("logfile", "");
  Reader cache(SectionOf(root, "cache"));
  (void)cache.Get<bool>("apply_eviction", false);
  for (const Reader* reader : {&faults, &filesystem, &cache}) {
    if (const Status verdict = reader->Verdict(); !verdict) {
      return tl::make_unexpected(verdict.error());
    }
  }
  if (const Status added = AddInjections(root, config); !added) {
    return tl::make_unexpected(added.error());
  }
  return config;
}

// Older files have a blank in the name of a section, which LazyFS's own parser took.
std::string WithValidKeys(std::string_view text) {
  constexpr std::string_view kOld = "[file system]";
  std::string valid(text);
  const std::size_t at = valid.find(kOld);
  if (at != std::string::npos && (at == 0 || valid[at - 1] == '\n')) {
    valid.replace(at, kOld.size(), "[filesystem]");
  }
  return valid;
}

}  // namespace

Result<Config> ParseConfig(std::string_view text) {
  try {
    return FromTable(toml::parse(WithValidKeys(text)));
  } catch (const toml::parse_error& error) {
    return Fail(ErrorCode::kInvalid, "line " + std::to_string(error.source().begin.line) + ": " +
                                         std::string(error.description()));
  }
}

Result<Config> ReadConfig(const std::string& path) {
  constexpr std::size_t kLongest = 1U << 20;
  const auto text = ReadFile(path, kLongest);
  if (!text) return tl::make_unexpected(text.error());
  auto config = ParseConfig(*text);
  if (!config) config.error().context = path + ": " + config.error().context;
  return config;
}

}  // namespace tornfs::harness::lazyfs
