// FaultSet: the faults of LazyFS on a mount: watches every call, and says when which crash is due
// and what survives it.
//
// Where LazyFS kills itself, the mount loses power instead: the same bytes survive, and the mount
// goes on with them, in its next epoch. A fault that has come true is gone.
//
// Threads: the loop's.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/lazyfs/fault.h"
#include "harness/lazyfs/log.h"
#include "harness/lazyfs/paths.h"
#include "harness/live/crasher.h"

namespace tornfs::harness::lazyfs {

class FaultSet : public Trap, public FaultHook {
 public:
  // `report` writes the unsynced-data report, `spring` is Crasher::SpringTrap. All must outlive
  // this.
  FaultSet(const Engine& engine, Log& log, Paths paths, std::function<void()> report,
           std::function<void()> spring)
      : engine_(engine),
        log_(log),
        paths_(std::move(paths)),
        report_(std::move(report)),
        spring_(std::move(spring)) {}

  void Add(Fault fault) { faults_.push_back({std::move(fault), 0, {}}); }

 private:
  // Part of the data of an op that survives: bytes [begin, end) of the file.
  struct Kept {
    OpNumber op = 0;
    std::uint64_t begin = 0;
    std::uint64_t end = UINT64_MAX;
  };
  struct Watched {
    Fault fault;
    std::uint64_t count = 0;  // Matches; of a TornSeq, writes of the row so far.
    std::vector<Kept> kept;   // Of a TornSeq: the writes of the row that are to survive.
    std::uint64_t rows = 0;   // Of a TornSeq: rows that came to their end.
    bool done = false;
  };
  // A call at one of its stages.
  struct Call {
    std::string_view op;  // As LazyFS calls it.
    When when;
    std::string path;
    std::string to;
    OpNumber number;
  };

  bool Springs(When when, const TriggerRequest& request) override;
  [[nodiscard]] Result<CrashReport> Lose(Engine& engine) override;
  void Sprung(const Result<CrashReport>& report) override;
  [[nodiscard]] std::optional<tornfs::Fault> Ask(const FaultRequest& request) override;

  [[nodiscard]] bool Due(const Call& call);
  [[nodiscard]] bool Due(CrashFault& fault, Watched& watched, const Call& call);
  [[nodiscard]] bool Due(TornOp& fault, Watched& watched, const Call& call);
  [[nodiscard]] bool Due(TornSeq& fault, Watched& watched, const Call& call);
  [[nodiscard]] bool Due(ClearFault& fault, Watched& watched, const Call& call);
  // The bytes of the file that op `number` wrote.
  [[nodiscard]] Kept RangeOf(OpNumber number) const;
  void Announce(const Call& call, bool dies);

  const Engine& engine_;
  Log& log_;
  const Paths paths_;
  std::function<void()> report_;
  std::function<void()> spring_;
  std::vector<Watched> faults_;
  std::vector<Kept> survive_;  // Of the crash that is due.
};

}  // namespace tornfs::harness::lazyfs
