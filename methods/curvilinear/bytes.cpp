#include "methods/curvilinear/bytes.hpp"

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
#include <vector>

#include "core/base/error.hpp"

extern char** environ;

namespace strata::flow {

namespace {

constexpr std::int64_t kLeastUnpacked = std::int64_t{64} << 20, kMostShrunk = 64;

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

/// What a program writes, or why there is nothing: `failed` as posix_spawnp() has it.
struct Written {
    int failed = 0, status = -1;
    std::string bytes;  // at most one more than asked for
};

Written written_by(std::vector<std::string> words, std::int64_t most) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("no pipe to " + words[0] + " can be opened", errno);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
    std::vector<char*> arguments;
    for (std::string& word : words) arguments.push_back(word.data());
    arguments.push_back(nullptr);
    pid_t child = 0;
    Written found;
    found.failed = posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    ::close(ends[1]);
    char buffer[65536];
    while (found.failed == 0) {
        const ssize_t got = ::read(ends[0], buffer, sizeof(buffer));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) break;
        found.bytes.append(buffer, static_cast<std::size_t>(got));
        if (static_cast<std::int64_t>(found.bytes.size()) > most) break;  // closing the pipe ends the program
    }
    ::close(ends[0]);
    while (found.failed == 0 && waitpid(child, &found.status, 0) < 0 && errno == EINTR) {
    }
    return found;
}

/// By xz, or by Python where a machine has no xz.
std::string unpack(const std::filesystem::path& path) {
    const File present(path);  // a clear error where it is not there
    const std::string name = path.string();
    // Coordinates shrink to a tenth; a small file that fills all memory is none of a grid.
    const std::int64_t most = kLeastUnpacked + kMostShrunk * present.size();
    Written found = written_by({"xz", "-dc", "--", name}, most);
    if (found.failed != 0)
        found = written_by({"python3", "-c",
                            "import lzma, shutil, sys; "
                            "shutil.copyfileobj(lzma.open(sys.argv[1]), sys.stdout.buffer)",
                            name},
                           most);
    if (static_cast<std::int64_t>(found.bytes.size()) > most) {
        Error error("the file unpacks to far more than it is");
        error.at(name)
            .given(fmt::format("more than {} bytes of {}", most, present.size()))
            .allowed(fmt::format("{} times its size, and {} bytes", kMostShrunk, kLeastUnpacked))
            .remedy(fmt::format("if it is right: xz -dk {}, and name the file without .xz", name));
        throw error;
    }
    if (found.failed == 0 && WIFEXITED(found.status) && WEXITSTATUS(found.status) == 0) return found.bytes;
    Error error("the file cannot be unpacked");
    error.at(name)
        .given(found.failed != 0
                   ? fmt::format("neither xz nor python3 starts: {}", std::strerror(found.failed))
                   : "xz, or Python where there is no xz, failed")
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
