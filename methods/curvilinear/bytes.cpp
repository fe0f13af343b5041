#include "methods/curvilinear/bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/error.hpp"
#include "methods/curvilinear/unpack.hpp"

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

}  // namespace

std::unique_ptr<Bytes> Bytes::open(const std::filesystem::path& path) {
    auto file = std::make_unique<File>(path);
    if (path.extension() != ".xz") return file;
    return std::make_unique<Unpacked>(unpacked(*file, path.string()));
}

std::string read_whole(const std::filesystem::path& path) {
    const auto file = Bytes::open(path);
    std::string bytes(static_cast<std::size_t>(file->size()), '\0');
    file->read(0, file->size(), bytes.data());
    return bytes;
}

}  // namespace strata::flow
