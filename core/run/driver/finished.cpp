#include "core/run/driver/finished.hpp"

#include <algorithm>
#include <cmath>
#include <mutex>

#include "core/graph/expand/plan.hpp"
#include "core/run/driver/own_rows.hpp"
#include "core/team/exact_sum.hpp"

namespace strata::graph {

namespace {

/// Rows that a thread takes at once.
constexpr std::int64_t kRows = 64;

}  // namespace

std::vector<double> Finished::sums(Field<double> field, std::size_t n, const FindTerms& find_terms) const {
    const std::vector<OwnRows> patches = own_rows(simulation_, field);
    const std::int64_t rows = patches.empty() ? 0 : patches.back().number + patches.back().count();
    std::vector<team::ExactSum> sums(n);
    std::mutex adding;
    const auto add_rows = [&](std::int64_t begin, std::int64_t end) {
        std::vector<team::ExactSum> part(n);
        std::vector<std::vector<double>> memory(n);
        std::vector<std::span<double>> terms(n);
        auto in = std::upper_bound(patches.begin(), patches.end(), begin,
                                   [](std::int64_t row, const OwnRows& of) { return row < of.number; }) -
                  1;
        for (std::int64_t row = begin; row < end; ++row) {
            while (row >= in->number + in->count()) ++in;
            const std::span<const double> values = in->values(row - in->number);
            for (std::size_t t = 0; t < n; ++t) {
                memory[t].resize(std::max(memory[t].size(), values.size()));
                terms[t] = std::span(memory[t]).first(values.size());
            }
            find_terms(in->at(row - in->number), values, terms);
            for (std::size_t t = 0; t < n; ++t) part[t].add(terms[t]);
        }
        const std::lock_guard lock(adding);
        for (std::size_t t = 0; t < n; ++t) sums[t].add(part[t]);
    };
    const std::int64_t chunks = (rows + kRows - 1) / kRows;
    team_.crew().parallel_for(
        0, chunks, [&](std::int64_t chunk) { add_rows(chunk * kRows, std::min(rows, (chunk + 1) * kRows)); },
        team::Dynamic{1});
    std::vector<double> all;
    for (const team::ExactSum& sum : sums) all.push_back(team_.together().sum(sum));
    return all;
}

double Finished::sum(Field<double> field,
                     const std::function<double(const Int3& at, double value)>& term) const {
    return sums(field, 1, [&](Int3 at, std::span<const double> values, auto terms) {
        for (std::size_t i = 0; i < values.size(); ++i, ++at[0]) terms[0][i] = term(at, values[i]);
    })[0];
}

double Finished::error(Field<double> field,
                       const std::function<void(const Int3& at, std::span<double> exact)>& fill) const {
    const LabelInfo& label = simulation_.plan().graph().labels()[field.id()];
    const auto& grid = static_cast<const Grid&>(*label.family);
    std::int64_t count = 0;
    for (int p = 0; p < grid.patches(); ++p) count += grid.owned(p, label.on).volume();
    const double sum = sums(field, 1, [&](const Int3& at, auto values, auto terms) {
        fill(at, terms[0]);
        for (std::size_t i = 0; i < values.size(); ++i) {
            const double away = values[i] - terms[0][i];
            terms[0][i] = away * away;
        }
    })[0];
    return std::sqrt(sum / static_cast<double>(count));
}

double Finished::error(Field<double> field, const std::function<double(const Real3& x)>& exact) const {
    const LabelInfo& label = simulation_.plan().graph().labels()[field.id()];
    const auto& grid = static_cast<const Grid&>(*label.family);
    return error(field, [&](Int3 at, std::span<double> values) {
        for (double& value : values) {
            value = exact(grid.place(at, label.on));
            ++at[0];
        }
    });
}

double Finished::sum(std::span<const double> terms) const { return team_.together().sum(terms); }

}  // namespace strata::graph
