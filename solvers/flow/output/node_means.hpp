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

/// What nodes are given: component `c` of all of them, x fastest, at `to(c)`. Components are those of `from`,
/// one after the other. Each is the mean over the cells around a node, without corners where no cell is:
/// beyond the field, or where component `judge` is not finite. Cells of which `is_known` says false do not
/// count, but at nodes that have nothing else around them; it is asked in rows that `may_lack(j, k)` some.
/// Rows of nodes with all of their cells are done at once, since runs with slices do this in each step.
template <int Dim, std::size_t N, class MayLack, class IsKnown, class To>
void node_means(const graph::Box& nodes, const std::array<CellValues, N>& from, int judge,
                const MayLack& may_lack, const IsKnown& is_known, const To& to) {
    using graph::Int3;
    constexpr int kRows = Dim == 3 ? 4 : 2, kCells = 2 * kRows;
    const auto each = [&from](const auto& f) {
        int at = 0;
        for (const CellValues& values : from)
            for (int c = 0; c < values.components; ++c) f(values.field, c, at++);
    };
    graph::Box box;  // of the cells
    each([&](const auto& field, int, int at) {
        if (at == judge) box = field.box();
    });
    const auto slowly = [&](const Int3& node, std::size_t n) {
        const graph::Box around{{node[0] - 1, node[1] - 1, Dim == 3 ? node[2] - 1 : node[2]},
                                {node[0] + 1, node[1] + 1, node[2] + 1}};
        std::array<bool, kCells> counts{};
        int count = 0;
        for (const bool holes : {false, true}) {
            std::size_t cell = 0;
            graph::for_each(around, [&](int a, int b, int c) {
                bool& counted = counts[cell++];
                if (!box.contains(Int3{a, b, c})) return;
                each([&](const auto& field, int e, int at) {
                    if (at == judge) counted = std::isfinite(field(a, b, c, e));
                });
                counted = counted && (holes || is_known(Int3{a, b, c}));
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
            to(at)[n] = sum / count;
        });
    };
    const int first = std::max(nodes.lo[0], box.lo[0] + 1), last = std::min(nodes.hi[0], box.hi[0]);
    const auto width = static_cast<std::size_t>(nodes.hi[0] - nodes.lo[0]);
    std::size_t row = 0;
    for (int k = nodes.lo[2]; k < nodes.hi[2]; ++k)
        for (int j = nodes.lo[1]; j < nodes.hi[1]; ++j, row += width) {
            const int below = Dim == 3 ? k - 1 : k;
            const bool whole =
                box.contains(Int3{box.lo[0], j - 1, below}) && box.contains(Int3{box.lo[0], j, k});
            const bool lacks =
                may_lack(j - 1, below) || may_lack(j, below) || may_lack(j - 1, k) || may_lack(j, k);
            const auto number = [&](int i) { return row + static_cast<std::size_t>(i - nodes.lo[0]); };
            if (whole)
                each([&](const auto& field, int e, int at) {
                    std::array<graph::Row<const double>, kRows> cells;
                    for (int r = 0; r < kRows; ++r)
                        cells[static_cast<std::size_t>(r)] = field.row(j - 1 + r % 2, below + r / 2, e);
                    const auto out = to(at);
                    for (int i = first; i < last; ++i) {
                        double sum = 0;
                        for (const auto& c : cells) sum += c[i - 1], sum += c[i];
                        out[number(i)] = sum / kCells;
                    }
                });
            for (int i = nodes.lo[0]; i < nodes.hi[0]; ++i) {
                bool done = whole && i >= first && i < last && std::isfinite(to(judge)[number(i)]);
                if (done && lacks)
                    graph::for_each({{i - 1, j - 1, below}, {i + 1, j + 1, k + 1}}, [&](int a, int b, int c) {
                        done = done && is_known(Int3{a, b, c});
                    });
                if (!done) slowly({i, j, k}, number(i));
            }
        }
}

}  // namespace strata::flow
