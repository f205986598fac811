// Listings on a real mount.
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>

#include "mount_fixture.h"

namespace tornfs {
namespace {

// The names in `path`, each expected once. `each` is called after every entry.
std::set<std::string> Names(const char* path, const std::function<void(const char*)>& each = {}) {
  std::set<std::string> names;
  DIR* list = opendir(path);
  EXPECT_NE(list, nullptr);
  while (const dirent* entry = readdir(list)) {
    EXPECT_TRUE(names.insert(entry->d_name).second) << entry->d_name << " listed twice";
    if (each) each(entry->d_name);
  }
  closedir(list);
  names.erase(".");
  names.erase("..");
  return names;
}

std::string NameOf(int i) { return "d/file-" + std::to_string(i); }

class DirectoryTest : public MountTest {
 protected:
  static void MakeMany(int count) {
    ASSERT_EQ(mkdir("d", 0755), 0);
    for (int i = 0; i < count; ++i) ASSERT_EQ(mknod(NameOf(i).c_str(), S_IFREG | 0644, 0), 0);
  }
};

TEST_F(DirectoryTest, TenThousandEntriesAreListedOnce) {
  InChild([] {
    MakeMany(10000);
    EXPECT_EQ(Names("d").size(), 10000U);
    EXPECT_EQ(Names("d",
                    [](const char* name) {
                      struct stat found {};
                      EXPECT_EQ(stat((std::string("d/") + name).c_str(), &found), 0);
                    })
                  .size(),
              10000U);
  });
}

TEST_F(DirectoryTest, DeletingWhileListingLosesNothingElse) {
  InChild([] {
    MakeMany(10000);
    int seen = 0;
    Names("d", [&](const char* name) {
      if (name[0] == '.') return;
      ++seen;
      EXPECT_EQ(unlink((std::string("d/") + name).c_str()), 0);
    });
    EXPECT_EQ(seen, 10000);
    EXPECT_TRUE(Names("d").empty());
    EXPECT_EQ(rmdir("d"), 0);
  });
}

TEST_F(DirectoryTest, TypesAndNumbersComeWithTheNames) {
  InChild([] {
    ASSERT_EQ(mkdir("d", 0755), 0);
    Spew("a", "");
    DIR* list = opendir(".");
    int known = 0;
    while (const dirent* entry = readdir(list)) {
      struct stat found {};
      ASSERT_EQ(stat(entry->d_name, &found), 0);
      if (std::string(entry->d_name) != "..") {
        EXPECT_EQ(found.st_ino, entry->d_ino) << entry->d_name;
      }
      if (std::string(entry->d_name) == "a") known += entry->d_type == DT_REG ? 1 : 0;
      if (std::string(entry->d_name) == "d") known += entry->d_type == DT_DIR ? 1 : 0;
    }
    closedir(list);
    EXPECT_EQ(known, 2);
  });
}

TEST_F(DirectoryTest, ARemovedDirectoryTakesNothing) {
  InChild([] {
    ASSERT_EQ(mkdir("d", 0755), 0);
    ASSERT_EQ(chdir("d"), 0);
    ASSERT_EQ(rmdir("../d"), 0);
    EXPECT_EQ(open("a", O_CREAT | O_WRONLY, 0644), -1);
    EXPECT_EQ(errno, ENOENT);
  });
}

class PlainListingTest : public MountTest {
 protected:
  static MountOptions Plain() {
    MountOptions options;
    options.readdirplus = false;
    return options;
  }
  PlainListingTest() : MountTest(Plain()) {}
};

TEST_F(PlainListingTest, ListsTheSame) {
  InChild([] {
    Spew("a", "");
    Spew("b", "");
    EXPECT_EQ(Names("."), (std::set<std::string>{"a", "b"}));
  });
}

}  // namespace
}  // namespace tornfs
