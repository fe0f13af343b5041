#include "core/run/checkpoint/reader.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <memory>

#include "core/base/crc32c.hpp"
#include "core/base/error.hpp"
#include "core/base/json_value.hpp"
#include "core/base/text.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPiece = 1 << 20;
constexpr const char* kEarlier =
    "start from an earlier checkpoint, or copy this one again with all its parts";

/// The index is cut off or changed: no part of it can be trusted.
[[noreturn]] void damaged_index(const fs::path& file) {
    throw Error("a checkpoint's index is damaged: its checksum does not fit", kFailure)
        .at(file.string())
        .remedy(kEarlier);
}

}  // namespace

CheckpointReader::CheckpointReader(const fs::path& checkpoint) : path_(checkpoint) {
    if (!fs::exists(path_ / "checkpoint.json"))
        throw Error("there is no checkpoint here")
            .given(path_.string())
            .allowed("a folder with checkpoint.json: RUN/checkpoint-NNNNNN");
    int parts = 0;
    head_ = read_head(path_ / "checkpoint.json", parts);
    for (int part = 0; part < parts; ++part) read_index(part);
}

std::optional<CheckpointReader> CheckpointReader::latest(const fs::path& folder,
                                                         std::vector<std::string>* passed_over) {
    std::vector<std::int64_t> steps = checkpoint_steps(folder);
    std::reverse(steps.begin(), steps.end());
    for (const std::int64_t step : steps) {
        try {
            return CheckpointReader(checkpoint_path(folder, step));
        } catch (const Error& error) {
            if (passed_over != nullptr)
                passed_over->push_back(
                    fmt::format("{}: {}", checkpoint_path(folder, step).string(), error.message()));
        }
    }
    return std::nullopt;
}

void CheckpointReader::read_index(int part) {
    const fs::path index = path_ / part_name(part, "index"), data = path_ / part_name(part, "data");
    std::ifstream in(index, std::ios::binary);
    const std::string text((std::istreambuf_iterator<char>(in)), {});
    if (!in) throw Error("a part of the checkpoint is missing", kFailure).at(index.string()).remedy(kEarlier);
    // The last line has the checksum of the lines before it.
    if (text.size() < 2 || text.back() != '\n') damaged_index(index);
    const auto before_seal = text.rfind('\n', text.size() - 2);
    const std::size_t sealed = before_seal == std::string::npos ? 0 : before_seal + 1;
    const std::string_view lines(text.data(), sealed);
    const JsonValue seal = JsonValue::parse(std::string_view(text).substr(sealed), index.string());
    const JsonValue* checksum = seal.type() == JsonValue::Type::object ? seal.find("crc32c") : nullptr;
    if (checksum == nullptr || seal.find("chunks") == nullptr ||
        checksum->string() != fmt::format("{:08x}", crc32c(std::as_bytes(std::span(lines)))))
        damaged_index(index);

    struct stat facts {};
    if (::stat(data.c_str(), &facts) != 0)
        throw system_error("a part of the checkpoint cannot be opened", errno).at(data.string());
    if (facts.st_size != seal.member("bytes").integer())
        throw Error("a part of the checkpoint was cut short", kFailure)
            .at(data.string())
            .given(fmt::format("{} bytes", facts.st_size))
            .allowed(fmt::format("{} bytes", seal.member("bytes").integer()))
            .remedy(kEarlier);

    for (std::size_t from = 0; from < lines.size();) {
        const std::size_t end = lines.find('\n', from);
        const JsonValue entry = JsonValue::parse(lines.substr(from, end - from), index.string());
        from = end + 1;
        const Key key{static_cast<int>(entry.member("label").integer()), entry.member("patch").integer(),
                      static_cast<int>(entry.member("generation").integer())};
        const std::int64_t count = entry.member("count").integer(), bytes = entry.member("bytes").integer(),
                           offset = entry.member("offset").integer();
        const auto sum = parse_number<std::uint32_t>(entry.member("crc32c").string(), {.base = 16});
        // Whoever reads a chunk makes room for it first.
        if (count < 0 || bytes < 0 || offset < 0 || offset > facts.st_size ||
            bytes > facts.st_size - offset || !sum)
            throw Error(fmt::format("the checkpoint's index says what cannot be of {}", what(key)), kFailure)
                .at(index.string())
                .given(fmt::format("{} values, {} bytes from byte {} on, checksum '{}'", count, bytes, offset,
                                   entry.member("crc32c").string()))
                .allowed(
                    fmt::format("bytes within the {} of the part, a checksum of 8 digits", facts.st_size));
        Where where;
        where.part = part;
        where.count = count;
        where.bytes = static_cast<std::uint64_t>(bytes);
        where.offset = static_cast<std::uint64_t>(offset);
        where.checksum = *sum;
        if (!chunks_.emplace(key, where).second)
            throw Error(fmt::format("the checkpoint has {} twice", what(key)), kFailure).at(index.string());
    }
}

std::string CheckpointReader::what(const Key& key) const {
    const auto [label, patch, generation] = key;
    const bool known = label >= 0 && static_cast<std::size_t>(label) < head_.labels.size();
    const std::string name =
        known ? head_.labels[static_cast<std::size_t>(label)].name : std::to_string(label);
    return fmt::format("label '{}' on patch {}{}", name, patch,
                       generation == 0 ? "" : fmt::format(", {} back", generation));
}

void CheckpointReader::expect(const CheckpointHead& now) const {
    const std::string at = (path_ / "checkpoint.json").string();
    const auto differ = [&](const std::string& message, const std::string& given,
                            const std::string& allowed) {
        throw Error("the checkpoint does not fit this case: " + message)
            .at(at)
            .given(given)
            .allowed(allowed)
            .remedy("restart with the keys of the run that wrote it, or start anew, without --restart");
    };
    if ((head_.keys.empty() || now.keys.empty()) && !head_.case_hash.empty() && !now.case_hash.empty() &&
        head_.case_hash != now.case_hash)
        throw Error(fmt::format("the checkpoint is of another case of '{}'", head_.case_name))
            .at(at)
            .given(fmt::format("the checksum {} of the keys that its values depend on: an earlier version of "
                               "Strata kept no more of a case, so which key differs is not known",
                               head_.case_hash))
            .allowed(now.case_hash + ", that of this case")
            .remedy(
                "restart with the case as it was (case_text in history.jsonl of the run's folder), or "
                "start anew, without --restart");
    for (const CheckpointHead::Family& family : now.families) {
        const auto same = [&](const auto& other) { return other.name == family.name; };
        const auto found = std::find_if(head_.families.begin(), head_.families.end(), same);
        if (found == head_.families.end())
            differ("it has no family '" + family.name + "'", "none of that name", family.name);
        if (found->patches != family.patches)
            differ("family '" + family.name + "' is divided otherwise",
                   fmt::format("{} patches", found->patches), fmt::format("{} patches", family.patches));
    }
    const auto text = [](const CheckpointHead::Label& l) {
        return fmt::format("{} of {} bytes on '{}', {} components, {} generations", name_of(l.element),
                           l.bytes, l.family, l.components, l.generations);
    };
    for (const CheckpointHead::Label& label : now.labels) {
        const auto same = [&](const auto& other) { return other.name == label.name; };
        const auto found = std::find_if(head_.labels.begin(), head_.labels.end(), same);
        if (found == head_.labels.end())
            differ("it has no label '" + label.name + "'", "none of that name", text(label));
        if (*found != label) differ("label '" + label.name + "' is another", text(*found), text(label));
    }
}

std::optional<CheckpointReader::Chunk> CheckpointReader::find(int label, std::int64_t patch,
                                                              int generation) const {
    const auto found = chunks_.find({label, patch, generation});
    if (found == chunks_.end()) return std::nullopt;
    return found->second;
}

void CheckpointReader::read(int label, std::int64_t patch, std::span<std::byte> values,
                            int generation) const {
    const Key key{label, patch, generation};
    const auto found = chunks_.find(key);
    if (found == chunks_.end())
        throw Error(fmt::format("the checkpoint has no {}", what(key)), kFailure).at(path_.string());
    if (found->second.bytes != values.size())
        throw Error(fmt::format("{} has another size in the checkpoint", what(key)), kFailure)
            .at(path_.string())
            .given(fmt::format("{} bytes", found->second.bytes))
            .allowed(fmt::format("{} bytes", values.size()));
    read_bytes(key, found->second, values);
}

void CheckpointReader::read_bytes(const Key& key, const Where& where, std::span<std::byte> into) const {
    const std::string file = (path_ / part_name(where.part, "data")).string();
    // Opened for each chunk: the number of parts may exceed the number of files that a process may have open.
    const int in = ::open(file.c_str(), O_RDONLY | O_CLOEXEC);
    if (in < 0) throw system_error(fmt::format("{} cannot be read", what(key)), errno).at(file);
    const auto close = [](const int* opened) { ::close(*opened); };
    const std::unique_ptr<const int, decltype(close)> closed(&in, close);
    std::uint32_t checksum = 0;
    std::uint64_t offset = where.offset;
    while (!into.empty()) {
        const ssize_t got =
            ::pread(in, into.data(), std::min(kPiece, into.size()), static_cast<off_t>(offset));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) throw system_error(fmt::format("{} cannot be read", what(key)), errno).at(file);
        if (got == 0) throw Error(fmt::format("{} was cut short", what(key)), kFailure).at(file);
        const auto done = static_cast<std::size_t>(got);
        checksum = crc32c(into.first(done), checksum);
        into = into.subspan(done);
        offset += done;
    }
    if (checksum != where.checksum)
        throw Error(fmt::format("{} is damaged: its checksum does not fit", what(key)), kFailure)
            .at(file)
            .given(fmt::format("crc32c {:08x}", checksum))
            .allowed(fmt::format("crc32c {:08x}", where.checksum))
            .remedy(kEarlier);
}

std::uint64_t CheckpointReader::check() const {
    std::uint64_t bytes = 0;
    std::vector<std::byte> buffer;
    for (const auto& [key, where] : chunks_) {
        buffer.resize(where.bytes);
        read_bytes(key, where, buffer);
        bytes += where.bytes;
    }
    return bytes;
}

}  // namespace strata::graph
