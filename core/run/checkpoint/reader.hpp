// Reads the state of a run back, for any distribution of patches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "core/run/checkpoint/head.hpp"

namespace strata::graph {

/// A complete checkpoint. The checksum of every chunk is checked when it is read. Errors of damaged chunks
/// name label and patch.
class CheckpointReader {
  public:
    /// Reads the head and the indices of all parts. Throws Error where they are damaged, or a part is missing
    /// or cut short.
    explicit CheckpointReader(const std::filesystem::path& checkpoint);

    /// The last checkpoint in a folder that can be opened; none where there is none. The reasons for skipping
    /// later ones are added to `passed_over`, one line each.
    [[nodiscard]] static std::optional<CheckpointReader> latest(
        const std::filesystem::path& folder, std::vector<std::string>* passed_over = nullptr);

    [[nodiscard]] const CheckpointHead& head() const { return head_; }
    [[nodiscard]] const std::filesystem::path& path() const { return path_; }

    /// Throws Error, naming the first difference, unless the state fits these families and labels; and the
    /// hash of the case, where one side knows no keys of it (keys are compared by the case's schema).
    void expect(const CheckpointHead& now) const;

    struct Chunk {
        std::int64_t count = 0;   // values
        std::uint64_t bytes = 0;  // with all components
    };
    /// The size of a label's values on a patch: for lists and particles, where the reader must know their
    /// number first.
    [[nodiscard]] std::optional<Chunk> find(int label, std::int64_t patch, int generation = 0) const;
    /// Reads the values into `values`, which must have exactly their size. Throws Error where they are
    /// missing or damaged; the content of `values` is then undefined.
    void read(int label, std::int64_t patch, std::span<std::byte> values, int generation = 0) const;
    /// Reads and checks all chunks. Throws Error at the first damaged one. Returns the number of bytes read.
    std::uint64_t check() const;

  private:
    struct Where : Chunk {
        int part = 0;
        std::uint64_t offset = 0;
        std::uint32_t checksum = 0;
    };
    using Key = std::tuple<int, std::int64_t, int>;  // label, patch, generation

    void read_index(int part);
    [[nodiscard]] std::string what(const Key& key) const;
    void read_bytes(const Key& key, const Where& where, std::span<std::byte> into) const;

    std::filesystem::path path_;
    CheckpointHead head_;
    std::map<Key, Where> chunks_;
};

}  // namespace strata::graph
