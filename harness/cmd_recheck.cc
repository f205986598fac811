// tornfs recheck: puts a directory to a check as an exploration would.
#include <boost/program_options.hpp>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "common/fd.h"
#include "common/log.h"
#include "common/units.h"
#include "fusefs/core/host_tree.h"
#include "harness/commands.h"
#include "harness/cpu.h"
#include "harness/explore/campaign.h"
#include "harness/printing.h"
#include "harness/sandbox.h"

namespace tornfs::harness {
namespace {

namespace po = boost::program_options;
namespace fs = std::filesystem;

void Describe(po::options_description& options, std::vector<Positional>& positionals) {
  positionals.push_back({"DIR", true});
  auto add = options.add_options();
  add("check", po::value<std::string>(), "judges the directory: 0 good, anything else a violation");
  add("recover", po::value<std::string>(), "run before the check");
  add("promises", po::value<std::string>(), "a file with the lines that had been promised");
  add("timeout", po::value<std::string>()->default_value("60s"), "for each run");
}

std::string Text(const ParsedCommand& parsed, const char* name) {
  return parsed.options.count(name) > 0 ? parsed.options[name].as<std::string>() : std::string();
}

// What is judged, and what had been promised.
struct Subject {
  std::string tree;
  std::string promises;
};

Result<Subject> SubjectOf(const ParsedCommand& parsed) {
  const std::string& directory = parsed.positionals.front();
  std::error_code ignored;
  if (!fs::is_directory(directory, ignored)) {
    return Fail(ErrorCode::kInvalid, directory + ": not a directory");
  }
  Subject subject{directory, ""};
  std::string promises = Text(parsed, "promises");
  if (fs::exists(directory + "/finding.json", ignored)) {
    subject.tree = directory + "/after";
    if (promises.empty()) promises = directory + "/promises.txt";
  }
  if (promises.empty()) return subject;
  auto text = ReadFile(promises);
  if (!text) return Fail(ErrorCode::kInvalid, text.error().Message());
  subject.promises = std::move(*text);
  return subject;
}

Result<Verdict> Judge(const Campaign& campaign, const Subject& subject) {
  auto imported = ImportDirectory(*campaign.store, subject.tree);
  if (!imported) return tl::make_unexpected(imported.error());
  Situation situation;
  situation.base.durable = std::move(imported->tree);
  situation.base.next_ino = imported->next_ino;
  situation.promises = subject.promises;
  Status ready = MakeDirectories(campaign.spec.mount_path);
  if (ready && MayUseNamespaces()) ready = EnterPrivateNamespaces();
  if (!ready) return tl::make_unexpected(ready.error());
  auto stage =
      Stage::Open(*campaign.store, *campaign.model, campaign.Options(AvailableCores().front()));
  if (!stage) return tl::make_unexpected(stage.error());
  Prober prober(**stage, *campaign.store, campaign.recover, campaign.check);
  if (prober.has_recovery()) {
    auto recovered = prober.Recover(situation, false);
    if (!recovered) return tl::make_unexpected(recovered.error());
    if (!(*recovered)->verdict.good()) return (*recovered)->verdict;
    situation.base = (*recovered)->end;
    situation.promises += (*recovered)->promised;
  }
  auto checked = prober.Check(situation, false);
  if (!checked) return tl::make_unexpected(checked.error());
  return checked->verdict;
}

Result<int> Recheck(const ParsedCommand& parsed) {
  ExploreSpec spec;
  spec.check = Text(parsed, "check");
  spec.recover = Text(parsed, "recover");
  spec.origin = fs::current_path();
  spec.mount_path = DefaultWorldPath();
  auto timeout = ParseDuration(Text(parsed, "timeout"));
  if (!timeout) return tl::make_unexpected(timeout.error());
  spec.timeout = *timeout;
  if (spec.check.empty() && spec.recover.empty()) {
    return Fail(ErrorCode::kInvalid, "give --check, or --recover, or both");
  }
  const auto subject = SubjectOf(parsed);
  if (!subject) return tl::make_unexpected(subject.error());
  auto campaign = Prepare(std::move(spec));
  if (!campaign) return tl::make_unexpected(campaign.error());
  const auto verdict = Judge(*campaign, *subject);
  if (!verdict) return tl::make_unexpected(verdict.error());
  const bool unknown = verdict->judgement == Judgement::kCannotJudge;
  if (parsed.json) {
    const nlohmann::json json = {{"good", verdict->good()}, {"can_judge", !unknown},
                                 {"phase", verdict->phase}, {"status", verdict->status},
                                 {"title", verdict->title}, {"output", verdict->output}};
    std::cout << json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) << "\n";
  } else {
    std::cout << verdict->output
              << (verdict->good() ? "good" : verdict->phase + ": " + verdict->title) << "\n";
  }
  return verdict->good() ? kExitOk : unknown ? kExitInconclusive : kExitViolation;
}

int Run(const ParsedCommand& parsed) {
  if (!CanPrint()) return kExitInconclusive;
  const auto code = Recheck(parsed);
  if (code) return AfterPrinting(*code);
  if (code.error().code == ErrorCode::kInvalid) return UsageError(parsed, code.error().Message());
  LogError(code.error().Message());
  return code.error().code == ErrorCode::kMissing ? kExitMissing : kExitInconclusive;
}

}  // namespace

const Command kRecheckCommand{
    "recheck",
    "put a directory to a check",
    "DIR --check CMD [options]",
    "DIR is the folder of a finding (its after/ and promises.txt are taken), or any directory, "
    "such\n"
    "as before/ or what `tornfs export` wrote. A copy of it is put to recovery and check as in an\n"
    "exploration: on a mount, contained, with a time limit. DIR itself stays as it is.\n"
    "\n"
    "Exit status: 0 good, 1 violation, 3 the check cannot judge it.",
    TakesChild::kNone,
    Describe,
    Run};

}  // namespace tornfs::harness
