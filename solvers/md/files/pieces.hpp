// Large text files by lines, of which each process reads a part.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace strata::md {

/// A range of bytes.
struct Bytes {
    std::int64_t from = 0, to = 0;
    [[nodiscard]] std::int64_t size() const { return to - from; }
    /// Share `part` of `parts`: together all of it.
    [[nodiscard]] Bytes share(std::int64_t part, std::int64_t parts) const {
        return {from + size() / parts * part + std::min(part, size() % parts),
                from + size() / parts * (part + 1) + std::min(part + 1, size() % parts)};
    }
};

class LineFile {
  public:
    /// Throws Error where it cannot be opened; `what` for messages.
    LineFile(const std::filesystem::path& path, const std::string& what);
    ~LineFile();
    LineFile(const LineFile&) = delete;
    LineFile& operator=(const LineFile&) = delete;

    [[nodiscard]] std::int64_t size() const { return size_; }
    /// Calls each(line, where it begins) for every line that begins in the range, until it returns false. A
    /// line may end beyond the range, and one that began before it is not part of it. Blocks of the file are
    /// in memory, one at a time.
    void lines(const Bytes& range, const std::function<bool(std::string_view, std::int64_t)>& each) const;
    /// How many lines begin in the range.
    [[nodiscard]] std::int64_t count(const Bytes& range) const;
    /// An error about the line that begins there. (Counts the lines before it.)
    [[nodiscard]] Error wrong(std::int64_t at, const std::string& message) const;

  private:
    [[nodiscard]] std::string block(std::int64_t from, std::int64_t bytes) const;
    std::string path_;
    int file_ = -1;
    std::int64_t size_ = 0;
};

}  // namespace strata::md
