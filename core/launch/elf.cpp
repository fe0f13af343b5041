#include "core/launch/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <set>
#include <string_view>

namespace strata::launch {
namespace {

// More than any linker writes: files may be torn or hostile, and a sparse one claims any size.
constexpr std::uint64_t kMostSection = 4 << 20;  // bytes of the dynamic section, and of notes
constexpr std::uint64_t kMostText = 1 << 16;     // bytes of a name or a list of folders
constexpr std::size_t kMostNeeded = 1 << 12;     // libraries
constexpr std::uint64_t kMostIndex = 64 << 20;   // bytes of the loader's index

/// A file's bytes, read where they are asked for. Not mapped: where a file is shortened meanwhile, by whoever
/// may write it, a look at a mapping of it ends the process (SIGBUS).
class File {
  public:
    explicit File(const std::string& path) : fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        struct stat status {};
        if (fd_ >= 0 && fstat(fd_, &status) == 0 && S_ISREG(status.st_mode))
            size_ = static_cast<std::uint64_t>(status.st_size);
    }
    ~File() {
        if (fd_ >= 0) close(fd_);
    }
    File(const File&) = delete;
    File& operator=(const File&) = delete;

    /// Fewer bytes where the file ends before.
    [[nodiscard]] std::string part(std::uint64_t offset, std::uint64_t bytes) const {
        std::string found;
        if (offset >= size_) return found;
        found.resize(static_cast<std::size_t>(std::min(bytes, size_ - offset)));
        std::size_t have = 0;
        while (have < found.size()) {
            const ssize_t got =
                pread(fd_, found.data() + have, found.size() - have, static_cast<off_t>(offset + have));
            if (got < 0 && errno == EINTR) continue;
            if (got <= 0) break;
            have += static_cast<std::size_t>(got);
        }
        found.resize(have);
        return found;
    }
    /// Up to the byte 0.
    [[nodiscard]] std::string text(std::uint64_t offset) const {
        std::string found;
        for (std::uint64_t bytes = 256; bytes <= kMostText; bytes *= 16) {
            found = part(offset, bytes);
            const std::size_t end = found.find('\0');
            if (end != std::string::npos) return found.substr(0, end);
            if (found.size() < bytes) break;
        }
        return found;
    }

  private:
    int fd_;
    std::uint64_t size_ = 0;
};

template <class T>
std::optional<T> get(std::string_view bytes, std::uint64_t offset) {
    if (bytes.size() < sizeof(T) || offset > bytes.size() - sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data() + offset, sizeof(T));
    return value;
}

std::uint64_t file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
    for (const Elf64_Phdr& s : segments)
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return address - s.p_vaddr + s.p_offset;
    return UINT64_MAX;
}

void read_dynamic(const File& file, const std::vector<Elf64_Phdr>& segments, const Elf64_Phdr& section,
                  Elf& elf) {
    std::vector<std::uint64_t> needed;
    std::optional<std::uint64_t> rpath, runpath, table;
    const std::string entries = file.part(section.p_offset, std::min(section.p_filesz, kMostSection));
    for (std::uint64_t at = 0;; at += sizeof(Elf64_Dyn)) {
        const auto entry = get<Elf64_Dyn>(entries, at);
        if (!entry || entry->d_tag == DT_NULL) break;
        if (entry->d_tag == DT_NEEDED && needed.size() < kMostNeeded) needed.push_back(entry->d_un.d_val);
        if (entry->d_tag == DT_RPATH) rpath = entry->d_un.d_val;
        if (entry->d_tag == DT_RUNPATH) runpath = entry->d_un.d_val;
        if (entry->d_tag == DT_STRTAB) table = entry->d_un.d_ptr;
    }
    const std::uint64_t strings = table ? file_offset(segments, *table) : UINT64_MAX;
    if (strings == UINT64_MAX) return;
    for (const std::uint64_t offset : needed) elf.needed.push_back(file.text(strings + offset));
    if (rpath) elf.rpath = file.text(strings + *rpath);
    if (runpath) elf.runpath = file.text(strings + *runpath);
}

/// ELF's notes: three words (sizes of name and content, type), then both, each up to a multiple of four.
void read_notes(std::string_view notes, Elf& elf) {
    const auto rounded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    for (std::uint64_t at = 0;;) {
        const auto note = get<Elf64_Nhdr>(notes, at);
        if (!note) return;
        at += sizeof(Elf64_Nhdr);
        if (note->n_namesz == sizeof "STRATA" && at <= notes.size() && notes.substr(at).starts_with("STRATA"))
            elf.notes.push_back(note->n_type);
        at += rounded(note->n_namesz) + rounded(note->n_descsz);
    }
}

std::vector<std::string> split(const std::string& text, char by) {
    std::vector<std::string> parts;
    for (size_t begin = 0; begin <= text.size();) {
        const size_t end = std::min(text.find(by, begin), text.size());
        if (end > begin) parts.push_back(text.substr(begin, end - begin));
        begin = end + 1;
    }
    return parts;
}

void replace_all(std::string& text, const std::string& what, const std::string& with) {
    for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + with.size()))
        text.replace(at, what.size(), with);
}

/// The loader's index, format "glibc-ld.so.cache1.1" (glibc sysdeps/generic/dl-cache.h): a 48-byte header,
/// then entries of 24 bytes whose key and value are offsets from the header. Older systems put it behind the
/// format of libc5.
std::vector<std::pair<std::string, std::string>> read_cache(const std::string& path) {
    constexpr std::string_view kMagic = "glibc-ld.so.cache1.1", kOldMagic = "ld.so-1.7.0";
    constexpr std::uint64_t kHeader = 48, kEntry = 24, kOldEntry = 12, kOldHeader = 16;
    const std::string index = File(path).part(0, kMostIndex);
    const auto text = [&](std::uint64_t at) {
        return at < index.size() ? std::string(index.c_str() + at) : std::string();
    };
    std::uint64_t base = 0;
    if (index.starts_with(kOldMagic)) {
        const auto count = get<std::uint32_t>(index, 12);
        if (!count) return {};
        base = (kOldHeader + *count * kOldEntry + 7) / 8 * 8;
    }
    std::vector<std::pair<std::string, std::string>> found;
    if (base > index.size() || index.compare(base, kMagic.size(), kMagic) != 0) return found;
    const std::uint64_t count = std::min<std::uint64_t>(
        get<std::uint32_t>(index, base + kMagic.size()).value_or(0), index.size() / kEntry);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto key = get<std::uint32_t>(index, base + kHeader + i * kEntry + 4);
        const auto value = get<std::uint32_t>(index, base + kHeader + i * kEntry + 8);
        if (key && value) found.emplace_back(text(base + *key), text(base + *value));
    }
    std::stable_sort(found.begin(), found.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    return found;
}

/// Folders that loaders know without an index, Debian's and Ubuntu's among them.
std::vector<std::string> system_folders(std::uint16_t processor) {
    std::vector<std::string> folders = {"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
    const char* kind = processor == EM_X86_64    ? "/x86_64-linux-gnu"
                       : processor == EM_AARCH64 ? "/aarch64-linux-gnu"
                                                 : nullptr;
    if (kind != nullptr)
        folders.insert(folders.end(), {std::string("/lib") + kind, std::string("/usr/lib") + kind});
    return folders;
}

bool serves(const std::string& path, std::uint16_t processor) {
    const auto elf = read_elf(path);
    return elf && elf->processor == processor;
}

}  // namespace

std::optional<Elf> read_elf(const std::string& path) {
    const File file(path);
    const auto header = get<Elf64_Ehdr>(file.part(0, sizeof(Elf64_Ehdr)), 0);
    constexpr unsigned char kOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != kOrder) {
        return std::nullopt;
    }
    Elf elf;
    elf.processor = header->e_machine;
    std::vector<Elf64_Phdr> segments;
    // Entries of another size are no program's: the kernel starts none.
    const std::uint64_t count = header->e_phentsize == sizeof(Elf64_Phdr) ? header->e_phnum : 0;
    const std::string entries = file.part(header->e_phoff, count * sizeof(Elf64_Phdr));
    for (std::uint64_t i = 0; i < count; ++i)
        if (const auto segment = get<Elf64_Phdr>(entries, i * sizeof(Elf64_Phdr)))
            segments.push_back(*segment);
    std::uint64_t notes = kMostSection;  // that are still read
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type == PT_NOTE) {
            const std::string part = file.part(segment.p_offset, std::min(segment.p_filesz, notes));
            notes -= part.size();
            read_notes(part, elf);
        }
        if (segment.p_type != PT_DYNAMIC || elf.dynamic) continue;
        elf.dynamic = true;
        read_dynamic(file, segments, segment, elf);
    }
    return elf;
}

LibraryPaths::LibraryPaths(const std::string& library_path, const std::string& cache)
    : library_path_(split(library_path, ':')), cache_(cache) {}

std::string LibraryPaths::resolve(const std::string& name, const Elf& user,
                                  const std::string& user_path) const {
    if (name.find('/') != std::string::npos) return serves(name, user.processor) ? name : std::string();
    std::error_code ignored;
    const std::string origin = std::filesystem::weakly_canonical(user_path, ignored).parent_path();
    const auto search = [&](std::vector<std::string> folders) {
        for (std::string& folder : folders) {
            replace_all(folder, "${ORIGIN}", origin);
            replace_all(folder, "$ORIGIN", origin);
            const std::string candidate = folder + "/" + name;
            if (serves(candidate, user.processor)) return candidate;
        }
        return std::string();
    };
    std::string found;
    if (user.runpath.empty()) found = search(split(user.rpath, ':'));
    if (found.empty()) found = search(library_path_);
    if (found.empty()) found = search(split(user.runpath, ':'));
    if (!found.empty()) return found;
    if (!cached_) cached_ = read_cache(cache_);
    const auto [first, last] =
        std::equal_range(cached_->begin(), cached_->end(), std::pair(name, std::string()),
                         [](const auto& a, const auto& b) { return a.first < b.first; });
    for (auto it = first; it != last; ++it)
        if (serves(it->second, user.processor)) return it->second;
    return search(system_folders(user.processor));
}

void visit_libraries(const std::string& program, const LibraryPaths& paths,
                     const std::function<bool(const std::string&, const std::string&)>& stop, Visit which) {
    constexpr std::array kPlain = {
        "libc.so.6",     "libm.so.6",      "libpthread.so.0",      "libdl.so.2",   "librt.so.1",
        "libgcc_s.so.1", "libstdc++.so.6", "ld-linux-x86-64.so.2", "libgomp.so.1", "ld-linux-aarch64.so.1"};
    std::set<std::string> seen;
    if (which == Visit::telling) seen.insert(kPlain.begin(), kPlain.end());
    std::deque<std::string> waiting = {program};
    while (!waiting.empty()) {
        const std::string path = waiting.front();
        waiting.pop_front();
        const auto elf = read_elf(path);
        if (!elf) continue;
        for (const std::string& name : elf->needed) {
            if (!seen.insert(name).second) continue;
            const std::string found = paths.resolve(name, *elf, path);
            if (stop(name, found)) return;
            if (!found.empty()) waiting.push_back(found);
        }
    }
}

}  // namespace strata::launch
