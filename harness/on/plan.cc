#include "harness/on/plan.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <utility>

#include "common/rng.h"

namespace tornfs::harness {
namespace {

constexpr std::string_view kVersion = "d1-";
constexpr std::size_t kHistoryDigits = 16;
// More sectors than a request has.
constexpr std::uint64_t kSectorsMost = 1U << 16;

std::string Optional(std::uint64_t value, std::uint64_t none) {
  return value == none ? "-" : std::to_string(value);
}

// "0-3+7": the numbers of the set bits.
std::string Ranges(const std::vector<bool>& bits) {
  std::string text;
  for (std::size_t i = 0; i < bits.size(); ++i) {
    if (!bits[i]) continue;
    const std::size_t first = i;
    while (i + 1 < bits.size() && bits[i + 1]) ++i;
    text += (text.empty() ? "" : "+") + std::to_string(first);
    if (i > first) text += "-" + std::to_string(i);
  }
  return text;
}

// What is left of a plan's text, taken from its front.
class Rest {
 public:
  explicit Rest(std::string_view text) : text_(text) {}
  [[nodiscard]] bool empty() const { return text_.empty(); }
  bool Skip(std::string_view what) {
    if (!text_.starts_with(what)) return false;
    text_.remove_prefix(what.size());
    return true;
  }
  [[nodiscard]] std::string_view Take(std::size_t size) {
    const std::string_view taken = text_.substr(0, size);
    text_.remove_prefix(taken.size());
    return taken;
  }
  [[nodiscard]] std::optional<std::uint64_t> Number() {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (error != std::errc()) return std::nullopt;
    text_.remove_prefix(static_cast<std::size_t>(end - text_.data()));
    return value;
  }
  [[nodiscard]] std::optional<std::uint64_t> NumberOr(std::uint64_t none) {
    return Skip("-") ? none : Number();
  }
  // "3" or "3-7".
  [[nodiscard]] std::optional<std::pair<std::uint64_t, std::uint64_t>> Range() {
    const auto first = Number();
    const auto last = Skip("-") ? Number() : first;
    if (!first || !last || *last < *first) return std::nullopt;
    return std::pair{*first, *last};
  }

 private:
  std::string_view text_;
};

bool ParseSectors(Rest& rest, ChosenWrite& write) {
  do {
    const auto range = rest.Range();
    if (!range || range->second >= kSectorsMost) return false;
    if (write.sectors.size() <= range->second) write.sectors.resize(range->second + 1);
    for (std::uint64_t i = range->first; i <= range->second; ++i) write.sectors[i] = true;
  } while (rest.Skip("+"));
  return true;
}

bool ParseWrites(Rest& rest, CrashImage& image) {
  do {
    const auto range = rest.Range();
    constexpr std::uint64_t kEventsMost = 1U << 24;
    if (!range || range->second > kEventsMost) return false;
    if (!image.writes.empty() && range->first <= image.writes.back().event) return false;
    for (std::uint64_t event = range->first; event <= range->second; ++event) {
      image.writes.push_back({event, {}});
    }
    if (!rest.Skip("@")) continue;
    image.torn = true;
    if (!ParseSectors(rest, image.writes.back())) return false;
  } while (rest.Skip(","));
  return true;
}

}  // namespace

std::string FormatOnPlan(const OnPlan& plan) {
  const CrashImage& image = plan.image;
  std::string text = std::string(kVersion) + plan.history + "/" + ScheduleLetter(plan.schedule) +
                     "." + Optional(image.flush, kNoFlush) + "." +
                     Optional(image.until, IoEvent::kNever) + "." + std::to_string(plan.promises);
  for (std::size_t i = 0; i < image.writes.size(); ++i) {
    const std::size_t first = image.writes[i].event;
    text += (i == 0 ? ":" : ",") + std::to_string(first);
    if (!image.writes[i].sectors.empty()) {
      text += "@" + Ranges(image.writes[i].sectors);
      continue;
    }
    while (i + 1 < image.writes.size() && image.writes[i + 1].sectors.empty() &&
           image.writes[i + 1].event == image.writes[i].event + 1) {
      ++i;
    }
    if (image.writes[i].event > first) text += "-" + std::to_string(image.writes[i].event);
  }
  return text;
}

Result<OnPlan> ParseOnPlan(std::string_view text) {
  const auto refuse = [&] {
    return Fail(ErrorCode::kInvalid, "no plan of --on: '" + std::string(text) + "'");
  };
  Rest rest(text);
  OnPlan plan;
  if (!rest.Skip(kVersion)) return refuse();
  plan.history = rest.Take(kHistoryDigits);
  if (!rest.Skip("/")) return refuse();
  const auto schedule = ParseProgramSchedules(rest.Take(1));
  if (!schedule || !rest.Skip(".")) return refuse();
  plan.schedule = schedule->front();
  const auto flush = rest.NumberOr(kNoFlush);
  if (!flush || !rest.Skip(".")) return refuse();
  const auto until = rest.NumberOr(IoEvent::kNever);
  if (!until || !rest.Skip(".")) return refuse();
  const auto promises = rest.Number();
  if (!promises) return refuse();
  plan.image.flush = *flush;
  plan.image.until = *until;
  plan.promises = *promises;
  if (rest.Skip(":") && !ParseWrites(rest, plan.image)) return refuse();
  if (!rest.empty()) return refuse();
  return plan;
}

Result<const OnRecording*> RecordingOf(const OnCampaign& campaign, const OnPlan& plan) {
  if (campaign.history != plan.history) {
    return Fail(ErrorCode::kInvalid, "the plan is about history " + plan.history +
                                         ", the trace holds " + campaign.history);
  }
  const auto found = std::ranges::find(campaign.recordings, plan.schedule, &OnRecording::schedule);
  const auto none = [] {
    return Fail(ErrorCode::kInvalid, "the trace has nothing that the plan could be about");
  };
  if (found == campaign.recordings.end() || plan.promises > found->promises.size()) return none();
  const IoLog& log = found->device.log;
  const auto is = [&](std::size_t event, IoEvent::Kind kind) {
    return event < log.size() && log[event].kind == kind;
  };
  if (plan.image.flush != kNoFlush && !is(plan.image.flush, IoEvent::Kind::kFlush)) return none();
  for (const ChosenWrite& write : plan.image.writes) {
    if (!is(write.event, IoEvent::Kind::kWrite)) return none();
    const std::size_t sectors = log[write.event].data.size() / DeviceImage::kSectorBytes;
    if (write.sectors.size() > sectors) return none();
  }
  return &*found;
}

std::vector<OnPlan> PlanCrashes(const OnCampaign& campaign) {
  const OnSpec& spec = campaign.spec;
  std::vector<OnPlan> plans;
  for (const OnRecording& recording : campaign.recordings) {
    ImageLimits limits;
    limits.images = (spec.images + campaign.recordings.size() - 1) / campaign.recordings.size();
    limits.seed = spec.explore.seed * 1000003 + static_cast<std::uint64_t>(recording.schedule);
    limits.data_in_sectors = true;
    limits.at_marks = true;
    CrashImages found = PlanCrashImages(recording.device, spec.filesystem, limits);
    for (CrashImage& image : found.images) {
      const std::size_t promises = image.moments.front().last_ended;
      plans.push_back({campaign.history, recording.schedule, promises, std::move(image)});
    }
  }
  Rng rng(spec.explore.seed);
  for (std::size_t i = plans.size(); i > 1; --i) std::swap(plans[i - 1], plans[rng.Below(i)]);
  if (plans.size() > spec.images) plans.resize(spec.images);
  return plans;
}

}  // namespace tornfs::harness
