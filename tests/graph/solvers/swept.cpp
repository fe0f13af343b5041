#include "tests/graph/solvers/swept.hpp"

#include <cmath>

namespace strata::tests {

using namespace graph;

namespace {

constexpr Box kDomain{{0, 0, 0}, {11, 9, 2}};

std::size_t number_of(const Int3& at) { return z(at[0] + kDomain.hi[0] * (at[1] + kDomain.hi[1] * at[2])); }
double first_value(const Int3& at) { return std::sin(1 + at[0] + 3.7 * at[1] + 11.3 * at[2]); }

/// `value(cell)` is a reference; what lies beyond the domain counts as 0.
template <class Value>
void relax(const Int3& at, Value value) {
    constexpr Int3 beside[] = {{-1, 0, 0}, {1, 0, 0}, {0, -1, 0}, {0, 1, 0}};
    constexpr double weight[] = {0.21, 0.17, 0.23, 0.15};
    double sum = 0.2 * value(at);
    for (std::size_t d = 0; d < 4; ++d)
        if (const Int3 there{at[0] + beside[d][0], at[1] + beside[d][1], at[2]}; kDomain.contains(there))
            sum += weight[d] * value(there);
    value(at) = sum;
}
template <class Before>
double tabulated(const Int3& at, double own, Before before) {
    double sum = own;
    if (at[0] > 0) sum += 0.3 * before({at[0] - 1, at[1], at[2]});
    if (at[1] > 0) sum += 0.2 * before({at[0], at[1] - 1, at[2]});
    if (at[0] > 0 && at[1] > 0) sum -= 0.1 * before({at[0] - 1, at[1] - 1, at[2]});
    return sum;
}

}  // namespace

template <class Body>
void Swept::each_cell(const Here& here, int sign, Body body) const {
    const IndexMap from = parts_[z(zones_->zone_of(here.patch))].to_zone().inverse();
    const Box own = here.cells();
    const auto along = [&](std::size_t a, int n) { return sign > 0 ? own.lo[a] + n : own.hi[a] - 1 - n; };
    for (int k = 0; k < own.extent(2); ++k)
        for (int j = 0; j < own.extent(1); ++j)
            for (int i = 0; i < own.extent(0); ++i) body(from(Int3{along(0, i), along(1, j), along(2, k)}));
}

template <class View>
auto Swept::in_domain(const Here& here, const View& view) const {
    return [ view, to = parts_[z(zones_->zone_of(here.patch))].to_zone() ](const Int3& at) -> auto& {
        const Int3 there = to(at);
        return view(there[0], there[1], there[2]);
    };
}

Swept::Swept()
    : Solver("swept"),
      parts_{{{{0, 0, 0}, {5, 9, 2}}, {1, 2, 3}, {0, 0, 0}, {2, 3, 2}},
             {{{5, 0, 0}, {11, 4, 2}}, {2, 1, -3}, {4, -2, 7}, {3, 2, 1}},
             {{{5, 4, 0}, {11, 9, 2}}, {1, 2, 3}, {-3, 7, 1}, {4, 2, 2}}} {
    zones_ = &graph.add<Zones>(joined("zones", {kDomain, {}}, parts_));
    u_ = graph.field<double>("u", *zones_, On::cells);
    table_ = graph.field<double>("table", *zones_, On::cells, {.kept = true});
    Task task = graph.start().task("first", *zones_);
    task.run([this, u = task.make(u_)](Here& here) {
        const auto value = in_domain(here, here[u]);
        each_cell(here, 1, [&](const Int3& at) { value(at) = first_value(at); });
    });
    declare_sweep(0, 1);
    declare_sweep(1, -1);
    declare_table();
}

void Swept::declare_sweep(int version, int sign) {
    Task task = graph.step().task(sign > 0 ? "up" : "down", *zones_);
    task.run([this, sign, u = task.modify(u_.at(version), upwind({sign, sign, 0}))](Here& here) {
        const auto value = in_domain(here, here[u]);
        each_cell(here, sign, [&](const Int3& at) { relax(at, value); });
    });
}

void Swept::declare_table() {
    Task task = graph.step().task("tabulate", *zones_);
    const auto now = task.make(table_);
    const auto before = task.need(table_, upwind({1, 1, 0}).with_corners());
    task.run([=, this, u = task.need(u_.at(2))](Here& here) {
        const auto to = in_domain(here, here[now]);
        const auto own = in_domain(here, here[u]);
        const auto made = in_domain(here, here[before]);
        each_cell(here, 1, [&](const Int3& at) { to(at) = tabulated(at, own(at), made); });
    });
}

Swept::Values Swept::values(const Simulation& run) const {
    Values all{std::vector<double>(z(kDomain.volume())), std::vector<double>(z(kDomain.volume()))};
    for (int patch = 0; patch < zones_->patches(); ++patch) {
        const IndexMap from = parts_[z(zones_->zone_of(patch))].to_zone().inverse();
        const Box own = zones_->box(patch);
        const auto u = values_of<double>(run, u_.id(), patch),
                   table = values_of<double>(run, table_.id(), patch);
        std::size_t n = 0;
        for (int k = own.lo[2]; k < own.hi[2]; ++k)
            for (int j = own.lo[1]; j < own.hi[1]; ++j)
                for (int i = own.lo[0]; i < own.hi[0]; ++i, ++n) {
                    const std::size_t at = number_of(from(Int3{i, j, k}));
                    all.u[at] = u.at(n), all.table[at] = table.at(n);
                }
    }
    return all;
}

Swept::Values Swept::reference(int steps) {
    Values all{std::vector<double>(z(kDomain.volume())), std::vector<double>(z(kDomain.volume()))};
    const auto each = [](int sign, auto body) {
        const auto along = [&](std::size_t a, int n) { return sign > 0 ? n : kDomain.hi[a] - 1 - n; };
        for (int k = 0; k < kDomain.hi[2]; ++k)
            for (int j = 0; j < kDomain.hi[1]; ++j)
                for (int i = 0; i < kDomain.hi[0]; ++i) body(Int3{along(0, i), along(1, j), along(2, k)});
    };
    const auto u = [&](const Int3& at) -> double& { return all.u[number_of(at)]; };
    const auto table = [&](const Int3& at) -> double& { return all.table[number_of(at)]; };
    each(1, [&](const Int3& at) { u(at) = first_value(at); });
    for (int step = 0; step < steps; ++step) {
        for (const int sign : {1, -1}) each(sign, [&](const Int3& at) { relax(at, u); });
        each(1, [&](const Int3& at) { table(at) = tabulated(at, u(at), table); });
    }
    return all;
}

}  // namespace strata::tests
