#include <metis.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/graph/expand/assign/partition.hpp"

namespace strata::graph::detail {

namespace {

/// Whole numbers from 1, in proportion: METIS adds them up in 32 bits.
class Whole {
  public:
    explicit Whole(double sum) : scale_(sum > 0 ? 5e8 / sum : 0) {}
    [[nodiscard]] idx_t operator()(double value) const {
        return std::max<idx_t>(1, static_cast<idx_t>(std::llround(value * scale_)));
    }

  private:
    double scale_;
};

/// A graph in METIS's form: vertex v has the edges first[v] to first[v + 1].
struct Csr {
    std::vector<idx_t> first, other, weight;
};

Csr symmetric(std::size_t vertices, std::span<const balance::Exchanged> exchanged) {
    struct Half {
        int from, to;
        double bytes;
    };
    std::vector<Half> halves;
    halves.reserve(2 * exchanged.size());
    double sum = 0;
    for (const auto& [a, b, bytes] : exchanged) {
        if (a == b) continue;
        halves.push_back({a, b, bytes});
        halves.push_back({b, a, bytes});
        sum += bytes;
    }
    std::stable_sort(halves.begin(), halves.end(), [](const Half& a, const Half& b) {
        return a.from != b.from ? a.from < b.from : a.to < b.to;
    });
    const Whole whole(sum);
    Csr csr;
    csr.first.assign(vertices + 1, 0);
    for (std::size_t i = 0; i < halves.size();) {
        const Half& half = halves[i];
        double bytes = 0;
        for (; i < halves.size() && halves[i].from == half.from && halves[i].to == half.to; ++i)
            bytes += halves[i].bytes;
        csr.other.push_back(half.to);
        csr.weight.push_back(whole(bytes));
        ++csr.first[static_cast<std::size_t>(half.from) + 1];
    }
    std::partial_sum(csr.first.begin(), csr.first.end(), csr.first.begin());
    return csr;
}

}  // namespace

bool can_partition() { return true; }

std::optional<balance::Owners> partition(std::span<const double> costs,
                                         std::span<const balance::Exchanged> exchanged, int parts) {
    if (parts < 2 || costs.size() < 2) return balance::Owners(costs.size(), 0);
    Csr csr = symmetric(costs.size(), exchanged);
    const Whole whole(std::accumulate(costs.begin(), costs.end(), 0.0));
    std::vector<idx_t> work;
    for (const double cost : costs) work.push_back(whole(cost));
    auto vertices = static_cast<idx_t>(costs.size());
    auto processes = static_cast<idx_t>(parts);
    idx_t constraints = 1, cut = 0;
    idx_t options[METIS_NOPTIONS];
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = 1;
    options[METIS_OPTION_NUMBERING] = 0;
    options[METIS_OPTION_UFACTOR] = 10;  // loads up to 1.01 of the mean, where patches allow it
    std::vector<idx_t> part(costs.size());
    // METIS's manual: bisections for few parts, where their loads are nearer to each other.
    const auto divide = parts <= 8 ? METIS_PartGraphRecursive : METIS_PartGraphKway;
    if (divide(&vertices, &constraints, csr.first.data(), csr.other.data(), work.data(), nullptr,
               csr.weight.data(), &processes, nullptr, nullptr, options, &cut, part.data()) != METIS_OK)
        return std::nullopt;
    return balance::Owners(part.begin(), part.end());
}

}  // namespace strata::graph::detail
