#include "core/launch/text_pages.hpp"

#include <elf.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>

#include "core/base/error.hpp"
#include "core/launch/elf.hpp"

namespace strata::launch {
namespace {

/// A mapping of a file's bytes, gone at the end of its scope.
class Mapping {
  public:
    Mapping(int fd, std::uint64_t offset, std::uint64_t bytes)
        : bytes_(bytes), at_(mmap(nullptr, bytes, PROT_READ, MAP_SHARED, fd, static_cast<off_t>(offset))) {}
    ~Mapping() {
        if (ok()) munmap(at_, bytes_);
    }
    Mapping(const Mapping&) = delete;
    Mapping& operator=(const Mapping&) = delete;
    [[nodiscard]] bool ok() const { return at_ != MAP_FAILED; }
    [[nodiscard]] char* at() const { return static_cast<char*>(at_); }

  private:
    std::uint64_t bytes_;
    void* at_;
};

/// Part of a file that is mapped executable.
struct Segment {
    std::uint64_t offset = 0, bytes = 0;
};

std::vector<Segment> executable_segments(int fd) {
    Elf64_Ehdr header{};
    std::vector<Segment> found;
    if (pread(fd, &header, sizeof header, 0) != sizeof header ||
        std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
        header.e_phentsize != sizeof(Elf64_Phdr))
        return found;
    for (int i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment{};
        const auto at = static_cast<off_t>(header.e_phoff + static_cast<std::uint64_t>(i) * sizeof segment);
        if (pread(fd, &segment, sizeof segment, at) != sizeof segment) break;
        if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
            found.push_back({segment.p_offset, segment.p_filesz});
    }
    return found;
}

/// The loader that a program asks for; a program without one is static.
std::string loader_of(const std::string& program) {
    const int fd = open(program.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) return "";
    Elf64_Ehdr header{};
    std::string found;
    if (pread(fd, &header, sizeof header, 0) == sizeof header && header.e_ident[EI_CLASS] == ELFCLASS64) {
        for (int i = 0; i < header.e_phnum && found.empty(); ++i) {
            Elf64_Phdr segment{};
            const auto at =
                static_cast<off_t>(header.e_phoff + static_cast<std::uint64_t>(i) * sizeof segment);
            if (pread(fd, &segment, sizeof segment, at) != sizeof segment) break;
            char name[256] = "";
            if (segment.p_type != PT_INTERP || segment.p_filesz >= sizeof name) continue;
            if (pread(fd, name, segment.p_filesz, static_cast<off_t>(segment.p_offset)) > 0) found = name;
        }
    }
    close(fd);
    return found;
}

std::map<int, std::uint64_t> where(const std::vector<void*>& pages) {
    std::map<int, std::uint64_t> found;
    std::vector<int> status(pages.size(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) == 0)
        for (const int node : status)
            if (node >= 0) ++found[node];
    return found;
}

void move(const std::vector<void*>& pages, const std::vector<int>& nodes, TextPages& text) {
    std::vector<int> wanted, status(pages.size(), -1);
    for (size_t i = 0; i < pages.size(); ++i) wanted.push_back(nodes[i % nodes.size()]);
    // All users' pages where that is permitted, else those that nobody else has mapped.
    long done = syscall(SYS_move_pages, 0, pages.size(), pages.data(), wanted.data(), status.data(),
                        MPOL_MF_MOVE_ALL);
    if (done < 0 && errno == EPERM)
        done = syscall(SYS_move_pages, 0, pages.size(), pages.data(), wanted.data(), status.data(),
                       MPOL_MF_MOVE);
    const int error = done < 0 ? errno : 0;
    std::fill(status.begin(), status.end(), -1);
    if (syscall(SYS_move_pages, 0, pages.size(), pages.data(), nullptr, status.data(), 0) != 0) return;
    for (size_t i = 0; i < pages.size(); ++i)
        if (status[i] != wanted[i]) ++text.stayed;
    if (text.stayed == 0) return;
    text.why = error != 0 ? std::strerror(error)
                          : "other processes use them (moving those takes CAP_SYS_NICE), or the file system "
                            "cannot move its pages";
}

TextPages place_one(const std::string& path, const std::vector<int>& nodes) {
    TextPages text;
    text.path = path;
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        text.why = std::strerror(errno);
        return text;
    }
    const int nowhere = memfd_create("strata-text", MFD_CLOEXEC);
    const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
    for (const Segment& segment : executable_segments(fd)) {
        const std::uint64_t from = segment.offset / page * page;
        const std::uint64_t bytes = segment.offset + segment.bytes - from;
        const Mapping mapping(fd, from, bytes);
        if (bytes == 0 || !mapping.ok()) continue;
        std::vector<void*> pages;
        // Read, so that they are in memory and in this process' page table: only then they have a place. By
        // the kernel, which says where the file ends: a look beyond that would end this process (SIGBUS).
        for (std::uint64_t at = 0; at < bytes && pwrite(nowhere, mapping.at() + at, 1, 0) == 1; at += page)
            pages.push_back(mapping.at() + at);
        text.pages += pages.size();
        for (const auto& [node, count] : where(pages)) text.before[node] += count;
        move(pages, nodes, text);
        for (const auto& [node, count] : where(pages)) text.after[node] += count;
    }
    close(nowhere);
    close(fd);
    return text;
}

}  // namespace

Text parse_text(const std::string& text) {
    if (text == "as-is") return Text::as_is;
    if (text == "local") return Text::local;
    if (text == "interleave") return Text::interleave;
    throw Error("unknown place for the program's text")
        .given("--text " + text)
        .allowed("as-is, local, interleave")
        .remedy("--text local");
}

std::vector<std::string> text_files(const std::string& program, const std::string& library_path) {
    std::vector<std::string> files = {program};
    const auto elf = read_elf(program);
    if (!elf) return files;
    if (const std::string loader = loader_of(program); !loader.empty()) files.push_back(loader);
    if (!elf->dynamic) return files;
    // The loader is both what the program names and what the C library needs, by other names.
    const auto same = [](const std::string& a, const std::string& b) {
        std::error_code ignored;
        return a == b || std::filesystem::equivalent(a, b, ignored);
    };
    const auto take = [&](const std::string&, const std::string& found) {
        const bool known =
            std::any_of(files.begin(), files.end(), [&](const auto& file) { return same(file, found); });
        if (!found.empty() && !known) files.push_back(found);
        return false;
    };
    visit_libraries(program, LibraryPaths(library_path), take, Visit::all);
    return files;
}

std::vector<TextPages> place_text(const std::vector<std::string>& files, const std::vector<int>& nodes) {
    std::vector<TextPages> all;
    for (const std::string& file : files) all.push_back(place_one(file, nodes));
    return all;
}

}  // namespace strata::launch
