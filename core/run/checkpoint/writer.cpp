#include "core/run/checkpoint/writer.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <tuple>

#include "core/base/crc32c.hpp"
#include "core/base/error.hpp"
#include "core/base/private_folder.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPiece = 1 << 20;  // checksummed and written while it is in the cache
constexpr std::uint64_t kAligned = 64;

[[noreturn]] void fail(const char* what, const fs::path& file, int error_number) {
    Error error = system_error(fmt::format("the checkpoint could not be written: {}", what), error_number);
    throw error.at(file.string())
        .remedy("earlier checkpoints are as they were; make room, or write elsewhere");
}

void write_all(int file, std::span<const std::byte> bytes, std::uint64_t offset, const fs::path& path) {
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(offset));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0) fail("writing failed", path, done < 0 ? errno : ENOSPC);
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        offset += static_cast<std::uint64_t>(done);
    }
}

/// Writes a small file and waits for the disk.
void write_file(const fs::path& path, const std::string& text) {
    const int file = ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0) fail("a file cannot be made", path, errno);
    int error_number = 0;
    try {
        write_all(file, std::as_bytes(std::span(text)), 0, path);
    } catch (...) {
        ::close(file);
        throw;
    }
    if (::fsync(file) != 0) error_number = errno;
    if (::close(file) != 0 && error_number == 0) error_number = errno;
    if (error_number != 0) fail("the disk refuses it", path, error_number);
}

void sync_folder(const fs::path& path) {
    const int folder = ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) fail("a folder cannot be opened", path, errno);
    // Some network file systems have no fsync for folders (EINVAL); they write names at once.
    const int error_number = ::fsync(folder) == 0 || errno == EINVAL ? 0 : errno;
    ::close(folder);
    if (error_number != 0) fail("the disk refuses it", path, error_number);
}

/// Removes the files that an interrupted writer left: .checkpoint-*.partial, .old and .removed. An .old
/// without a successor of its name was complete: it gets its name back.
void sweep(const fs::path& folder) {
    std::vector<fs::path> left;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, none)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(".checkpoint-")) continue;
        const fs::path end = entry.path().extension();
        if (end == ".old" && !fs::exists(folder / entry.path().stem().string().substr(1), none))
            fs::rename(entry.path(), folder / entry.path().stem().string().substr(1), none);
        else if (end == ".partial" || end == ".removed" || end == ".old")
            left.push_back(entry.path());
    }
    for (const fs::path& path : left) fs::remove_all(path, none);
}

/// Gives the finished folder its name. A folder that has the name already is removed afterwards.
void appear(const fs::path& partial, const fs::path& final_path) {
    if (::rename(partial.c_str(), final_path.c_str()) == 0) return;
    if (errno != ENOTEMPTY && errno != EEXIST) fail("it cannot get its name", final_path, errno);
    std::error_code none;
    if (::renameat2(AT_FDCWD, partial.c_str(), AT_FDCWD, final_path.c_str(), RENAME_EXCHANGE) == 0) {
        fs::remove_all(partial, none);
        return;
    }
    // NFS and others cannot exchange two names: the old folder gets another name for a moment (see sweep).
    const fs::path old = final_path.parent_path() / fmt::format(".{}.old", final_path.filename().string());
    if (::rename(final_path.c_str(), old.c_str()) != 0)
        fail("the old one cannot be moved", final_path, errno);
    if (::rename(partial.c_str(), final_path.c_str()) != 0) {
        const int error_number = errno;
        ::rename(old.c_str(), final_path.c_str());
        fail("it cannot get its name", final_path, error_number);
    }
    fs::remove_all(old, none);
}

void remove_older(const fs::path& folder, int keep) {
    std::vector<std::int64_t> steps = checkpoint_steps(folder);
    std::error_code none;
    for (std::size_t i = 0; i + static_cast<std::size_t>(keep) < steps.size(); ++i) {
        const fs::path path = checkpoint_path(folder, steps[i]);
        const fs::path removed = folder / fmt::format(".{}.removed", path.filename().string());
        fs::rename(path, removed, none);  // a half-removed one must not look complete
        if (!none) fs::remove_all(removed, none);
    }
}

}  // namespace

void CheckpointWriter::prepare(const fs::path& folder, std::int64_t step) {
    std::error_code error = make_results_folder(folder);
    if (error) fail("its folder cannot be made", folder, error.value());
    sweep(folder);
    const fs::path partial = partial_path(folder, step);
    if (!fs::create_directory(partial, error)) fail("its folder cannot be made", partial, error.value());
}

CheckpointWriter::CheckpointWriter(const fs::path& folder, std::int64_t step, int part)
    : data_(partial_path(folder, step) / part_name(part, "data")),
      index_(partial_path(folder, step) / part_name(part, "index")) {
    file_ = ::open(data_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (file_ < 0) fail("a file cannot be made", data_, errno);
}

CheckpointWriter::~CheckpointWriter() {
    if (file_ >= 0) ::close(file_);
    if (finished_) return;
    ::unlink(data_.c_str());
    ::unlink(index_.c_str());
}

void CheckpointWriter::add(int label, std::int64_t patch, std::span<const std::byte> values,
                           std::int64_t count, int generation) {
    Entry entry{label, generation, patch, count, 0, values.size(), 0};
    {
        const std::scoped_lock lock(mutex_);
        entry.offset = end_;
        end_ += (values.size() + kAligned - 1) / kAligned * kAligned;
    }
    std::uint64_t offset = entry.offset;
    for (std::span<const std::byte> rest = values; !rest.empty();) {
        const auto piece = rest.first(std::min(kPiece, rest.size()));
        entry.checksum = crc32c(piece, entry.checksum);
        write_all(file_, piece, offset, data_);
        offset += piece.size();
        rest = rest.subspan(piece.size());
    }
    const std::scoped_lock lock(mutex_);
    entries_.push_back(entry);
}

void CheckpointWriter::finish() {
    // Sorted, so the same state gives the same index in any order of threads.
    std::sort(entries_.begin(), entries_.end(), [](const Entry& a, const Entry& b) {
        return std::tie(a.label, a.patch, a.generation) < std::tie(b.label, b.patch, b.generation);
    });
    std::string text;
    for (const Entry& e : entries_)
        text += fmt::format(
            R"({{"label":{},"patch":{},"generation":{},"count":{},"offset":{},"bytes":{},"crc32c":"{:08x}"}})"
            "\n",
            e.label, e.patch, e.generation, e.count, e.offset, e.bytes, e.checksum);
    // The padding behind the last chunk is part of the file, so that its length can be compared.
    if (::ftruncate(file_, static_cast<off_t>(end_)) != 0) fail("writing failed", data_, errno);
    text += fmt::format(R"({{"chunks":{},"bytes":{},"crc32c":"{:08x}"}})"
                        "\n",
                        entries_.size(), end_, crc32c(std::as_bytes(std::span(text))));
    write_file(index_, text);
    const int error_number = ::fsync(file_) == 0 ? 0 : errno;
    const int closed = ::close(file_) == 0 ? 0 : errno;
    file_ = -1;
    if (error_number != 0 || closed != 0)
        fail("the disk refuses it", data_, error_number != 0 ? error_number : closed);
    finished_ = true;
}

void CheckpointWriter::commit(const fs::path& folder, const CheckpointHead& head, int parts, int keep) {
    const fs::path partial = partial_path(folder, head.step), final_path = checkpoint_path(folder, head.step);
    for (int part = 0; part < parts; ++part)
        if (!fs::exists(partial / part_name(part, "index")))
            throw Error("a checkpoint cannot be committed: a part has not been finished", kFailure)
                .at((partial / part_name(part, "index")).string());
    write_file(partial / "checkpoint.json", head_text(head, parts));
    sync_folder(partial);
    appear(partial, final_path);
    sync_folder(folder);
    if (keep > 0) remove_older(folder, keep);
}

void CheckpointWriter::abandon(const fs::path& folder, std::int64_t step) noexcept {
    std::error_code none;
    fs::remove_all(partial_path(folder, step), none);
}

}  // namespace strata::graph
