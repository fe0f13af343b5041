#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "benchmarks/npb/common/group.hpp"
#include "benchmarks/npb/is/is.hpp"

namespace strata::npb::is {

/// Ranks keys by buckets of neighbouring values: keys are counted by bucket, brought together by bucket (over
/// processes too: each has a range of buckets, with about as many keys as the others), and counted by value
/// within each bucket, where the counts are in the cache.
class Sorter {
  public:
    using Key = std::uint32_t;

    Sorter(const Problem& problem, Group& group, Break fault);

    /// The keys of the specification.
    void make_keys();
    /// Sets the two keys that iteration i changes, and ranks all.
    void rank(int i);
    /// The ranks that rank() has found of the keys at the places of partial verification: how many keys are
    /// smaller.
    [[nodiscard]] std::array<std::int64_t, kTests> test_ranks();
    /// Sorts by the ranks; how many keys are out of order, lost or there twice.
    [[nodiscard]] std::int64_t out_of_order();

    /// What one rank() moves in the memory of all processes.
    [[nodiscard]] double bytes() const;
    [[nodiscard]] static std::vector<std::pair<std::string, std::uint64_t>> needs(const Problem& problem,
                                                                                  int processes, int workers);

  private:
    static constexpr std::size_t kMostBuckets = 1024;
    using Counts = std::array<std::int64_t, kMostBuckets>;
    /// Keys that came from one process, by ascending bucket: those of bucket b from begin[b] to
    /// begin[b + 1] - 1.
    struct Piece {
        const Key* keys = nullptr;
        std::vector<std::int64_t> begin;
    };

    void count_buckets();
    void share_buckets();
    void scatter();
    void exchange();
    void count_values();
    /// The buckets of a worker of this process: about as many keys as every other one's.
    [[nodiscard]] Share buckets_of(int worker, int workers) const;
    [[nodiscard]] std::size_t bucket(Key key) const { return key >> shift_; }
    /// The first bucket of a process; of the process after the last one, their number.
    [[nodiscard]] std::int64_t first(int process) const { return first_[static_cast<std::size_t>(process)]; }

    const Problem& problem_;
    Group& group_;
    Break fault_;
    int shift_;
    std::size_t buckets_;
    Share mine_;                        // of the sequence of keys
    std::span<Key> keys_, sorted_;      // sorted: by bucket
    std::span<Key> received_;           // those of this process's buckets
    std::span<std::uint32_t> smaller_;  // for each value: how many keys of its bucket are smaller
    std::span<Counts> counts_;          // of each worker
    std::vector<std::int64_t> before_;  // keys of all processes in lower buckets
    std::vector<std::int64_t> first_;
    std::vector<Piece> pieces_;
};

}  // namespace strata::npb::is
