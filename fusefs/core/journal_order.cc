#include "fusefs/core/journal_order.h"

namespace tornfs {

bool IsWrittenSize(std::span<const Effect> effects, std::size_t index) {
  const Effect& size = effects[index];
  if (size.kind != CellKind::kSize || size.group != GroupTag::kAlone) return false;
  for (std::size_t i = index; i-- > 0 && effects[i].op == size.op;) {
    const Effect& data = effects[i];
    if (data.kind == CellKind::kData && data.ino == size.ino && data.group == GroupTag::kAlone &&
        data.offset + data.length == size.value) {
      return true;
    }
  }
  return false;
}

bool IsTruncatedTail(std::span<const Effect> effects, std::size_t index) {
  const Effect& tail = effects[index];
  if (tail.kind != CellKind::kData || tail.group != GroupTag::kAlone || tail.content != kZeros) {
    return false;
  }
  for (std::size_t i = index; i-- > 0 && effects[i].op == tail.op;) {
    if (effects[i].group == GroupTag::kTruncate && effects[i].kind == CellKind::kSize) return true;
  }
  return false;
}

bool IsJournalled(const Model& model, std::span<const Effect> effects, std::size_t index) {
  const Effect& effect = effects[index];
  if (effect.kind == CellKind::kSize) {
    return model.sizes_in_journal() || !IsWrittenSize(effects, index);
  }
  if (effect.kind != CellKind::kData || effect.group == GroupTag::kTruncate) return true;
  if (IsTruncatedTail(effects, index)) return model.truncated_tail() == TruncatedTail::kWhole;
  return model.data_in_journal();
}

}  // namespace tornfs
