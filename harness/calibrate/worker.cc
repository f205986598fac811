#include "harness/calibrate/worker.h"

#include <sys/prctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <utility>

#include "common/fd.h"
#include "harness/calibrate/escape.h"
#include "harness/calibrate/rig.h"
#include "harness/cpu.h"
#include "harness/device/crash_images.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;
using SteadyClock = std::chrono::steady_clock;

// An escape is mounted so often again before it is believed.
constexpr int kConfirmations = 3;

class Worker {
 public:
  explicit Worker(const CalibrationWorker& options)
      : options_(options), spec_(options.spec), round_(JobsOfOneRound(options.spec)) {}

  Status Run() {
    auto rig = Rig::Create(options_.folder, options_.number);
    if (!rig) return tl::make_unexpected(rig.error());
    rig_ = std::move(*rig);
    while (!Stopped()) {
      const std::uint64_t number = options_.counters.next_job.fetch_add(1);
      CalibrationJob job = round_[number % round_.size()];
      job.round = number / round_.size();
      // Without a wish for more, one round is all.
      if (job.round > 0 && !spec_.images && !spec_.budget) break;
      const Status done = RunJob(number, job);
      if (!done) return done;
      ++options_.counters.jobs_done;
    }
    return {};
  }

 private:
  bool Stopped() const {
    return options_.counters.stop ||
           (spec_.images && options_.counters.images.load() >= *spec_.images);
  }

  Status RunJob(std::uint64_t number, const CalibrationJob& job) {
    const Filesystem& filesystem = spec_.filesystems[job.filesystem];
    const CalibrationProgram& program = spec_.programs[job.program];
    auto recording = rig_->Record(filesystem, program, job.schedule);
    if (!recording) {
      return tl::make_unexpected(
          Error{recording.error().code, recording.error().sys_errno,
                filesystem.name + ", " + program.name + ": " + recording.error().context});
    }
    const CrashImages images =
        PlanCrashImages(*recording, filesystem,
                        {spec_.images_per_run, spec_.seed * 1000003 + number, program.sectors});
    const auto begin = SteadyClock::now();
    ProgramOutcome outcome;
    outcome.equal = images.equal;
    for (const CrashImage& image : images.images) {
      if (Stopped()) break;
      const Status looked = LookAt(job, *recording, image, outcome);
      if (!looked) return looked;
    }
    Json trees = Json::array();
    for (const auto& [tree, seen] : outcome.seen) {
      trees.push_back({tree, seen.images, seen.at_end});
    }
    Report({{"job", number},
            {"images", outcome.images},
            {"equal", outcome.equal},
            {"unreadable", outcome.unreadable},
            {"why", outcome.unreadable_why},
            {"seconds", std::chrono::duration<double>(SteadyClock::now() - begin).count()},
            {"trees", std::move(trees)}});
    return {};
  }

  Status LookAt(const CalibrationJob& job, const DeviceRecording& recording,
                const CrashImage& image, ProgramOutcome& outcome) {
    const Filesystem& filesystem = spec_.filesystems[job.filesystem];
    const CalibrationProgram& program = spec_.programs[job.program];
    auto tree = rig_->Look(filesystem, BuildImage(recording, image));
    ++outcome.images;
    ++options_.counters.images;
    if (!tree) {
      if (tree.error().code != ErrorCode::kCorrupt) return tl::make_unexpected(tree.error());
      ++outcome.unreadable;
      if (outcome.unreadable_why.empty()) outcome.unreadable_why = tree.error().Message();
      return {};
    }
    const AllowedSet& allowed = spec_.allowed[job.filesystem][job.program];
    SeenTree& seen = outcome.seen[*tree];
    ++seen.images;
    const Moments* forbidden = nullptr;
    for (const Moments& moments : image.moments) {
      seen.at_end = seen.at_end || moments.last_ended == program.main.size();
      if (!MayLeave(allowed, *tree, moments.last_ended, moments.last_begun)) forbidden = &moments;
    }
    if (!allowed.known || forbidden == nullptr) return {};
    return ReportEscape(
        job, {filesystem, program, job.schedule, recording, image, *tree, *forbidden, allowed});
  }

  Status ReportEscape(const CalibrationJob& job, const EscapeEvidence& evidence) {
    const std::string id = EscapeId(evidence);
    if (!reported_.insert(id).second) return {};
    bool same = true;
    for (int i = 0; i < kConfirmations && same; ++i) {
      auto again = rig_->Look(evidence.filesystem, BuildImage(evidence.recording, evidence.image));
      same = again && *again == evidence.tree;
    }
    const Status written = WriteEscape(spec_.out + "/escapes/" + id, evidence);
    if (!written) return written;
    ++options_.counters.escapes;
    Report({{"escape",
             {{"id", id},
              {"filesystem", job.filesystem},
              {"program", job.program},
              {"sentence", EscapeSentence(evidence)},
              {"reproduced", same}}}});
    return {};
  }

  void Report(const Json& message) {
    (void)WriteAll(options_.pipe,
                   message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  }

  const CalibrationWorker& options_;
  const CalibrationSpec& spec_;
  std::vector<CalibrationJob> round_;
  std::unique_ptr<Rig> rig_;
  std::set<std::string> reported_;
};

}  // namespace

int RunCalibrationWorker(const CalibrationWorker& worker) {
  // The coordinator says when to stop; if it dies, so does this process.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)::signal(signal, SIG_IGN);
  (void)::prctl(PR_SET_PDEATHSIG, SIGKILL);
  Status status = EnterPrivateNamespaces();
  if (status && worker.core >= 0) status = PinToCore(worker.core);
  if (status) status = Worker(worker).Run();
  if (status) return 0;
  const Json message{
      {"error",
       {{"code", static_cast<int>(status.error().code)}, {"text", status.error().Message()}}}};
  (void)WriteAll(worker.pipe, message.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
  return 1;
}

}  // namespace tornfs::harness
