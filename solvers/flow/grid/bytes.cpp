#include "solvers/flow/grid/bytes.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"

extern char** environ;

namespace strata::flow {

namespace {

Error cannot_read(const std::string& name, int why) {
    Error error("the file cannot be read");
    error.at(name).given(std::strerror(why));
    return error;
}

class File final : public Bytes {
  public:
    explicit File(const std::filesystem::path& path)
        : name_(path.string()), file_(::open(path.c_str(), O_RDONLY | O_CLOEXEC)) {
        struct stat found {};
        if (file_ < 0 || fstat(file_, &found) != 0) throw cannot_read(name_, errno);
        if (!S_ISREG(found.st_mode)) throw cannot_read(name_, S_ISDIR(found.st_mode) ? EISDIR : EINVAL);
        size_ = found.st_size;
    }
    ~File() override {
        if (file_ >= 0) ::close(file_);
    }
    [[nodiscard]] std::int64_t size() const override { return size_; }
    void read(std::int64_t offset, std::int64_t count, char* to) const override {
        while (count > 0) {
            const ssize_t got = pread(file_, to, static_cast<std::size_t>(count), offset);
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) throw cannot_read(name_, got < 0 ? errno : EIO);
            offset += got, to += got, count -= got;
        }
    }

  private:
    std::string name_;
    int file_;
    std::int64_t size_ = 0;
};

class Unpacked final : public Bytes {
  public:
    explicit Unpacked(std::string bytes) : bytes_(std::move(bytes)) {}
    [[nodiscard]] std::int64_t size() const override { return static_cast<std::int64_t>(bytes_.size()); }
    void read(std::int64_t offset, std::int64_t count, char* to) const override {
        std::memcpy(to, bytes_.data() + offset, static_cast<std::size_t>(count));
    }

  private:
    std::string bytes_;
};

std::string unpack(const std::filesystem::path& path) {
    File present(path);  // a clear error where it is not there
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("no pipe to xz can be opened", errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    const std::string name = path.string();
    std::string words[] = {"xz", "-dc", "--", name};
    char* arguments[] = {words[0].data(), words[1].data(), words[2].data(), words[3].data(), nullptr};
    pid_t child = 0;
    const int failed = posix_spawnp(&child, "xz", &actions, nullptr, arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    std::string bytes;
    char buffer[65536];
    while (failed == 0) {
        const ssize_t got = ::read(ends[0], buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        bytes.append(buffer, static_cast<std::size_t>(got));
    }
    ::close(ends[0]);
    int status = -1;
    while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    if (failed == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0) return bytes;
    Error error("the file cannot be unpacked");
    error.at(name)
        .given(failed != 0 ? fmt::format("xz does not start: {}", std::strerror(failed)) : "xz failed")
        .remedy(fmt::format("try: xz -dk {}, and name the file without .xz", name));
    throw error;
}

}  // namespace

std::unique_ptr<Bytes> Bytes::open(const std::filesystem::path& path) {
    if (path.extension() == ".xz") return std::make_unique<Unpacked>(unpack(path));
    return std::make_unique<File>(path);
}

std::string read_whole(const std::filesystem::path& path) {
    const auto file = Bytes::open(path);
    std::string bytes(static_cast<std::size_t>(file->size()), '\0');
    file->read(0, file->size(), bytes.data());
    return bytes;
}

}  // namespace strata::flow
