#include "harness/explore/campaign.h"

#include <unistd.h>

#include <filesystem>

#include "fusefs/core/host_tree.h"
#include "fusefs/fuse/server.h"
#include "harness/command_line.h"

namespace tornfs::harness {
namespace {

Result<std::vector<std::string>> Complete(const std::string& command, const ExploreSpec& spec) {
  if (command.empty()) return std::vector<std::string>();
  const CommandContext context{spec.origin, spec.mount_path, spec.mount_path + "/" + kPromisesName};
  return ParseCommandString(command, context);
}

// A base on which everything that `base` shows is durable, with ops counted from 1 again.
Base Settled(Base base) {
  for (const Effect& effect : base.pending) Apply(effect, base.durable);
  base.durable.KeepReachable();
  base.pending.clear();
  base.next_op = 1;
  return base;
}

Result<Base> StartingPoint(Campaign& campaign, Stage& stage,
                           std::optional<RecordFailure>& failure) {
  const ExploreSpec& spec = campaign.spec;
  Base base;
  base.durable = Tree::Empty(::getuid(), ::getgid(), 0);
  if (!spec.user.empty()) {
    auto user = LookUpUser(spec.user);
    if (!user) return tl::make_unexpected(user.error());
    base.durable = Tree::Empty(user->uid, user->gid, 0);
  }
  if (!spec.import_directory.empty()) {
    auto imported = ImportDirectory(*campaign.store, spec.import_directory);
    if (!imported) return tl::make_unexpected(imported.error());
    base.durable = std::move(imported->tree);
    base.next_ino = imported->next_ino;
  }
  if (spec.setup.empty()) return base;
  auto setup = Complete(spec.setup, spec);
  if (!setup) return tl::make_unexpected(setup.error());
  RunRequest request;
  request.arguments = *setup;
  request.real_time = true;
  auto result = stage.Run(base, request);
  if (!result) return tl::make_unexpected(result.error());
  failure = FailureOf("setup", *result);
  return Settled(std::move(result->end));
}

// Whether recovery and check are content with `situation`.
Status MustBeGood(Prober& prober, Situation situation, const std::string& which,
                  std::optional<RecordFailure>& failure) {
  Verdict verdict;
  if (prober.has_recovery()) {
    auto recovered = prober.Recover(situation, false);
    if (!recovered) return tl::make_unexpected(recovered.error());
    verdict = (*recovered)->verdict;
    situation.base = (*recovered)->end;
    situation.promises += (*recovered)->promised;
  }
  if (verdict.good()) {
    auto checked = prober.Check(situation, false);
    if (!checked) return tl::make_unexpected(checked.error());
    verdict = checked->verdict;
  }
  if (!verdict.good()) failure = NotGood(which, verdict);
  return {};
}

}  // namespace

RecordFailure NotGood(const std::string& which, const Verdict& verdict) {
  return {which + " fails, so nothing can be said about crashes: " + verdict.phase + ": " +
              verdict.title,
          verdict.output};
}

std::optional<RecordFailure> FailureOf(const std::string& who, const RunResult& result) {
  const std::string output = result.output + result.error;
  if (result.report.stage != SpawnStage::kStarted) {
    return RecordFailure{
        who + " could not be started (" + SpawnStageName(result.report.stage) + ": " +
            std::error_code(result.report.stage_errno, std::generic_category()).message() + ")",
        output};
  }
  if (result.timed_out) return RecordFailure{who + " did not end in time", output};
  if (result.status() == 0) return std::nullopt;
  return RecordFailure{who + " exited with " + std::to_string(result.status()), output};
}

bool MayUseNamespaces() { return ::geteuid() == 0; }

std::string DefaultWorldPath() {
  if (MayUseNamespaces()) return "/run/tornfs-world";
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr) return std::string(runtime) + "/tornfs/world";
  return "/tmp/tornfs-" + std::to_string(::getuid()) + "/world";
}

Status MakeDirectories(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return IoError(error.value(), path);
  return {};
}

StageOptions Campaign::Options(int core) const {
  StageOptions options;
  options.mount_path = spec.mount_path;
  options.origin = spec.origin;
  options.user = spec.user;
  options.seed = spec.seed;
  options.private_namespaces = MayUseNamespaces();
  options.read_only_outside = MayUseNamespaces();
  options.core = core;
  options.timeout = spec.timeout;
  if (workload) options.times = std::make_shared<const FrozenTimes>(*workload);
  return options;
}

Result<Campaign> Prepare(ExploreSpec spec) {
  Campaign campaign;
  auto model = ModelOf(spec);
  if (!model) return tl::make_unexpected(model.error());
  campaign.model = *model;
  auto store = ContentStore::Open({});
  if (!store) return tl::make_unexpected(store.error());
  campaign.store = std::move(*store);
  auto recover = Complete(spec.recover, spec);
  if (!recover) return tl::make_unexpected(recover.error());
  auto check = Complete(spec.check, spec);
  if (!check) return tl::make_unexpected(check.error());
  campaign.recover = std::move(*recover);
  campaign.check = std::move(*check);
  campaign.spec = std::move(spec);
  return campaign;
}

void SetWorkload(Campaign& campaign, std::shared_ptr<const Recording> workload) {
  campaign.workload = std::move(workload);
  const Recording& recording = *campaign.workload;
  campaign.history = recording.Name(*campaign.store).Hex().substr(0, 16);
  campaign.uses_mappings = std::ranges::any_of(
      recording.ops, [](const Op& op) { return op.kind == OpKind::kWriteback; });
  campaign.promises_at_exit =
      recording.promises.size() > 1 && recording.promises.front().cut == recording.end();
  if (campaign.recover.empty() && campaign.check.empty()) {
    campaign.oracle = std::make_shared<const Oracle>(campaign.workload, *campaign.store);
  }
}

Status Record(Campaign& campaign, Stage& stage, std::optional<RecordFailure>& failure) {
  campaign.sees_syncs = stage.sees_syncs();
  auto start = StartingPoint(campaign, stage, failure);
  if (!start) return tl::make_unexpected(start.error());
  if (failure) return {};
  const CommandContext context{campaign.spec.origin, campaign.spec.mount_path,
                               stage.promises_path()};
  auto workload = PrepareArguments(campaign.spec.workload, context);
  if (!workload) return tl::make_unexpected(workload.error());
  RunRequest request;
  request.arguments = *workload;
  request.output_is_promises = true;
  request.inherit_input = true;
  request.record = true;
  request.real_time = true;
  stage.PullMappings();
  auto result = stage.Run(*start, request);
  if (!result) return tl::make_unexpected(result.error());
  failure = FailureOf("the workload", *result);
  if (failure) return {};
  campaign.left_outside = result->report.left_outside;
  SetWorkload(campaign, result->recording);
  stage.Freeze(std::make_shared<const FrozenTimes>(*campaign.workload));
  return CheckEnds(campaign, stage, failure);
}

Status CheckEnds(Campaign& campaign, Stage& stage, std::optional<RecordFailure>& failure) {
  const Recording& recording = *campaign.workload;
  Prober prober(stage, *campaign.store, campaign.recover, campaign.check);
  const Base start = recording.BaseAt(recording.start.next_op);
  if (auto base = MustBeGood(prober, {start, ""}, "the state before the workload", failure);
      !base || failure) {
    return base;
  }
  auto final_state = MustBeGood(
      prober,
      {recording.BaseAt(recording.end()), PromiseText(recording, recording.promises.size())},
      "the final state", failure);
  const auto& outside = stage.outside_writes();
  campaign.outside_writes.insert(outside.begin(), outside.end());
  return final_state;
}

}  // namespace tornfs::harness
