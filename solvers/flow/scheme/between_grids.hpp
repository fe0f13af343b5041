// What cells of a grid give to the next coarser one, of every second point, and get from it: eight at once.
// Children of cell (i, j, k) are cells 2 i and 2 i + 1 along each axis.
#pragma once

#include <array>

#include "solvers/flow/scheme/lanes.hpp"
#include "solvers/flow/scheme/patch.hpp"

namespace strata::flow {

/// Sixteen values of a row from index i on, or the first 2 n: those with even numbers and those with odd
/// ones.
inline std::array<Lanes, 2> even_and_odd(const FieldView<const double>& f, int i, int j, int k, int c,
                                         int n) {
    const int first = 2 * n < kLanes ? 2 * n : kLanes;
    const Lanes a = load(f, i, j, k, c, first),
                b = 2 * n > kLanes ? load(f, i + kLanes, j, k, c, 2 * n - kLanes) : Lanes{};
    return {shuffle<0, 2, 4, 6, 8, 10, 12, 14>(a, b), shuffle<1, 3, 5, 7, 9, 11, 13, 15>(a, b)};
}

/// f(i, j, k, n) for eights of a box of coarser cells.
template <class F>
void over_parents(const Box& parents, F&& f) {
    for (int k = parents.lo[2]; k < parents.hi[2]; ++k)
        for (int j = parents.lo[1]; j < parents.hi[1]; ++j)
            over_eights(parents.lo[0], parents.hi[0], [&](int i, int n) { f(i, j, k, n); });
}
/// f(j, k) of the rows of children of cells in row (j, k).
template <int Dim, class F>
void over_child_rows(int j, int k, F&& f) {
    for (int c = 0; c < (Dim == 3 ? 2 : 1); ++c)
        for (int b = 0; b < 2; ++b) f(2 * j + b, Dim == 3 ? 2 * k + c : k);
}

/// Component `at` of the parents: the mean by volume of component c.
template <int Dim>
void mean_of_children(const Box& parents, const FieldView<const double>& volumes,
                      const FieldView<const double>& of, int c, const FieldView<double>& to, int at) {
    over_parents(parents, [&](int i, int j, int k, int n) {
        Lanes sum{}, all{};
        over_child_rows<Dim>(j, k, [&](int b, int d) {
            const auto volume = even_and_odd(volumes, 2 * i, b, d, 0, n),
                       value = even_and_odd(of, 2 * i, b, d, c, n);
            for (std::size_t a = 0; a < 2; ++a) sum += volume[a] * value[a], all += volume[a];
        });
        store(to, i, j, k, at, sum / all, n);
    });
}
/// Component `at` of the parents: the sum of component c.
template <int Dim>
void sum_of_children(const Box& parents, const FieldView<const double>& of, int c,
                     const FieldView<double>& to, int at) {
    over_parents(parents, [&](int i, int j, int k, int n) {
        Lanes sum{};
        over_child_rows<Dim>(j, k, [&](int b, int d) {
            const auto value = even_and_odd(of, 2 * i, b, d, c, n);
            for (std::size_t a = 0; a < 2; ++a) sum += value[a];
        });
        store(to, i, j, k, at, sum, n);
    });
}

/// To each child what its parent has changed by, from `then` to `now`. The box begins with an even index
/// along x.
template <int Dim>
void change_of_parents(const Box& children, const FieldView<const double>& now,
                       const FieldView<const double>& then, const FieldView<double>& to) {
    for (int c = 0; c < Dim + 2; ++c)
        for (int k = children.lo[2]; k < children.hi[2]; ++k)
            for (int j = children.lo[1]; j < children.hi[1]; ++j)
                over_eights(children.lo[0], children.hi[0], [&](int i, int n) {
                    const int a = i / 2, b = j / 2, d = Dim == 3 ? k / 2 : k, half = (n + 1) / 2;
                    const Lanes change = load(now, a, b, d, c, half) - load(then, a, b, d, c, half);
                    store(to, i, j, k, c, shuffle<0, 0, 1, 1, 2, 2, 3, 3>(change, change), n);
                });
}

/// Linear between parents, from what each cell got of its own and those of its neighbours on the sides on
/// which it lies in its parent, three quarters to one quarter along each axis; where there is nothing, beyond
/// boundaries, its own alone. The box begins with an even index along x.
template <int Dim>
void linear_between_parents(const Box& cells, const FieldView<const double>& from,
                            const FieldView<double>& to) {
    const Box seen = from.box();
    const LaneInts lower = shuffle<0, 8, 0, 8, 0, 8, 0, 8>(broadcast(1), broadcast(0)) > 0.5;
    for (int c = 0; c < Dim + 2; ++c)
        for (int k = cells.lo[2]; k < cells.hi[2]; ++k)
            for (int j = cells.lo[1]; j < cells.hi[1]; ++j)
                over_eights(cells.lo[0], cells.hi[0], [&](int i, int n) {
                    const Lanes own = load(from, i, j, k, c, n);
                    const auto beside = [&](int first) {
                        const int begin = first < seen.lo[0] ? seen.lo[0] - first : 0,
                                  end = seen.hi[0] - first < n ? seen.hi[0] - first : n;
                        const double* row = graph::pointer_to(from.row(j, k, c) + first + begin, end - begin);
                        return load(row - begin, begin, end, own);
                    };
                    Lanes value = own + 0.25 * (select(lower, beside(i - 1), beside(i + 1)) - own);
                    const int b = j + (j % 2 == 0 ? -1 : 1);
                    if (b >= seen.lo[1] && b < seen.hi[1]) value += 0.25 * (load(from, i, b, k, c, n) - own);
                    if constexpr (Dim == 3) {
                        const int d = k + (k % 2 == 0 ? -1 : 1);
                        if (d >= seen.lo[2] && d < seen.hi[2])
                            value += 0.25 * (load(from, i, j, d, c, n) - own);
                    }
                    store(to, i, j, k, c, value, n);
                });
}

}  // namespace strata::flow
