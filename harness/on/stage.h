// OnStage: a disk with a real filesystem, and a supervisor that runs programs on it.
//
// The world that programs see is a folder of the filesystem, bound to the world's path: what mkfs
// made, and the file that a schedule syncs, lie outside of it. Lines that a recorded program prints
// become marks in the log of the disk.
//
// Threads: one. The process must be single-threaded and in a private mount namespace when it is
// created; it has one stage at a time.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/result.h"
#include "harness/device/disk.h"
#include "harness/explore/campaign.h"
#include "harness/explore/verdict.h"
#include "harness/live/program_runner.h"
#include "harness/on/campaign.h"

namespace tornfs::harness {

// What came of one crash image.
struct OnVerdict {
  bool mounted = false;  // The kernel took it, and the world was in it.
  std::string why_not;
  Verdict verdict;  // Only if it was mounted.
};

class OnStage {
 public:
  // `id` tells stages of one machine apart. An interrupt from now on (harness/explore/interrupt.h)
  // ends what runs. Everything runs on `core`, -1: anywhere.
  // Errors: kMissing, kIo, kNotFound for an unknown user.
  [[nodiscard]] static Result<std::unique_ptr<OnStage>> Create(const OnSpec& spec, unsigned id,
                                                               int core);
  ~OnStage();
  OnStage(const OnStage&) = delete;
  OnStage& operator=(const OnStage&) = delete;

  // A new filesystem with a world in it: empty, or a copy of `import`, and what setup left.
  // `failure` is set when setup failed. Errors: kIo.
  [[nodiscard]] Result<DeviceImage> MakeWorld(std::optional<RecordFailure>& failure);

  // Runs the workload on `start`, with the descriptor `input` as its standard input, and what the
  // schedule does behind it. Errors: kIo.
  [[nodiscard]] Result<OnRecording> Record(const DeviceImage& start, Schedule schedule, int input,
                                           std::optional<RecordFailure>& failure);

  // Mounts `image` for reading and writing, which replays the journal, and runs recovery and check
  // on the world with `promises`. With `copy_to` the world is first copied there, a folder that is
  // not there yet. Errors: kIo; kTimeout when interrupted.
  [[nodiscard]] Result<OnVerdict> Judge(DeviceImage image, const std::string& promises,
                                        const std::string& copy_to = {});

  // Copies the world of `image` to a folder that is not there yet. Errors: kIo.
  [[nodiscard]] Status CopyWorld(DeviceImage image, const std::string& to);

 private:
  explicit OnStage(const OnSpec& spec) : spec_(spec) {}
  [[nodiscard]] Status MountWorld(DeviceImage image, Schedule schedule);
  struct Options {
    bool has_promises = false;
    bool prints_promises = false;
    int input = -1;  // Standard input; -1: nothing.
  };
  [[nodiscard]] Result<RunResult> Run(const std::vector<std::string>& arguments,
                                      const Options& options);
  [[nodiscard]] Result<RunResult> Run(const std::string& command, const Options& options);
  [[nodiscard]] Result<Verdict> RecoverAndCheck(const std::string& promises);
  [[nodiscard]] std::string world() const;

  const OnSpec& spec_;
  std::optional<Identity> identity_;
  int interrupts_ = 0;    // When it was created.
  bool covered_ = false;  // The device's folder has a tmpfs of this process on it.
  std::unique_ptr<EventLoop> loop_;
  std::unique_ptr<Disk> disk_;
  std::unique_ptr<ProgramRunner> runner_;  // Goes first.
};

}  // namespace tornfs::harness
