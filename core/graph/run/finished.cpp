#include "core/graph/run/finished.hpp"

#include <algorithm>
#include <mutex>

#include "core/team/exact_sum.hpp"

namespace strata::graph {

namespace {

/// Rows that a thread takes at once.
constexpr std::int64_t kRows = 64;

/// Rows of a patch: where its own values lie, without the border layers.
struct Rows {
    Box own;
    const std::byte* first = nullptr;
    Strides strides;
    std::int64_t number = 0;  // of the first, among all rows

    [[nodiscard]] std::int64_t count() const { return std::int64_t{own.extent(1)} * own.extent(2); }
};

std::vector<Rows> rows_of(const Simulation& simulation, int field) {
    const Graph& graph = simulation.plan().graph();
    const LabelInfo& label = graph.labels()[static_cast<std::size_t>(field)];
    const auto& grid = static_cast<const Grid&>(*label.family);
    const auto& patches =
        simulation.plan().memory().patches()[static_cast<std::size_t>(number_of(graph, grid))];
    std::vector<Rows> all;
    std::int64_t number = 0;
    for (const Kept& kept : kept_versions(simulation.plan())) {
        if (kept.label != field || kept.back != 0) continue;
        for (std::size_t p = 0; p < patches.size(); ++p) {
            const Box with_border = grid.owned(patches[p], label.on, label.border);
            const BoxCopy there = simulation.values_in_place(kept, static_cast<int>(p));
            Rows rows{grid.owned(patches[p], label.on), there.from, there.from_strides, number};
            rows.first += static_cast<std::int64_t>(sizeof(double)) * (rows.own.lo[0] - with_border.lo[0]) +
                          rows.strides.row * (rows.own.lo[1] - with_border.lo[1]) +
                          rows.strides.plane * (rows.own.lo[2] - with_border.lo[2]);
            number += rows.count();
            all.push_back(rows);
        }
    }
    return all;
}

}  // namespace

std::vector<double> Finished::sums(Field<double> field, std::size_t n, const FindTerms& find_terms) const {
    const std::vector<Rows> patches = rows_of(simulation_, field.id());
    const std::int64_t rows = patches.empty() ? 0 : patches.back().number + patches.back().count();
    std::vector<team::ExactSum> sums(n);
    std::mutex adding;
    const auto add_rows = [&](std::int64_t begin, std::int64_t end) {
        std::vector<team::ExactSum> part(n);
        std::vector<std::vector<double>> memory(n);
        std::vector<std::span<double>> terms(n);
        auto in = std::upper_bound(patches.begin(), patches.end(), begin,
                                   [](std::int64_t row, const Rows& of) { return row < of.number; }) -
                  1;
        for (std::int64_t row = begin; row < end; ++row) {
            while (row >= in->number + in->count()) ++in;
            const auto j = static_cast<int>((row - in->number) % in->own.extent(1));
            const auto k = static_cast<int>((row - in->number) / in->own.extent(1));
            const auto length = static_cast<std::size_t>(in->own.extent(0));
            const auto* values =
                reinterpret_cast<const double*>(in->first + j * in->strides.row + k * in->strides.plane);
            for (std::size_t t = 0; t < n; ++t) {
                memory[t].resize(std::max(memory[t].size(), length));
                terms[t] = std::span(memory[t]).first(length);
            }
            const Int3 at{in->own.lo[0], in->own.lo[1] + j, in->own.lo[2] + k};
            find_terms(at, std::span(values, length), terms);
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

double Finished::sum(std::span<const double> terms) const { return team_.together().sum(terms); }

}  // namespace strata::graph
