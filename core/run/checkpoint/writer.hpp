// Writes the state of a run completely or not at all.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "core/run/checkpoint/head.hpp"

namespace strata::graph {

/// One part of a checkpoint: values of patches of one process, in a file that one of its threads writes.
/// (Several may write to it, but they wait for each other in the system.) In this order:
///   1. one process calls prepare(folder, step); the others wait for it
///   2. each makes its writers (parts are numbered from 0), calls add() for its chunks, and finish()
///   3. when all have finished, one process calls commit(...): only now does the checkpoint exist
/// Any failure throws Error with the file and the system's message (no space left, quota, ...). Then one
/// process calls abandon(); earlier checkpoints are unchanged. The next prepare() in that folder removes the
/// files of a killed run.
class CheckpointWriter {
  public:
    static void prepare(const std::filesystem::path& folder, std::int64_t step);

    CheckpointWriter(const std::filesystem::path& folder, std::int64_t step, int part);
    /// Removes its files if it was not finished.
    ~CheckpointWriter();
    CheckpointWriter(const CheckpointWriter&) = delete;
    CheckpointWriter& operator=(const CheckpointWriter&) = delete;

    /// Adds the values of one label on one patch, `generation` rounds ago: `count` values (cells, entries,
    /// particles) in the order in which they will be read. May be called by several threads at once.
    void add(int label, std::int64_t patch, std::span<const std::byte> values, std::int64_t count,
             int generation = 0);
    /// Writes the part's index and waits until data and index are on the disk.
    void finish();
    [[nodiscard]] std::uint64_t bytes() const { return end_; }

    /// Gives the checkpoint of `parts` finished parts its name, replacing one of the same step. Then removes
    /// all but the last `keep` complete ones (0: keeps all). Throws Error where a part is missing.
    static void commit(const std::filesystem::path& folder, const CheckpointHead& head, int parts, int keep);
    /// Removes the files of a step that will not be committed. Never throws.
    static void abandon(const std::filesystem::path& folder, std::int64_t step) noexcept;

  private:
    struct Entry {
        int label, generation;
        std::int64_t patch, count;
        std::uint64_t offset, bytes;
        std::uint32_t checksum;
    };

    std::filesystem::path data_, index_;
    int file_ = -1;
    bool finished_ = false;
    std::mutex mutex_;
    std::uint64_t end_ = 0;
    std::vector<Entry> entries_;
};

}  // namespace strata::graph
