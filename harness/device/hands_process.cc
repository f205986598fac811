#include "harness/device/hands_process.h"

#include <fcntl.h>
#include <linux/fs.h>
#include <signal.h>
#include <spawn.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "fusefs/core/content_store.h"
#include "fusefs/core/host_tree.h"
#include "fusefs/fuse/loop_device.h"
#include "harness/device/hands.h"
#include "harness/device/step_runner.h"
#include "harness/device/tree_text.h"

namespace tornfs::harness {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMessageMost = 160 << 10;

class Process {
 public:
  Process(Fd socket, std::string mount_point)
      : socket_(std::move(socket)), mount_point_(std::move(mount_point)) {}

  void Serve() {
    while (const std::optional<Json> request = Receive()) {
      Json answer{{"ok", true}};
      const Status done = Handle(*request, answer);
      if (!done) {
        answer = {{"error", static_cast<int>(done.error().code)},
                  {"errno", done.error().sys_errno},
                  {"text", done.error().context}};
      }
      Send(answer);
    }
    runner_.reset();
    if (!shown_.empty()) (void)::umount2(shown_.c_str(), MNT_DETACH);
    if (mounted_) (void)::umount2(mount_point_.c_str(), MNT_DETACH);
  }

 private:
  std::optional<Json> Receive() {
    buffer_.resize(kMessageMost);
    const ssize_t length = ::recv(socket_.get(), buffer_.data(), buffer_.size(), 0);
    if (length <= 0) return std::nullopt;
    buffer_.resize(static_cast<std::size_t>(length));
    return Json::parse(buffer_, nullptr, false);
  }

  void Send(const Json& message) {
    const std::string text = message.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    (void)!::send(socket_.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }

  Status Handle(const Json& request, Json& answer) {
    const std::string what = request["do"];
    if (what == "attach") return Attach(request["file"]);
    if (what == "make") return Make(request["words"], request["id"], request["size"]);
    if (what == "mount") return Mount(request["type"], request["options"], 0);
    if (what == "unmount") return Unmount();
    if (what == "folder") return MakeFolder(request["path"], request["owner"], request["group"]);
    if (what == "copy") return Copy(request["from"], request["to"]);
    if (what == "show") return Show(request["folder"], request["at"]);
    if (what == "look") return Look(request["type"], request["options"], answer);
    if (what == "run") return Run(request["steps"]);
    return Side(static_cast<SideCall>(request["call"].get<int>()));
  }

  Status Attach(const std::string& file) {
    Fd backing(::open(file.c_str(), O_RDWR | O_DIRECT | O_CLOEXEC));
    if (!backing.valid()) return IoError(errno, "open " + file);
    auto device = AttachLoopDevice(backing, LoopAccess::kDirect);
    if (!device) return tl::make_unexpected(device.error());
    device_ = std::move(*device);
    return {};
  }

  // Runs mkfs with its output in a file of its own.
  Status Make(std::vector<std::string> words, const std::string& id, const std::string& size) {
    for (std::string& word : words) {
      for (const auto& [name, value] : {std::pair<std::string, std::string>{"{id}", id},
                                        {"{size}", size},
                                        {"{device}", device_.path}}) {
        const std::size_t at = word.find(name);
        if (at != std::string::npos) word.replace(at, name.size(), value);
      }
    }
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    (void)::ioctl(device_.fd.get(), BLKFLSBUF, 0);
    const Fd output(::memfd_create("mkfs", MFD_CLOEXEC));
    if (!output.valid()) return IoError(errno, "memfd_create");
    posix_spawn_file_actions_t actions;
    (void)::posix_spawn_file_actions_init(&actions);
    for (const int fd : {1, 2}) {
      (void)::posix_spawn_file_actions_adddup2(&actions, output.get(), fd);
    }
    std::string path = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    char* environment[] = {path.data(), nullptr};
    pid_t pid = -1;
    const int spawned = ::posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environment);
    (void)::posix_spawn_file_actions_destroy(&actions);
    if (spawned != 0) return IoError(spawned, words[0]);
    int status = 0;
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
    (void)::lseek(output.get(), 0, SEEK_SET);
    return Fail(ErrorCode::kIo, words[0] + ": " + ReadAll(output.get()).value_or("failed"));
  }

  Status Mount(const std::string& type, const std::string& options, unsigned long flags) {
    // What the kernel remembers of the device is of the image before.
    (void)::ioctl(device_.fd.get(), BLKFLSBUF, 0);
    if (::mount(device_.path.c_str(), mount_point_.c_str(), type.c_str(), flags, options.c_str()) !=
        0) {
      return IoError(errno, "mount " + type + " " + options);
    }
    mounted_ = true;
    return {};
  }

  static Status MakeFolder(const std::string& path, uid_t owner, gid_t group) {
    if (::mkdir(path.c_str(), 0755) != 0) return IoError(errno, "mkdir " + path);
    if (::chown(path.c_str(), owner, group) != 0) return IoError(errno, "chown " + path);
    return {};
  }

  static Status Copy(const std::string& from, const std::string& to) {
    auto store = ContentStore::Open({});
    if (!store) return tl::make_unexpected(store.error());
    auto imported = ImportDirectory(**store, from);
    if (!imported) return tl::make_unexpected(imported.error());
    return ExportTree(imported->tree, **store, to);
  }

  Status Show(const std::string& folder, const std::string& at) {
    if (::mount(folder.c_str(), at.c_str(), nullptr, MS_BIND, nullptr) != 0) {
      return IoError(errno, "bind " + folder);
    }
    shown_ = at;
    return {};
  }

  Status Unmount() {
    runner_.reset();
    if (!shown_.empty() && ::umount2(shown_.c_str(), 0) != 0) return IoError(errno, "umount");
    shown_.clear();
    if (mounted_ && ::umount2(mount_point_.c_str(), 0) != 0) return IoError(errno, "umount");
    mounted_ = false;
    return {};
  }

  Status Look(const std::string& type, const std::string& options, Json& answer) {
    const Status mounted = Mount(type, options, MS_RDONLY);
    if (!mounted) {
      return tl::make_unexpected(
          Error{ErrorCode::kCorrupt, mounted.error().sys_errno, "cannot be mounted"});
    }
    auto tree = ReadTreeText(mount_point_);
    const Status unmounted = Unmount();
    if (!unmounted) return unmounted;
    if (!tree) {
      return tl::make_unexpected(
          Error{ErrorCode::kCorrupt, tree.error().sys_errno, tree.error().context});
    }
    answer["tree"] = *tree;
    return {};
  }

  Status OpenRunner() {
    if (runner_) return {};
    auto runner = StepRunner::Open(mount_point_);
    if (!runner) return tl::make_unexpected(runner.error());
    runner_.emplace(std::move(*runner));
    return {};
  }

  Status Run(const Json& steps) {
    const Status open = OpenRunner();
    if (!open) return open;
    for (std::size_t i = 0; i < steps.size(); ++i) {
      Tell("before", i);
      const Status done = runner_->Run(steps[i].get<StepWords>());
      if (!done) return done;
      Tell("after", i);
    }
    return {};
  }

  // Waits until the other side has seen it: what comes later must be later there, too.
  void Tell(const char* key, std::size_t step) {
    Send(Json{{key, step}});
    (void)Receive();
  }

  Status Side(SideCall call) {
    const Status open = OpenRunner();
    if (!open) return open;
    switch (call) {
      case SideCall::kSyncAnother: return runner_->SyncAnother();
      case SideCall::kWriteBack: return runner_->WriteBack();
      case SideCall::kSyncAll: return runner_->SyncAll();
    }
    return {};
  }

  Fd socket_;
  std::string mount_point_;
  std::string buffer_;
  LoopDevice device_;
  bool mounted_ = false;
  std::string shown_;  // Where a folder of it is shown, too; empty: nowhere.
  std::optional<StepRunner> runner_;
};

}  // namespace

void RunHands(Fd socket, const std::string& mount_point) {
  // Ctrl-C goes to the whole group; the other side decides when this one ends.
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) (void)::signal(signal, SIG_IGN);
  (void)::umask(022);
  Process(std::move(socket), mount_point).Serve();
}

}  // namespace tornfs::harness
