#include "harness/on/loss.h"

#include <algorithm>

namespace tornfs::harness {

BlockLoss LossOf(const OnRecording& recording, const CrashImage& image) {
  BlockLoss loss;
  const std::vector<ChosenWrite> kept = WritesOf(recording.device, image);
  loss.durable = kept.size() - image.writes.size();
  std::size_t next = 0;
  for (std::size_t i = 0; i < recording.device.log.size(); ++i) {
    const IoEvent& event = recording.device.log[i];
    if (event.kind == IoEvent::Kind::kFlush && image.flush != kNoFlush && i <= image.flush) {
      ++loss.flushes;
    }
    if (event.kind != IoEvent::Kind::kWrite || event.issued >= image.until) continue;
    ++loss.open;
    const bool there = next < kept.size() && kept[next].event == i;
    if (there && kept[next].sectors.empty()) {
      ++next;
      continue;
    }
    ++loss.lost;
    std::size_t sectors = 0;
    if (there) {
      ++loss.torn;
      sectors = static_cast<std::size_t>(std::ranges::count(kept[next++].sectors, true));
    }
    loss.lost_bytes += event.data.size() - sectors * DeviceImage::kSectorBytes;
  }
  loss.open -= loss.durable;
  return loss;
}

}  // namespace tornfs::harness
