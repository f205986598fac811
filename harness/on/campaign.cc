#include "harness/on/campaign.h"

#include "common/hash.h"
#include "harness/device/crash_images.h"
#include "harness/on/repeated_input.h"
#include "harness/on/stage.h"

namespace tornfs::harness {
namespace {

// Whether recovery and check are content with a state that no crash made.
Status MustBeGood(OnStage& stage, DeviceImage image, const std::string& promises,
                  const std::string& which, std::optional<RecordFailure>& failure) {
  auto judged = stage.Judge(std::move(image), promises);
  if (!judged) return tl::make_unexpected(judged.error());
  if (!judged->mounted) return Fail(ErrorCode::kIo, which + ": " + judged->why_not);
  if (!judged->verdict.good()) failure = NotGood(which, judged->verdict);
  return {};
}

}  // namespace

std::string PromiseText(const OnRecording& recording, std::size_t count) {
  std::string text;
  for (std::size_t i = 0; i < count; ++i) text += recording.promises[i] + "\n";
  return text;
}

Status RecordOn(OnCampaign& campaign, OnStage& stage, const RepeatedInput& input,
                std::optional<RecordFailure>& failure) {
  auto start = stage.MakeWorld(failure);
  if (!start) return tl::make_unexpected(start.error());
  if (failure) return {};
  const Status base = MustBeGood(stage, *start, "", "the state before the workload", failure);
  if (!base || failure) return base;
  for (const Schedule schedule : campaign.spec.schedules) {
    const auto rewound = input.Rewound();
    if (!rewound) return tl::make_unexpected(rewound.error());
    auto recording = stage.Record(*start, schedule, *rewound, failure);
    if (!recording) return tl::make_unexpected(recording.error());
    if (failure) return {};
    const Status end =
        MustBeGood(stage, FinalImage(recording->device),
                   PromiseText(*recording, recording->promises.size()), "the final state", failure);
    if (!end || failure) return end;
    campaign.recordings.push_back(std::move(*recording));
  }
  NameHistory(campaign);
  return {};
}

void NameHistory(OnCampaign& campaign) {
  Digest name;
  for (const OnRecording& recording : campaign.recordings) {
    name = Mix(name, static_cast<std::uint64_t>(recording.schedule));
    for (const std::string& line : recording.promises) name = Mix(name, Hash128(line));
    for (const IoEvent& event : recording.device.log) {
      name = Mix(Mix(name, event.issued), event.completed);
      name = Mix(Mix(name, event.offset), Hash128(event.data));
    }
  }
  campaign.history = name.Hex().substr(0, 16);
}

}  // namespace tornfs::harness
