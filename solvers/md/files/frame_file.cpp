#include "solvers/md/files/frame_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "core/base/error.hpp"

namespace strata::md {

namespace fs = std::filesystem;

namespace {

/// An open file; errors name it.
class Open {
  public:
    Open(const fs::path& path, int flags)
        : path_(path), file_(::open(path.c_str(), flags | O_CLOEXEC, 0666)) {
        if (file_ < 0) fail("cannot be opened", errno);
    }
    ~Open() { ::close(file_); }
    Open(const Open&) = delete;
    Open& operator=(const Open&) = delete;
    [[nodiscard]] int number() const { return file_; }
    [[noreturn]] void fail(const std::string& what, int error_number) const {
        throw system_error("the trajectory " + what, error_number)
            .at(path_.string())
            .remedy("make room, or write elsewhere; earlier frames are as they were");
    }
    void write(std::string_view bytes, std::int64_t at) const {
        while (!bytes.empty()) {
            const ssize_t done = ::pwrite(file_, bytes.data(), bytes.size(), static_cast<off_t>(at));
            if (done < 0 && errno == EINTR) continue;
            if (done <= 0) fail("cannot be written", done < 0 ? errno : ENOSPC);
            bytes.remove_prefix(static_cast<std::size_t>(done));
            at += done;
        }
    }
    [[nodiscard]] std::string read(std::size_t bytes) const {
        std::string text(bytes, '\0');
        std::size_t done = 0;
        while (done < bytes) {
            const ssize_t got = ::pread(file_, text.data() + done, bytes - done, static_cast<off_t>(done));
            if (got < 0 && errno == EINTR) continue;
            if (got < 0) fail("cannot be read", errno);
            if (got == 0) break;
            done += static_cast<std::size_t>(got);
        }
        text.resize(done);
        return text;
    }

  private:
    fs::path path_;
    int file_;
};

void copy(const Open& from, const Open& to, std::int64_t at, std::int64_t bytes) {
    std::vector<char> block(std::size_t{1} << 20);
    for (std::int64_t done = 0; done < bytes;) {
        const ssize_t got = ::pread(from.number(), block.data(), block.size(), static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) from.fail("cannot be read", got < 0 ? errno : EIO);
        to.write({block.data(), static_cast<std::size_t>(got)}, at + done);
        done += got;
    }
}

}  // namespace

FrameFile::FrameFile(fs::path path, const FrameFormat& format)
    : path_(std::move(path)), part_(path_.string() + ".part"), format_(format) {}

std::int64_t FrameFile::begin(std::int64_t after) {
    abandon();
    if (!fs::exists(path_)) return -1;
    if (after < 0)
        throw Error("there is a trajectory already")
            .at(path_.string())
            .remedy("choose another folder, or restart");
    const auto size = static_cast<std::int64_t>(fs::file_size(path_));
    const auto head = static_cast<std::int64_t>(format_.head(0).size());
    const Open file(path_, O_RDWR);
    const Trajectory& t = format_.trajectory();
    const std::int64_t looked = std::min<std::int64_t>(format_.frame_bytes(), 4096) + head;
    const std::int64_t first = size < head + format_.frame_bytes()
                                   ? after + 1
                                   : format_.first_step(file.read(static_cast<std::size_t>(looked)));
    if (first < 0)
        throw Error("the trajectory is not one of this run: other atoms, another interval or another form")
            .at(path_.string())
            .remedy("restart with the same section [trajectory], or move the file away");
    const std::int64_t frames = first > after ? 0 : (after - first) / t.every + 1;
    if (head + frames * format_.frame_bytes() > size)
        throw Error("the trajectory has fewer frames than the run had written at its checkpoint")
            .at(path_.string())
            .given(fmt::format("{}", (size - head) / format_.frame_bytes()))
            .allowed(fmt::format("{} up to step {}", frames, after))
            .remedy("move the file away: the run then begins another one");
    if (frames == 0) {
        fs::remove(path_);
        return -1;
    }
    fs::resize_file(path_, static_cast<std::uintmax_t>(head + frames * format_.frame_bytes()));
    return first;
}

void FrameFile::make_room(const Frame& frame) const {
    const Open part(part_, O_RDWR | O_CREAT | O_TRUNC);
    // Room on the disk as well: a full one must be an error here, not a signal where atoms are put.
    if (const int error_number =
            ::posix_fallocate(part.number(), 0, static_cast<off_t>(format_.frame_bytes())))
        part.fail("cannot be written", error_number);
    format_.frame(frame, [&](std::int64_t at, std::string_view bytes) { part.write(bytes, at); });
}

void FrameFile::commit(std::int64_t number) const {
    const std::int64_t bytes = format_.frame_bytes();
    const auto head = static_cast<std::int64_t>(format_.head(0).size());
    const Open part(part_, O_RDONLY);
    const Open file(path_, O_RDWR | O_CREAT);
    try {
        if (number == 0) file.write(format_.head(0), 0);
        copy(part, file, head + number * bytes, bytes);
        // The head says how many frames there are: after the frame, so that it never says too many.
        file.write(format_.head(number + 1), 0);
    } catch (...) {
        (void)!::ftruncate(file.number(), number == 0 ? 0 : static_cast<off_t>(head + number * bytes));
        throw;
    }
    fs::remove(part_);
}

void FrameFile::abandon() const noexcept {
    std::error_code ignored;
    fs::remove(part_, ignored);
}

FrameFile::Room::Room(const FrameFile& file) : size_(static_cast<std::size_t>(file.format_.frame_bytes())) {
    const Open part(file.part_, O_RDWR);
    void* at = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_SHARED, part.number(), 0);
    if (at == MAP_FAILED) part.fail("cannot be written", errno);
    bytes_ = static_cast<char*>(at);
}

FrameFile::Room::~Room() { ::munmap(bytes_, size_); }

}  // namespace strata::md
