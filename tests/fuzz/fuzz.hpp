// What all fuzzing targets share: a reader takes an input or throws the project's one error, and claims no
// more memory than the input's size allows.
#pragma once

#include <sanitizer/allocator_interface.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/base/error.hpp"

namespace strata::fuzz {

/// Bytes that are allocated now, and may be at most.
inline std::atomic<std::int64_t> allocated{0}, most_allocated{INT64_MAX};

inline void count_allocation(const volatile void*, std::size_t size) {
    if (allocated.fetch_add(static_cast<std::int64_t>(size)) + static_cast<std::int64_t>(size) <=
        most_allocated)
        return;
    most_allocated = INT64_MAX;
    std::fputs("the reader claims more memory than 64 MB and eight times its input\n", stderr);
    std::abort();
}
inline void count_release(const volatile void* block) {
    if (block != nullptr)
        allocated -= static_cast<std::int64_t>(__sanitizer_get_allocated_size(const_cast<void*>(block)));
}

/// Calls read(text) and swallows the one error. Any other exception, and one without a message, ends the
/// target; so does memory beyond 64 MB plus eight times the input.
template <class Read>
void reads(const std::uint8_t* data, std::size_t size, Read&& read) {
    static const bool hooked =
        __sanitizer_install_malloc_and_free_hooks(count_allocation, count_release) != 0;
    if (!hooked) std::abort();
    most_allocated = allocated + (std::int64_t{64} << 20) + 8 * static_cast<std::int64_t>(size);
    try {
        // A block of its own, without a zero at its end: what is read beyond is found.
        read(std::string_view(reinterpret_cast<const char*>(data), size));
    } catch (const Error& error) {
        if (error.message().empty() || error.text().empty()) std::abort();
    }
    most_allocated = INT64_MAX;
}

/// A file without a name that holds the input, for readers that want a path.
class InputFile {
  public:
    InputFile() : file_(memfd_create("input", 0)) {
        if (file_ < 0) std::abort();
    }
    ~InputFile() { close(file_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    [[nodiscard]] std::filesystem::path holding(std::string_view text) const {
        if (ftruncate(file_, 0) != 0 ||
            pwrite(file_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size()))
            std::abort();
        return "/proc/self/fd/" + std::to_string(file_);
    }

  private:
    int file_;
};

}  // namespace strata::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);
