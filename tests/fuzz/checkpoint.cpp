// Checkpoints: head, index and data of one part. The input is split at its first two bytes 0xFF; the
// checksums that seal head and index are made right, since no fuzzer guesses them.
#include "core/run/checkpoint/reader.hpp"

#include <fmt/format.h>

#include <fstream>
#include <span>

#include "core/base/crc32c.hpp"
#include "tests/fuzz/fuzz.hpp"

namespace fs = std::filesystem;

namespace {

std::uint32_t checksum(std::string_view text) { return strata::crc32c(std::as_bytes(std::span(text))); }

/// With the right one in place of a checksum that follows `before`; what has none stays as it is.
std::string sealed(std::string text, std::string_view before, std::size_t sealed_bytes) {
    constexpr std::size_t digits = 8;
    const std::size_t at = text.rfind(before);
    if (at == std::string::npos || at + before.size() + digits > text.size()) return text;
    const std::string right = fmt::format("{:08x}", checksum(std::string_view(text).substr(0, sealed_bytes)));
    return text.replace(at + before.size(), digits, right);
}

struct Folder {
    fs::path path;
    Folder() {
        const fs::path memory = "/dev/shm";
        std::string name =
            ((fs::is_directory(memory) ? memory : fs::temp_directory_path()) / "strata-fuzz-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) std::abort();
        path = name;
        fs::create_directory(checkpoint());
    }
    ~Folder() {
        std::error_code none;
        fs::remove_all(path, none);
    }
    [[nodiscard]] fs::path checkpoint() const { return strata::graph::checkpoint_path(path, 5); }
    void write(const char* name, std::string_view text) const {
        std::ofstream(checkpoint() / name, std::ios::binary) << text;
    }
};

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    static const Folder folder;
    strata::fuzz::reads(data, size, [](std::string_view text) {
        std::string parts[3];
        for (std::string& part : parts) {
            const std::size_t end = std::min(text.find('\xFF'), text.size());
            part = text.substr(0, end);
            text.remove_prefix(std::min(end + 1, text.size()));
        }
        const std::size_t head = std::min(parts[0].rfind(",\n\"crc32c\":\""), parts[0].size());
        const std::size_t line =
            parts[1].size() < 2 ? std::string::npos : parts[1].rfind('\n', parts[1].size() - 2);
        folder.write("checkpoint.json", sealed(parts[0], ",\n\"crc32c\":\"", head));
        folder.write("part-0000.index",
                     sealed(parts[1], "\"crc32c\":\"", line == std::string::npos ? 0 : line + 1));
        folder.write("part-0000.data", parts[2]);
        std::vector<std::string> passed_over;
        const auto latest = strata::graph::CheckpointReader::latest(folder.path, &passed_over);
        const strata::graph::CheckpointReader found(folder.checkpoint());
        if (!latest || latest->head().step != found.head().step) std::abort();
        found.expect(found.head());
        // What the head says is written again, and is then the same.
        const std::string again = strata::graph::head_text(found.head(), 1);
        if (again.find("crc32c") == std::string::npos) std::abort();
        strata::graph::CheckpointHead other = found.head();
        if (!other.labels.empty()) (void)other.label(other.labels.back().name), other.labels[0].components++;
        other.case_hash.clear();
        try {
            found.expect(other);
        } catch (const strata::Error&) {
        }
        if (found.find(0, 0)) {
            std::vector<std::byte> values(found.find(0, 0)->bytes);
            try {
                found.read(0, 0, values);
            } catch (const strata::Error&) {
            }
        }
        (void)found.check();
    });
    return 0;
}
