// Crasher: live power losses on a mount, now or when an armed trigger fires.
//
// The order of a crash
//   1 the victims are killed, if they are to be: from here on no program runs and none sees the
//     EIO that follows
//   2 what was stored through shared mappings is pulled: it becomes pending effects
//   3 the mount is quiesced, the victims are waited for
//   4 survivors are picked, the tree is replaced, the next epoch begins
//   5 the kernel forgets what it had cached
// At a trigger, 1 happens while the request is held and the rest after it has been refused;
// until 3 only pages of shared mappings get through.
//
// Threads: the loop's.
#pragma once

#include <functional>
#include <optional>

#include "fusefs/core/trigger.h"
#include "fusefs/fuse/hook.h"
#include "fusefs/fuse/server.h"
#include "harness/live/crash_report.h"

namespace tornfs::harness {

// The processes that a crash kills.
class Victims {
 public:
  virtual ~Victims() = default;
  // Sends SIGKILL. Must not wait for a process and must not pump: a request is held.
  virtual void Kill() = 0;
  // Pumps until all of them are gone; may find and kill more. Returns how many there were.
  [[nodiscard]] virtual std::size_t AwaitGone() = 0;
};

// A crash that waits for a moment that no trigger can say.
class Trap {
 public:
  virtual ~Trap() = default;
  // Asked at each stage of every state-changing request. True if the crash is to be here.
  [[nodiscard]] virtual bool Springs(When when, const TriggerRequest& request) = 0;
  // Picks what survives: `engine` has the crash state afterwards.
  [[nodiscard]] virtual Result<CrashReport> Lose(Engine& engine) = 0;
  // After the crash.
  virtual void Sprung(const Result<CrashReport>& report) = 0;
};

class Crasher : private Hook {
 public:
  // Called at step 1, and with the outcome after step 5.
  struct Observer {
    std::function<void()> struck = {};
    std::function<void(const Result<CrashReport>&)> done = {};
  };

  // Both must outlive this.
  Crasher(Server& server, Victims& victims) : server_(server), victims_(victims) {}
  ~Crasher() override { server_.SetHook(nullptr); }
  Crasher(const Crasher&) = delete;
  Crasher& operator=(const Crasher&) = delete;

  void Observe(Observer observer) { observer_ = std::move(observer); }

  // Errors: kBusy while another crash is under way, kInvalid for a plan that does not fit.
  [[nodiscard]] Result<CrashReport> CrashNow(const CrashOptions& options);

  // Replaces what was armed.
  void Arm(Trigger trigger, CrashOptions options);
  // Whether something was armed.
  bool Disarm();
  // A trap beside what is armed; null for none. Must outlive its use.
  void SetTrap(Trap* trap);
  // Springs the trap at a request that no hook is asked about, such as a read. The caller makes
  // sure that Refused is called when that request has been answered (Fault::Kind::kCrash).
  void SpringTrap();

  struct Armed {
    ArmedTrigger trigger;
    CrashOptions options;
  };
  [[nodiscard]] const std::optional<Armed>& armed() const { return armed_; }
  [[nodiscard]] bool crashing() const { return crashing_; }
  // Of the last crash; empty before the first.
  [[nodiscard]] const std::optional<Result<CrashReport>>& last() const { return last_; }

 private:
  bool Consult(When when, const TriggerRequest& request) override;
  void Refused() override;
  using Loss = std::function<Result<CrashReport>(Engine&)>;
  void UpdateHook();
  [[nodiscard]] Result<CrashReport> Finish(const Loss& lose, bool kill,
                                           const std::optional<CrashPoint>& point);
  [[nodiscard]] Result<CrashReport> Replace(const Loss& lose,
                                            const std::optional<CrashPoint>& point);

  Server& server_;
  Victims& victims_;
  Observer observer_;
  std::optional<Armed> armed_;
  std::optional<CrashPoint> fired_;  // Where it fired, until Refused.
  CrashOptions fired_options_;
  Trap* trap_ = nullptr;
  bool sprung_ = false;        // The trap is what fired.
  bool trap_strikes_ = false;  // The crash under way is the trap's.
  bool crashing_ = false;
  std::optional<Result<CrashReport>> last_;
};

}  // namespace tornfs::harness
