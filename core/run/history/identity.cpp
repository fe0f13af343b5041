#include "core/run/history/identity.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <span>
#include <sstream>
#include <string_view>

#include "core/base/crc32c.hpp"
#include "core/base/error.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

std::string checksum_of(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    std::vector<char> piece(1 << 20);
    std::uint32_t sum = 0;
    std::uint64_t bytes = 0;
    while (in.read(piece.data(), static_cast<std::streamsize>(piece.size())) || in.gcount() > 0) {
        const auto got = static_cast<std::size_t>(in.gcount());
        sum = crc32c(std::as_bytes(std::span(piece.data(), got)), sum);
        bytes += got;
    }
    if (bytes == 0 && !in.eof()) throw Error("a file of the program cannot be read", kFailure).at(file);
    return fmt::format("crc32c {:08x}, {} bytes", sum, bytes);
}

/// The linker's NT_GNU_BUILD_ID of a loaded library; "" where it has none.
std::string build_id_of(const dl_phdr_info& library) {
    for (int i = 0; i < library.dlpi_phnum; ++i) {
        const ElfW(Phdr)& part = library.dlpi_phdr[i];
        if (part.p_type != PT_NOTE) continue;
        const auto* at = reinterpret_cast<const char*>(library.dlpi_addr + part.p_vaddr);
        const std::size_t align = part.p_align == 8 ? 8 : 4;
        const auto padded = [align](std::size_t n) { return (n + align - 1) / align * align; };
        for (const char* end = at + part.p_memsz; at + sizeof(ElfW(Nhdr)) <= end;) {
            ElfW(Nhdr) note;
            std::memcpy(&note, at, sizeof note);
            const char* name = at + sizeof note;
            const char* content = at + padded(sizeof note + note.n_namesz);
            if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 && std::memcmp(name, "GNU", 4) == 0) {
                std::string text = "build-id ";
                for (std::size_t b = 0; b < note.n_descsz; ++b)
                    text += fmt::format("{:02x}", static_cast<unsigned char>(content[b]));
                return text;
            }
            at = content + padded(note.n_descsz);
        }
    }
    return "";
}

/// Whether values may be computed in a library.
bool computes(const fs::path& library) {
    constexpr std::array<std::string_view, 18> kSystem = {
        "libm.",    "libmvec.", "libstdc++.", "libgcc_s.", "libgfortran.", "libquadmath.",
        "libgomp.", "libblas",  "liblapack",  "libcblas",  "libopenblas",  "libmkl",
        "libblis",  "libatlas", "libfftw",    "libimf.",   "libsvml.",     "libirc."};
    const std::string folder = library.parent_path().string(), name = library.filename().string();
    const bool of_system = folder.starts_with("/lib") || folder.starts_with("/usr/lib");
    // NumPy of the system lies below /usr/lib as well.
    if (!of_system || folder.find("-packages") != std::string::npos) return true;
    return std::any_of(kSystem.begin(), kSystem.end(),
                       [&](std::string_view begin) { return name.starts_with(begin); });
}

int add_library(dl_phdr_info* info, std::size_t, void* into) {
    const fs::path path(info->dlpi_name);
    if (!path.is_absolute() || !computes(path)) return 0;  // the program itself, the kernel's own
    std::string mark = build_id_of(*info);
    if (mark.empty()) mark = checksum_of(path.string());
    static_cast<std::vector<Identity::File>*>(into)->push_back({path.filename().string(), std::move(mark)});
    return 0;
}

/// The first processor of /proc/cpuinfo: its name, and the words that decide what libraries choose.
void describe_processor(Identity& identity) {
    constexpr std::array<std::string_view, 9> kWords = {
        "vendor_id", "cpu family", "model", "CPU implementer", "CPU architecture", "CPU part",
        "cpu",       "isa",        "uarch"};
    constexpr std::array<std::string_view, 9> kVectors = {"sse", "ssse", "avx",   "fma", "f16c",
                                                          "amx", "sve",  "asimd", "sme"};
    std::ifstream file("/proc/cpuinfo");
    for (std::string line; std::getline(file, line) && !line.empty();) {
        const auto colon = line.find(':');
        if (colon == std::string::npos || colon == 0) continue;
        const std::string name = line.substr(0, line.find_last_not_of(" \t", colon - 1) + 1);
        const std::string value = colon + 2 < line.size() ? line.substr(colon + 2) : "";
        if (name == "model name" || (name == "cpu" && identity.processor.empty())) identity.processor = value;
        if (std::find(kWords.begin(), kWords.end(), name) != kWords.end())
            identity.kind += fmt::format("{} {}; ", name, value);
        if (name != "flags" && name != "Features") continue;
        std::istringstream flags(value);
        for (std::string flag; flags >> flag;)
            if (std::any_of(kVectors.begin(), kVectors.end(),
                            [&](std::string_view begin) { return flag.starts_with(begin); }))
                identity.kind += flag + " ";
    }
    if (identity.processor.empty()) identity.processor = identity.kind;
}

}  // namespace

Identity own_identity(const std::vector<std::string>& sources) {
    Identity identity;
    const std::string program = fs::read_symlink("/proc/self/exe").string();
    identity.files.push_back({fs::path(program).filename().string(), checksum_of("/proc/self/exe")});
    for (const std::string& source : sources)
        identity.files.push_back({fs::path(source).filename().string(), checksum_of(source)});
    dl_iterate_phdr(add_library, &identity.files);
    describe_processor(identity);
    return identity;
}

std::string difference(const Identity& recorded, const Identity& now) {
    if (recorded.kind != now.kind)
        return recorded.processor == now.processor
                   ? fmt::format("on a processor with other vector instructions, {} ({}), not ({})",
                                 recorded.processor, recorded.kind, now.kind)
                   : fmt::format("on another kind of processor, {}, not {}", recorded.processor,
                                 now.processor);
    for (const Identity::File& file : recorded.files) {
        bool there = false, same = false;
        for (const Identity::File& other : now.files)
            if (other.name == file.name) there = true, same = same || other == file;
        const bool program = &file == recorded.files.data();
        if (!there && program)
            return fmt::format("by the program {}, not {}", file.name, now.files.at(0).name);
        if (there && !same) {
            const auto other = std::find_if(now.files.begin(), now.files.end(),
                                            [&](const Identity::File& f) { return f.name == file.name; });
            return fmt::format("by another {} ({}, now {})", file.name, file.mark, other->mark);
        }
    }
    return "";
}

}  // namespace strata::graph
