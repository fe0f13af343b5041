// Values at nodes: means of those of the cells around.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "core/graph/declare/view.hpp"

namespace strata::flow {

/// Some components of a field of cells, with one layer around the patch.
struct CellValues {
    graph::FieldView<const double> field;
    int components;
};

/// The means over the cells around nodes (node_means()).
template <int Dim, std::size_t N, class IsKnown, class To>
class NodeMeans {
    static constexpr int kRows = Dim == 3 ? 4 : 2, kCells = 2 * kRows;
    using Int3 = graph::Int3;

  public:
    NodeMeans(const std::array<CellValues, N>& from, int judge, const IsKnown& is_known, const To& to)
        : from_(from), judge_(judge), is_known_(is_known), to_(to) {
        each([&](const auto& field, int, int at) {
            if (at == judge) box_ = field.box();
        });
    }

    /// A row of nodes, of which the first one has this number. `lacks`: some cells around it are not known.
    void row(int begin, int end, int j, int k, std::size_t number, bool lacks) const {
        const int below = Dim == 3 ? k - 1 : k;
        const int first = std::max(begin, box_.lo[0] + 1), last = std::min(end, box_.hi[0]);
        const bool whole =
            box_.contains(Int3{box_.lo[0], j - 1, below}) && box_.contains(Int3{box_.lo[0], j, k});
        const auto number_of = [&](int i) { return number + static_cast<std::size_t>(i - begin); };
        if (whole)
            each([&](const auto& field, int e, int at) {
                std::array<graph::Row<const double>, kRows> cells;
                for (int r = 0; r < kRows; ++r)
                    cells[static_cast<std::size_t>(r)] = field.row(j - 1 + r % 2, below + r / 2, e);
                const auto out = to_(at);
                for (int i = first; i < last; ++i) {
                    double sum = 0;
                    for (const auto& c : cells) sum += c[i - 1], sum += c[i];
                    out[number_of(i)] = sum / kCells;
                }
            });
        for (int i = begin; i < end; ++i) {
            bool done = whole && i >= first && i < last && std::isfinite(to_(judge_)[number_of(i)]);
            if (done && lacks)
                graph::for_each({{i - 1, j - 1, below}, {i + 1, j + 1, k + 1}}, [&](int a, int b, int c) {
                    done = done && is_known_(Int3{a, b, c});
                });
            if (!done) one({i, j, k}, number_of(i));
        }
    }

  private:
    /// f(field, its component, number of the component) for all of them.
    template <class F>
    void each(const F& f) const {
        int at = 0;
        for (const CellValues& values : from_)
            for (int c = 0; c < values.components; ++c) f(values.field, c, at++);
    }

    /// A node that has not all of its cells.
    void one(const Int3& node, std::size_t n) const {
        const graph::Box around{{node[0] - 1, node[1] - 1, Dim == 3 ? node[2] - 1 : node[2]},
                                {node[0] + 1, node[1] + 1, node[2] + 1}};
        std::array<bool, kCells> counts{};
        int count = 0;
        for (const bool holes : {false, true}) {
            std::size_t cell = 0;
            graph::for_each(around, [&](int a, int b, int c) {
                bool& counted = counts[cell++];
                if (!box_.contains(Int3{a, b, c})) return;
                each([&](const auto& field, int e, int at) {
                    if (at == judge_) counted = std::isfinite(field(a, b, c, e));
                });
                counted = counted && (holes || is_known_(Int3{a, b, c}));
                count += counted;
            });
            if (count > 0) break;
        }
        each([&](const auto& field, int e, int at) {
            double sum = 0;
            std::size_t cell = 0;
            graph::for_each(around, [&](int a, int b, int c) {
                if (counts[cell++]) sum += field(a, b, c, e);
            });
            to_(at)[n] = sum / count;
        });
    }

    const std::array<CellValues, N>& from_;
    int judge_;
    const IsKnown& is_known_;
    const To& to_;
    graph::Box box_;  // of the cells
};

/// What nodes are given: component `c` of all of them, x fastest, at `to(c)`. Components are those of `from`,
/// one after the other. Each is the mean over the cells around a node, without corners where no cell is:
/// beyond the field, or where component `judge` is not finite. Cells of which `is_known` says false do not
/// count, but at nodes that have nothing else around them; it is asked in rows that `may_lack(j, k)` some.
/// Rows of nodes with all of their cells are done at once, since runs with slices do this in each step.
template <int Dim, std::size_t N, class MayLack, class IsKnown, class To>
void node_means(const graph::Box& nodes, const std::array<CellValues, N>& from, int judge,
                const MayLack& may_lack, const IsKnown& is_known, const To& to) {
    const NodeMeans<Dim, N, IsKnown, To> means(from, judge, is_known, to);
    std::size_t number = 0;
    for (int k = nodes.lo[2]; k < nodes.hi[2]; ++k)
        for (int j = nodes.lo[1]; j < nodes.hi[1]; ++j) {
            const int below = Dim == 3 ? k - 1 : k;
            const bool lacks =
                may_lack(j - 1, below) || may_lack(j, below) || may_lack(j - 1, k) || may_lack(j, k);
            means.row(nodes.lo[0], nodes.hi[0], j, k, number, lacks);
            number += static_cast<std::size_t>(nodes.hi[0] - nodes.lo[0]);
        }
}

}  // namespace strata::flow
