#include "harness/mount_command.h"

#include <unistd.h>

#include <boost/program_options.hpp>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "common/units.h"
#include "harness/control_client.h"
#include "harness/failure.h"

namespace tornfs::harness {

namespace po = boost::program_options;
using Json = nlohmann::json;

void DescribeMountCommand(po::options_description& options, std::vector<Positional>& positionals) {
  positionals.push_back({"MNT"});
  options.add_options()("control", po::value<std::string>()->value_name("SOCK"),
                        "the control socket, if it is not at its default path");
}

std::string ControlPathOf(const ParsedCommand& parsed) {
  const auto& control = parsed.options["control"];
  return control.empty() ? DefaultControlPath(parsed.positionals.front())
                         : control.as<std::string>();
}

int CallMount(const ParsedCommand& parsed, std::string_view op, const Json& args,
              const std::function<void(const Json&)>& print, std::chrono::seconds timeout) {
  auto client = ControlClient::Connect(ControlPathOf(parsed), std::chrono::seconds(5));
  if (!client) return ReportFailure(parsed, client.error());
  (void)!::chdir("/");
  const auto result = client->Call(op, args, timeout);
  if (!result) return ReportFailure(parsed, result.error());
  if (parsed.json) {
    std::puts(result->dump(-1, ' ', false, Json::error_handler_t::replace).c_str());
  } else {
    print(*result);
  }
  return kExitOk;
}

void DescribeCrashOptions(po::options_description& options) {
  options.add_options()("lose", po::value<std::string>()->default_value("all"),
                        "which pending effects are lost: all, none or random");
  options.add_options()("seed", po::value<std::string>()->value_name("N"),
                        "makes --lose random repeatable");
  options.add_options()("tear", po::value<std::string>()->default_value("page"),
                        "how small a piece of a write can survive: none, page, sector or byte");
  options.add_options()("plan", po::value<std::string>()->value_name("TOKEN"),
                        "lose exactly what an earlier crash with this plan lost; --tear must be "
                        "as it was then");
}

Result<CrashOptions> ReadCrashOptions(const ParsedCommand& parsed) {
  CrashOptions options;
  const auto lose = ParseLose(parsed.options["lose"].as<std::string>());
  if (!lose) return tl::make_unexpected(lose.error());
  const auto tear = ParseTear(parsed.options["tear"].as<std::string>());
  if (!tear) return tl::make_unexpected(tear.error());
  options.lose = *lose;
  options.tear = *tear;
  if (parsed.options.count("seed") != 0) {
    const auto seed = ParseNumber(parsed.options["seed"].as<std::string>());
    if (!seed) return tl::make_unexpected(seed.error());
    options.seed = *seed;
  }
  if (parsed.options.count("plan") != 0) {
    options.plan = parsed.options["plan"].as<std::string>();
    if (options.plan.empty()) return Fail(ErrorCode::kInvalid, "the plan is empty");
    if (!parsed.options["lose"].defaulted() || options.seed) {
      return Fail(ErrorCode::kInvalid, "--plan says what is lost; leave out --lose and --seed");
    }
  }
  return options;
}

}  // namespace tornfs::harness
