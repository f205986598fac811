#include "harness/identity.h"

#include <grp.h>
#include <pwd.h>

#include <limits>

#include "common/units.h"

namespace tornfs::harness {
namespace {

const passwd* FindEntry(const std::string& name) {
  if (const passwd* entry = ::getpwnam(name.c_str())) return entry;
  const auto number = ParseNumber(name);
  if (!number || *number > std::numeric_limits<uid_t>::max()) return nullptr;
  return ::getpwuid(static_cast<uid_t>(*number));
}

}  // namespace

Result<Identity> LookUpUser(const std::string& name) {
  const passwd* entry = FindEntry(name);
  if (entry == nullptr) return Fail(ErrorCode::kNotFound, "no such user: '" + name + "'");
  Identity identity{entry->pw_uid, entry->pw_gid, {}};
  int count = 16;
  identity.groups.resize(static_cast<std::size_t>(count));
  while (::getgrouplist(entry->pw_name, entry->pw_gid, identity.groups.data(), &count) < 0) {
    identity.groups.resize(static_cast<std::size_t>(count));
  }
  identity.groups.resize(static_cast<std::size_t>(count));
  return identity;
}

}  // namespace tornfs::harness
