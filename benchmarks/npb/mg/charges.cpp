#include "benchmarks/npb/mg/charges.hpp"

#include <algorithm>
#include <vector>

#include "benchmarks/npb/common/random.hpp"

namespace strata::npb::mg {
namespace {

struct Candidate {
    double value;
    std::int64_t place;
};

constexpr std::size_t kTen = 10;

/// The ten largest values that were offered, in descending order; of sign -1 the ten smallest, ascending.
class Best {
  public:
    explicit Best(double sign) : sign_(sign) { found_.fill({-2, -1}); }
    /// What a value must exceed to be among them.
    [[nodiscard]] double least() const { return found_.back().value; }
    void offer(double value, std::int64_t place) {
        if (sign_ * value <= least()) return;
        std::size_t i = kTen - 1;
        for (; i > 0 && found_[i - 1].value < sign_ * value; --i) found_[i] = found_[i - 1];
        found_[i] = {sign_ * value, place};
    }
    [[nodiscard]] const std::array<Candidate, kTen>& found() const { return found_; }

  private:
    double sign_;
    std::array<Candidate, kTen> found_;
};

/// The ten best of all workers and processes.
std::array<std::int64_t, kTen> best_of(std::span<const Candidate> mine, Group& group) {
    std::vector<Candidate> all(mine.size() * static_cast<std::size_t>(group.size()));
    group.gather(std::as_bytes(mine), std::as_writable_bytes(std::span(all)));
    std::partial_sort(all.begin(), all.begin() + kTen, all.end(),
                      [](const Candidate& a, const Candidate& b) { return a.value > b.value; });
    std::array<std::int64_t, kTen> places{};
    for (std::size_t i = 0; i < kTen; ++i) places[i] = all[i].place;
    return places;
}

}  // namespace

Charges find_charges(std::int64_t n, const Field& block, const std::array<std::int64_t, 3>& begin,
                     Group& group) {
    const auto count = kTen * static_cast<std::size_t>(group.workers());
    const std::span<Candidate> largest = group.array<Candidate>("largest", count);
    const std::span<Candidate> smallest = group.array<Candidate>("smallest", count);
    group.each([&](int worker, int workers) {
        std::vector<double> row(static_cast<std::size_t>(block.nx));
        Best top(1), bottom(-1);
        const Share rows(block.ny * block.nz, worker, workers);
        for (std::int64_t r = rows.begin; r < rows.end; ++r) {
            const std::int64_t y = begin[1] + r % block.ny, z = begin[2] + r / block.ny;
            const std::int64_t first = begin[0] + n * (y + n * z);
            Random(kSeed).after(static_cast<std::uint64_t>(first)).fill(row.data(), row.size());
            for (std::size_t x = 0; x < row.size(); ++x) {
                if (row[x] > top.least()) top.offer(row[x], first + static_cast<std::int64_t>(x));
                if (-row[x] > bottom.least()) bottom.offer(row[x], first + static_cast<std::int64_t>(x));
            }
        }
        std::copy(top.found().begin(), top.found().end(), largest.begin() + worker * std::int64_t{kTen});
        std::copy(bottom.found().begin(), bottom.found().end(),
                  smallest.begin() + worker * std::int64_t{kTen});
    });
    return {best_of(largest, group), best_of(smallest, group)};
}

}  // namespace strata::npb::mg
