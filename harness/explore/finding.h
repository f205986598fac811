// Finding: a violation as it is handed over: its plan, its explanation, and a folder with
// everything needed to look at it and to see it again.
//
//   finding.json   all of the below in one machine-readable piece
//   plan.txt       the plan
//   explanation.txt  the sentence
//   timeline.txt   every op up to the crash, and what of the pending ones was kept and lost
//   before/        the tree as the program saw it when the crash came
//   after/         the tree the crash left, as a plain directory
//   promises.txt   what had been promised
//   check.log      what recovery or check printed
//   repro.sh       puts after/ to recovery and check without tornfs
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "common/result.h"
#include "harness/explore/explain.h"
#include "harness/explore/fence.h"
#include "harness/explore/plan_run.h"
#include "harness/explore/spec.h"

namespace tornfs::harness {

struct Finding {
  std::string id;  // "f-" and 12 hex digits, from the plan and the signature.
  std::string signature;
  std::string title;
  std::string phase;
  int status = 0;
  std::string sentence;
  std::string plan;  // As text.
  std::vector<Loss> losses;
  std::vector<std::string> models;  // That allow the state; weakest first.
  std::optional<Fence> fence;       // What would keep it from happening, if one barrier does.
};

// Names and explains the failure that `run` of `plan` showed.
[[nodiscard]] Finding MakeFinding(const PlanContext& context, const Plan& plan, const PlanRun& run);

[[nodiscard]] nlohmann::json FindingToJson(const Finding& finding);
// Errors: kCorrupt.
[[nodiscard]] Result<Finding> FindingFromJson(const nlohmann::json& json);

// Writes the folder `directory`, which must not exist. Errors: kIo.
[[nodiscard]] Status WriteFinding(const std::string& directory, const Finding& finding,
                                  const ExploreSpec& spec, const Plan& plan, const PlanRun& run,
                                  const ContentStore& store);

// Writes finding.json in `directory` anew. Errors: kIo.
[[nodiscard]] Status RewriteFinding(const std::string& directory, const Finding& finding,
                                    const ExploreSpec& spec);

}  // namespace tornfs::harness
