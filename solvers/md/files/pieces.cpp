#include "solvers/md/files/pieces.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>

namespace strata::md {

namespace {
constexpr std::int64_t kBlock = 1 << 20;
}

LineFile::LineFile(const std::filesystem::path& path, const std::string& what) : path_(path.string()) {
    file_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file_ < 0 || std::filesystem::is_directory(path))
        throw system_error(what + " cannot be read", file_ < 0 ? errno : EISDIR, kBadInput).at(path_);
    size_ = static_cast<std::int64_t>(std::filesystem::file_size(path));
}

LineFile::~LineFile() {
    if (file_ >= 0) ::close(file_);
}

std::string LineFile::block(std::int64_t from, std::int64_t bytes) const {
    std::string text(static_cast<std::size_t>(std::max<std::int64_t>(0, std::min(bytes, size_ - from))),
                     '\0');
    for (std::size_t done = 0; done < text.size();) {
        const ssize_t got = ::pread(file_, text.data() + done, text.size() - done,
                                    static_cast<off_t>(from) + static_cast<off_t>(done));
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) throw system_error("the file cannot be read", got < 0 ? errno : EIO).at(path_);
        done += static_cast<std::size_t>(got);
    }
    return text;
}

void LineFile::lines(const Bytes& range,
                     const std::function<bool(std::string_view, std::int64_t)>& each) const {
    // From the byte before: where that ends a line, one begins with the range.
    std::int64_t at = std::max<std::int64_t>(0, range.from - 1);
    bool inside = range.from == 0;
    std::string kept;  // the beginning of a line whose end is not there yet
    while (at < size_) {
        const std::string text = block(at, kBlock);
        std::size_t begin = 0;
        for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', begin)) {
            const std::int64_t start =
                at + static_cast<std::int64_t>(begin) - static_cast<std::int64_t>(kept.size());
            if (inside) {
                if (start >= range.to) return;
                const std::string_view rest = std::string_view(text).substr(begin, end - begin);
                if (kept.empty() ? !each(rest, start) : !each(kept.append(rest), start)) return;
            }
            inside = true;
            kept.clear();
            begin = end + 1;
        }
        if (inside) kept.append(text, begin);
        at += static_cast<std::int64_t>(text.size());
    }
    const std::int64_t start = size_ - static_cast<std::int64_t>(kept.size());
    if (!kept.empty() && start < range.to) each(kept, start);
}

std::int64_t LineFile::count(const Bytes& range) const {
    std::int64_t number = 0;
    lines(range, [&](std::string_view, std::int64_t) { return ++number, true; });
    return number;
}

Error LineFile::wrong(std::int64_t at, const std::string& message) const {
    Error error(message);
    error.at(path_, static_cast<int>(count({0, at}) + 1));
    return error;
}

}  // namespace strata::md
