// What the mount hears of what a program asks: neither more nor less than what a crash state can be
// told apart by.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "fusefs/core/question.h"
#include "mount_fixture.h"

namespace tornfs {
namespace {

using Pages = std::vector<std::uint64_t>;

MountOptions ForQuestions() {
  MountOptions options;
  options.readdirplus = false;
  options.max_readahead = 0;
  return options;
}

class QuestionsTest : public MountTest {
 protected:
  static constexpr std::size_t kPage = 4096;

  QuestionsTest() : MountTest(ForQuestions()) {
    InChild([] { Spew("a", std::string(64 * kPage, '.')); });
    Record();
  }

  // The pages of files that `body` asks for, in order of number.
  Pages PagesAsked(const std::function<void()>& body) {
    QuestionLog log({engine().Snapshot().next_ino, {}});
    server().SetQuestionLog(&log);
    InChild(body);
    server().SetQuestionLog(nullptr);
    Pages pages;
    for (const Asked& each : log.asked()) {
      if (each.question.kind == Question::Kind::kPage) pages.push_back(each.question.at);
    }
    std::ranges::sort(pages);
    return pages;
  }
};

void ReadAt(int fd, std::size_t length, off_t at) {
  std::string buffer(length, '\0');
  EXPECT_EQ(pread(fd, buffer.data(), length, at), static_cast<ssize_t>(length));
}

TEST_F(QuestionsTest, AReadFromTheStartAsksForItsPagesAlone) {
  EXPECT_EQ(PagesAsked([] {
              const int fd = open("a", O_RDONLY);
              ReadAt(fd, 3 * kPage, 0);
              close(fd);
            }),
            (Pages{0, 1, 2}));
}

TEST_F(QuestionsTest, ReadsInARowAskForTheirPagesAlone) {
  EXPECT_EQ(PagesAsked([] {
              const int fd = open("a", O_RDONLY);
              std::array<char, 2 * kPage> buffer;
              for (int i = 0; i < 3; ++i) {
                EXPECT_EQ(read(fd, buffer.data(), buffer.size()),
                          static_cast<ssize_t>(buffer.size()));
              }
              close(fd);
            }),
            (Pages{0, 1, 2, 3, 4, 5}));
}

TEST_F(QuestionsTest, ScatteredReadsAskForTheirPagesAlone) {
  EXPECT_EQ(PagesAsked([] {
              const int fd = open("a", O_RDONLY);
              ReadAt(fd, 10, 5000);
              ReadAt(fd, 5 * kPage, 20 * kPage);
              close(fd);
            }),
            (Pages{1, 20, 21, 22, 23, 24}));
}

TEST_F(QuestionsTest, ATouchedByteOfAMappingAsksForItsPage) {
  EXPECT_EQ(PagesAsked([] {
              const int fd = open("a", O_RDONLY);
              void* at = mmap(nullptr, 64 * kPage, PROT_READ, MAP_SHARED, fd, 0);
              EXPECT_NE(at, MAP_FAILED);
              EXPECT_EQ(static_cast<volatile char*>(at)[40 * kPage + 7], '.');
              close(fd);
            }),
            (Pages{40}));
}

}  // namespace
}  // namespace tornfs
