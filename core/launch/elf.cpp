#include "core/launch/elf.hpp"

#include <elf.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <filesystem>
#include <set>

namespace strata::launch {
namespace {

/// A file mapped for reading; every access is checked against its size, since files may be torn or hostile.
class MappedFile {
  public:
    explicit MappedFile(const std::string& path) {
        const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
        if (fd < 0) return;
        struct stat status {};
        if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0) {
            void* at = mmap(nullptr, static_cast<size_t>(status.st_size), PROT_READ, MAP_PRIVATE, fd, 0);
            if (at != MAP_FAILED) {
                data_ = static_cast<const char*>(at);
                size_ = static_cast<size_t>(status.st_size);
            }
        }
        close(fd);
    }
    ~MappedFile() {
        if (data_ != nullptr) munmap(const_cast<char*>(data_), size_);
    }
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    template <class T>
    [[nodiscard]] std::optional<T> get(std::uint64_t offset) const {
        if (size_ < sizeof(T) || offset > size_ - sizeof(T)) return std::nullopt;
        T value;
        std::memcpy(&value, data_ + offset, sizeof(T));
        return value;
    }
    [[nodiscard]] std::string text(std::uint64_t offset) const {
        if (offset >= size_) return {};
        return {data_ + offset, strnlen(data_ + offset, size_ - offset)};
    }
    [[nodiscard]] bool starts_with(std::string_view magic, std::uint64_t offset = 0) const {
        return offset + magic.size() <= size_ && std::memcmp(data_ + offset, magic.data(), magic.size()) == 0;
    }
    [[nodiscard]] size_t size() const { return size_; }

  private:
    const char* data_ = nullptr;
    size_t size_ = 0;
};

std::uint64_t file_offset(const std::vector<Elf64_Phdr>& segments, std::uint64_t address) {
    for (const Elf64_Phdr& s : segments)
        if (s.p_type == PT_LOAD && address >= s.p_vaddr && address - s.p_vaddr < s.p_filesz)
            return address - s.p_vaddr + s.p_offset;
    return UINT64_MAX;
}

void read_dynamic(const MappedFile& file, const std::vector<Elf64_Phdr>& segments, const Elf64_Phdr& section,
                  Elf& elf) {
    std::vector<std::uint64_t> needed;
    std::optional<std::uint64_t> rpath, runpath;
    std::uint64_t strings = UINT64_MAX;
    for (std::uint64_t at = section.p_offset; at < section.p_offset + section.p_filesz;
         at += sizeof(Elf64_Dyn)) {
        const auto entry = file.get<Elf64_Dyn>(at);
        if (!entry || entry->d_tag == DT_NULL) break;
        if (entry->d_tag == DT_NEEDED) needed.push_back(entry->d_un.d_val);
        if (entry->d_tag == DT_RPATH) rpath = entry->d_un.d_val;
        if (entry->d_tag == DT_RUNPATH) runpath = entry->d_un.d_val;
        if (entry->d_tag == DT_STRTAB) strings = file_offset(segments, entry->d_un.d_ptr);
    }
    if (strings == UINT64_MAX) return;
    for (const std::uint64_t offset : needed) elf.needed.push_back(file.text(strings + offset));
    if (rpath) elf.rpath = file.text(strings + *rpath);
    if (runpath) elf.runpath = file.text(strings + *runpath);
}

/// ELF's notes: three words (sizes of name and content, type), then both, each up to a multiple of four.
void read_notes(const MappedFile& file, const Elf64_Phdr& segment, Elf& elf) {
    const auto rounded = [](std::uint64_t size) { return (size + 3) / 4 * 4; };
    for (std::uint64_t at = segment.p_offset;
         at + sizeof(Elf64_Nhdr) <= segment.p_offset + segment.p_filesz;) {
        const auto note = file.get<Elf64_Nhdr>(at);
        if (!note) return;
        at += sizeof(Elf64_Nhdr);
        if (note->n_namesz == sizeof "STRATA" && file.starts_with("STRATA", at))
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
    const MappedFile file(path);
    std::uint64_t base = 0;
    if (file.starts_with(kOldMagic)) {
        const auto count = file.get<std::uint32_t>(12);
        if (!count) return {};
        base = (kOldHeader + *count * kOldEntry + 7) / 8 * 8;
    }
    std::vector<std::pair<std::string, std::string>> found;
    if (!file.starts_with(kMagic, base)) return found;
    const std::uint64_t count = std::min<std::uint64_t>(
        file.get<std::uint32_t>(base + kMagic.size()).value_or(0), file.size() / kEntry);
    for (std::uint64_t i = 0; i < count; ++i) {
        const auto key = file.get<std::uint32_t>(base + kHeader + i * kEntry + 4);
        const auto value = file.get<std::uint32_t>(base + kHeader + i * kEntry + 8);
        if (key && value) found.emplace_back(file.text(base + *key), file.text(base + *value));
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
    const MappedFile file(path);
    const auto header = file.get<Elf64_Ehdr>(0);
    constexpr unsigned char kOrder = std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
    if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 ||
        header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != kOrder) {
        return std::nullopt;
    }
    Elf elf;
    elf.processor = header->e_machine;
    std::vector<Elf64_Phdr> segments;
    for (unsigned i = 0; i < header->e_phnum; ++i)
        if (const auto segment =
                file.get<Elf64_Phdr>(header->e_phoff + std::uint64_t{i} * header->e_phentsize))
            segments.push_back(*segment);
    for (const Elf64_Phdr& segment : segments) {
        if (segment.p_type == PT_NOTE) read_notes(file, segment, elf);
        if (segment.p_type != PT_DYNAMIC) continue;
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
