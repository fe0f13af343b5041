#include "core/machine/numa_maps.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "core/base/text.hpp"

namespace strata::machine {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
    return text.substr(0, prefix.size()) == prefix;
}

/// Takes the next word, ended by one of `ends`.
std::string_view word(std::string_view& text, std::string_view ends = " \t") {
    const size_t begin = std::min(text.find_first_not_of(ends), text.size());
    text.remove_prefix(begin);
    const size_t end = std::min(text.find_first_of(ends), text.size());
    const std::string_view found = text.substr(0, end);
    text.remove_prefix(end);
    return found;
}

std::uint64_t number(std::string_view text, int base = 10) {
    return take_number<std::uint64_t>(text, {.base = base}).value_or(0);
}

bool is_shared_memory(std::string_view file) {
    for (const std::string_view prefix : {"/dev/shm/", "/memfd:", "/SYSV", "/dev/zero", "/dev/hugepages/"})
        if (starts_with(file, prefix)) return true;
    return false;
}

Kind kind_of(const std::string& file, bool executable, const std::string& program) {
    if (file == "[heap]") return Kind::heap;
    if (starts_with(file, "[stack")) return Kind::stack;
    if (file.empty() || file[0] == '[') return Kind::anonymous;
    if (starts_with(file, "/anon_hugepage")) return Kind::anonymous;  // MAP_HUGETLB: "... (deleted)"
    if (is_shared_memory(file)) return Kind::shared;
    if (executable) return file == program ? Kind::program_text : Kind::library_text;
    return Kind::file;
}

/// numa_maps escapes blanks and line ends of file names as \040 and \012.
std::string unescaped(std::string_view text) {
    std::string plain;
    for (size_t i = 0; i < text.size(); ++i) {
        const bool octal = text[i] == '\\' && i + 3 < text.size() && text[i + 1] >= '0' && text[i + 1] <= '3';
        plain += octal ? static_cast<char>(number(text.substr(i + 1, 3), 8)) : text[i];
        if (octal) i += 3;
    }
    return plain;
}

Region read_line(std::string_view text) {
    Region region;
    region.begin = number(word(text), 16);
    region.policy = word(text);
    std::map<int, std::uint64_t> pages;
    for (std::string_view item = word(text); !item.empty(); item = word(text)) {
        const size_t equal = item.find('=');
        const std::string_view value = equal == std::string_view::npos ? "" : item.substr(equal + 1);
        if (item == "heap") region.file = "[heap]";
        if (item == "stack") region.file = "[stack]";
        if (equal == std::string_view::npos) continue;
        if (starts_with(item, "file=")) region.file = unescaped(value);
        if (starts_with(item, "kernelpagesize_kB=")) region.page_bytes = number(value) * 1024;
        if (item[0] == 'N' && item[1] >= '0' && item[1] <= '9')
            pages[static_cast<int>(number(item.substr(1, equal - 1)))] += number(value);
    }
    for (const auto& [memory, count] : pages) region.bytes[memory] = count * region.page_bytes;
    return region;
}

}  // namespace

const char* to_text(Kind kind) {
    switch (kind) {
        case Kind::program_text:
            return "program text";
        case Kind::library_text:
            return "library text";
        case Kind::file:
            return "file data";
        case Kind::heap:
            return "heap";
        case Kind::stack:
            return "stack";
        case Kind::shared:
            return "shared memory";
        case Kind::anonymous:
            break;
    }
    return "anonymous";
}

std::uint64_t total(const ByMemory& bytes) {
    std::uint64_t all = 0;
    for (const auto& [memory, count] : bytes) all += count;
    return all;
}

std::vector<Region> read_maps(std::string_view maps, const std::string& program) {
    std::vector<Region> regions;
    while (!maps.empty()) {
        std::string_view text = take_line(maps);
        Region region;
        const std::string_view range = word(text), rights = word(text);
        const size_t dash = range.find('-');
        if (dash == std::string_view::npos || rights.size() < 4) continue;
        region.begin = number(range.substr(0, dash), 16);
        region.end = number(range.substr(dash + 1), 16);
        for (int skipped = 0; skipped < 3; ++skipped) word(text);  // offset, device, inode
        text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        region.file = text;
        region.kind = kind_of(region.file, rights[2] == 'x', program);
        if (region.file == "[vsyscall]" || region.file == "[vvar]" || region.file == "[vdso]") continue;
        regions.push_back(std::move(region));
    }
    return regions;
}

std::vector<Region> read_numa_maps(std::string_view numa_maps, std::string_view maps,
                                   const std::string& program) {
    const std::vector<Region> known = read_maps(maps, program);
    std::vector<Region> regions;
    while (!numa_maps.empty()) {
        const std::string_view text = take_line(numa_maps);
        if (text.empty()) continue;
        Region region = read_line(text);
        const auto same =
            std::lower_bound(known.begin(), known.end(), region.begin,
                             [](const Region& a, std::uint64_t begin) { return a.begin < begin; });
        if (same != known.end() && same->begin == region.begin) {
            region.end = same->end;
            region.kind = same->kind;
            if (region.file.empty()) region.file = same->file;
        } else {
            region.kind = kind_of(region.file, false, program);
        }
        regions.push_back(std::move(region));
    }
    return regions;
}

std::optional<double> ask_pages(int pid, std::vector<Region>& regions, std::uint64_t most_pages) {
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    std::uint64_t all = 0;
    for (const Region& region : regions) all += (region.end - region.begin) / page;
    const std::uint64_t step =
        std::max<std::uint64_t>(1, (all + most_pages - 1) / std::max<std::uint64_t>(1, most_pages));
    std::uint64_t asked = 0, skip = 0;
    for (Region& region : regions) {
        std::vector<void*> addresses;
        // The stride goes on from mapping to mapping: a small one has its chance too.
        for (std::uint64_t at = region.begin + skip * page; at < region.end; at += step * page)
            addresses.push_back(reinterpret_cast<void*>(at));
        const std::uint64_t pages = (region.end - region.begin) / page;
        skip = addresses.empty() ? skip - pages : (step - (pages - skip) % step) % step;
        if (addresses.empty()) continue;
        asked += addresses.size();
        std::vector<int> status(addresses.size(), -1);
        if (syscall(SYS_move_pages, pid, addresses.size(), addresses.data(), nullptr, status.data(), 0) != 0)
            return std::nullopt;
        region.bytes.clear();
        for (const int memory : status)
            if (memory >= 0)
                region.bytes[memory] += page * step;  // negative: not present, or none of a memory
    }
    return all == 0 ? 1.0 : static_cast<double>(asked) / static_cast<double>(all);
}

ByMemory sum(const std::vector<Region>& regions) {
    ByMemory all;
    for (const Region& region : regions)
        for (const auto& [memory, bytes] : region.bytes) all[memory] += bytes;
    return all;
}

}  // namespace strata::machine
