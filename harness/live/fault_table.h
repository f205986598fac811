// FaultTable: the fault rules of a mount, and what they did.
//
// The rules are held against each request in the order they were added; each counts its matches,
// delays add up, and the first other effect that is due is carried out. Every injection is a line
// in the log, is kept for reports, and is counted.
//
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <deque>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "fusefs/fuse/fault_hook.h"
#include "fusefs/fuse/server.h"
#include "harness/live/fault_rule.h"

namespace tornfs::harness {

class FaultTable : private FaultHook {
 public:
  // `server` must outlive this.
  explicit FaultTable(Server& server) : server_(server) {}
  ~FaultTable() override { server_.SetFaultHook(nullptr); }
  FaultTable(const FaultTable&) = delete;
  FaultTable& operator=(const FaultTable&) = delete;

  void Add(FaultRule rule);
  // Returns how many rules there were. What they did is still told.
  std::size_t Clear();
  // Asked about each request before the rules; null for nobody.
  void SetFirst(FaultHook* first);

  [[nodiscard]] std::uint64_t injected() const { return injected_; }
  // {"rules": [{"rule", "matches", "injected"}], "cleared": those cleared last, "injected": N,
  // "last": [text, ...]}
  [[nodiscard]] nlohmann::json ToJson() const;

 private:
  struct Counted {
    FaultRule rule;
    std::uint64_t matches = 0;
    std::uint64_t injected = 0;
  };
  [[nodiscard]] std::optional<Fault> Ask(const FaultRequest& request) override;
  void Note(const FaultRule& rule, const FaultRequest& request);
  void Attach();

  Server& server_;
  FaultHook* first_ = nullptr;
  std::vector<Counted> rules_;
  std::vector<Counted> cleared_;
  std::uint64_t injected_ = 0;
  std::deque<std::string> last_;
};

}  // namespace tornfs::harness
