// Random programs over a few names, for properties that hold for any history under any model.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "common/rng.h"
#include "unit/core/engine_fixture.h"

namespace tornfs {

class RandomHistory : public EngineFixture, public ::testing::WithParamInterface<std::string_view> {
 protected:
  [[nodiscard]] bool Exists(const std::string& path) {
    return engine_->Lookup(DirOf(path), NameOf(path)).has_value();
  }

  // One op, or none that succeeds. Requires the directory d.
  void Step(Rng& rng) {
    static const std::string kNames[] = {"a", "b", "d/a", "d/b"};
    const std::string& name = kNames[rng.Below(4)];
    const std::string& other = kNames[rng.Below(4)];
    if (!Exists(name)) return Create(name);
    switch (rng.Below(9)) {
      case 0: return Unlink(name);
      case 1: return Rename(name, other);
      case 2: return Fsync(name);
      case 3: return FsyncDir(rng.Below(2) == 0 ? "" : "d");
      case 4: return Truncate(name, rng.Below(9000));
      case 8:
        ASSERT_TRUE(engine_->SetXattr(me_, At(name), "user.x", std::string(rng.Below(3), 'v'), 0));
        return;
      case 5:
        if (!Exists(other)) return Link(name, other);
        [[fallthrough]];
      default:
        Write(name, std::string(1 + rng.Below(6000), static_cast<char>('a' + rng.Below(26))),
              rng.Below(3000));
    }
  }
};

inline std::vector<std::string_view> ModelNames() {
  std::vector<std::string_view> names;
  for (const Model& model : Models()) names.push_back(model.name);
  return names;
}

inline std::string ModelTestName(const ::testing::TestParamInfo<std::string_view>& info) {
  std::string name(info.param);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

}  // namespace tornfs
