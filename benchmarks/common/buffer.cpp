#include "benchmarks/common/buffer.hpp"

#include <fmt/format.h>
#include <sys/mman.h>

#include <algorithm>
#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "core/machine/cgroup.hpp"
#include "core/machine/sysfs.hpp"

namespace strata::bench {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

std::uint64_t proc_kib(const std::string& file, const std::string& key) {
    std::ifstream lines(file);
    for (std::string line; std::getline(lines, line);)
        if (line.rfind(key, 0) == 0) return std::strtoull(line.c_str() + key.size(), nullptr, 10) * 1024;
    return 0;
}

}  // namespace

Memory::Memory(std::size_t bytes, Pages pages) : mapped_(bytes + kHugePage), bytes_(bytes) {
    mapping_ =
        mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mapping_ == MAP_FAILED) {
        mapping_ = nullptr;
        throw Error("not enough memory", kFailure).given(print_size(bytes)).remedy("a smaller size");
    }
    const auto address = reinterpret_cast<std::uintptr_t>(mapping_);
    data_ = reinterpret_cast<void*>((address + kHugePage - 1) / kHugePage * kHugePage);
    // Advice only: where huge pages are off it changes nothing, and huge_bytes() will say so.
    madvise(data_, bytes_, pages == Pages::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

Memory::~Memory() {
    if (mapping_ != nullptr) munmap(mapping_, mapped_);
}

Memory::Memory(Memory&& other) noexcept
    : mapping_(other.mapping_), mapped_(other.mapped_), data_(other.data_), bytes_(other.bytes_) {
    other.mapping_ = nullptr;
}

std::size_t Memory::huge_bytes() const {
    // The lines of a mapping follow its "start-end ..." line; advice splits a mapping, so ours may be
    // several.
    std::ifstream lines("/proc/self/smaps");
    const auto first = reinterpret_cast<std::uintptr_t>(data_), last = first + bytes_;
    std::size_t huge = 0;
    bool inside = false;
    for (std::string line; std::getline(lines, line);) {
        std::uintptr_t start = 0, end = 0;
        if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR, &start, &end) == 2) {
            inside = start < last && end > first;
        } else if (inside && line.rfind("AnonHugePages:", 0) == 0) {
            huge += std::strtoull(line.c_str() + 14, nullptr, 10) * 1024;
        }
    }
    return std::min(huge, bytes_);
}

std::uint64_t available_memory() {
    std::uint64_t bytes = proc_kib("/proc/meminfo", "MemAvailable:");
    const auto limit = machine::read_cgroup().memory_limit_bytes;
    if (limit) {
        const std::uint64_t used = proc_kib("/proc/self/status", "VmRSS:");
        bytes = std::min(bytes, *limit > used ? *limit - used : 0);
    }
    return bytes;
}

std::uint64_t installed_memory() {
    const std::uint64_t bytes = proc_kib("/proc/meminfo", "MemTotal:");
    const auto limit = machine::read_cgroup().memory_limit_bytes;
    return limit ? std::min<std::uint64_t>(bytes, *limit) : bytes;
}

std::uint64_t last_level_cache() {
    std::uint64_t largest = 0;
    for (int index = 0;; ++index) {
        const auto size =
            machine::read_file(fmt::format("/sys/devices/system/cpu/cpu0/cache/index{}/size", index));
        if (!size) break;
        // The kernel writes "32768K".
        std::uint64_t kib = std::strtoull(size->c_str(), nullptr, 10);
        if (!size->empty() && size->back() == 'M') kib *= 1024;
        largest = std::max(largest, kib * 1024);
    }
    return largest > 0 ? largest : std::uint64_t{32} << 20;
}

void require_memory(std::uint64_t bytes, const char* what) {
    const std::uint64_t available = available_memory();
    // A tenth stays free: a machine driven to its last page measures its page reclaim.
    if (available == 0 || bytes <= available - available / 10) return;
    throw Error(fmt::format("{} needs more memory than there is", what), kFailure)
        .given(print_size(bytes))
        .allowed(fmt::format("{}, nine tenths of what is available", print_size(available - available / 10)))
        .remedy("a smaller size, or a moment with less other load");
}

}  // namespace strata::bench
