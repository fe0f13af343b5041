// What coarser grids get and give back: beside the plain loops over cells.
#include <algorithm>
#include <cmath>

#include "solvers/flow/scheme/between_grids.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/flow/flow_block.hpp"

using namespace flow_test;

namespace {

/// Numbers without a pattern.
Values scattered(const Box& box, int components, double seed) {
    Values values(box, components);
    double n = seed;
    for (double& x : values.data) x = 1.5 + std::sin(n += 1.7);
    return values;
}

template <int Dim>
Box coarse_box(int length) {
    return {{1, 2, 0}, {1 + length, 5, Dim == 3 ? 2 : 1}};
}
template <int Dim>
Box children_of(Box box) {
    for (std::size_t a = 0; a < Dim; ++a) box.lo[a] *= 2, box.hi[a] *= 2;
    return box;
}
Int3 parent_of(const Int3& at, int dims) { return {at[0] / 2, at[1] / 2, dims == 3 ? at[2] / 2 : at[2]}; }

}  // namespace

TEMPLATE_TEST_CASE_SIG("parents get the means and sums of their children", "", ((int Dim), Dim), 2, 3) {
    for (const int length : {1, 3, 4, 8, 11}) {
        const Box parents = coarse_box<Dim>(length), children = children_of<Dim>(parents);
        const Values volumes = scattered(children, 1, 0.1), values = scattered(children, 2, 0.7);
        Values to(parents, 3), sum(parents, 1), all(parents, 1), weighted(parents, 1);
        mean_of_children<Dim>(parents, volumes.read(), values.read(), 1, to.view(), 2);
        sum_of_children<Dim>(parents, values.read(), 0, to.view(), 0);
        sum.fill(0), all.fill(0), weighted.fill(0);
        strata::graph::for_each(children, [&](int i, int j, int k) {
            const Int3 p = parent_of({i, j, k}, Dim);
            const double volume = volumes.read()(i, j, k);
            sum.view()(p[0], p[1], p[2]) += values.read()(i, j, k);
            all.view()(p[0], p[1], p[2]) += volume;
            weighted.view()(p[0], p[1], p[2]) += volume * values.read()(i, j, k, 1);
        });
        bool same = true;
        strata::graph::for_each(parents, [&](int i, int j, int k) {
            same = same && to.read()(i, j, k, 0) == sum.read()(i, j, k) &&
                   to.read()(i, j, k, 2) == weighted.read()(i, j, k) / all.read()(i, j, k) &&
                   std::isnan(to.read()(i, j, k, 1));
        });
        CAPTURE(length);
        CHECK(same);
    }
}

TEMPLATE_TEST_CASE_SIG("children get what their parents have changed by, linear between them", "",
                       ((int Dim), Dim), 2, 3) {
    for (const int length : {1, 3, 4, 8, 11})
        for (const int border : {0, 1}) {  // whether there are neighbours
            const Box parents = coarse_box<Dim>(length), children = children_of<Dim>(parents);
            const Box seen = grown<Dim>(children, border);
            const Values now = scattered(parents, Dim + 2, 0.1), then = scattered(parents, Dim + 2, 0.7);
            Values change(children, Dim + 2), smooth(children, Dim + 2);
            const Values from = scattered(seen, Dim + 2, 0.3);
            change_of_parents<Dim>(children, now.read(), then.read(), change.view());
            linear_between_parents<Dim>(children, from.read(), smooth.view());
            bool same = true, linear = true;
            for (int c = 0; c < Dim + 2; ++c)
                strata::graph::for_each(children, [&](int i, int j, int k) {
                    const Int3 at{i, j, k}, p = parent_of(at, Dim);
                    same = same && change.read()(i, j, k, c) ==
                                       now.read()(p[0], p[1], p[2], c) - then.read()(p[0], p[1], p[2], c);
                    const double own = from.read()(i, j, k, c);
                    double value = own;
                    for (std::size_t a = 0; a < Dim; ++a) {
                        Int3 beside = at;
                        beside[a] += at[a] % 2 == 0 ? -1 : 1;
                        if (seen.contains(beside))
                            value += 0.25 * (from.read()(beside[0], beside[1], beside[2], c) - own);
                    }
                    linear = linear && smooth.read()(i, j, k, c) == value;
                });
            CAPTURE(length, border);
            CHECK(same);
            CHECK(linear);
        }
}
