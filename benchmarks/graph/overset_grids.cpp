#include <algorithm>

#include "benchmarks/graph/overset.hpp"

namespace strata::bench::graph_layer {

using namespace strata::graph;

namespace {

Box inner_of(const OversetShape& shape) {
    Box box{{0, 0, 0}, shape.turning};
    for (std::size_t d = 0; d < 3; ++d) box.lo[d] += shape.layers, box.hi[d] -= shape.layers;
    return box;
}

}  // namespace

Overset::Overset(const OversetShape& shape, Donors donors, Break fault)
    : shape_(shape),
      donors_(donors),
      fault_(fault),
      fixed_(graph_.grid("fixed", {.cells = {{0, 0, 0}, shape.fixed},
                                   .patch_cells = shape.fixed_patch,
                                   .periodic = {true, true, true}})),
      turning_(graph_.grid("turning", {.cells = {{0, 0, 0}, shape.turning},
                                       .patch_cells = shape.turning_patch,
                                       .periodic = {true, true, true}})),
      inner_(inner_of(shape)),
      middle_{shape.fixed[0] / 2.0 - 0.5, shape.fixed[1] / 2.0 - 0.5,
              (shape.fixed[2] - shape.turning[2]) / 2 + 0.25} {}

std::int64_t Overset::cells() const { return Box{{0, 0, 0}, shape_.fixed}.volume() + inner_.volume(); }

std::vector<std::vector<std::byte>> Overset::states() const {
    std::vector<std::vector<std::byte>> all;
    for (const auto& [label, grid] : {std::pair(shown_fixed_, &fixed_), {shown_turning_, &turning_}})
        for (const Kept& kept : kept_versions((*run_)->plan()))
            if (kept.back == 0 && kept.label == label)
                for (int patch = 0; patch < grid->patches(); ++patch)
                    all.push_back((*run_)->values(kept, patch));
    return all;
}

std::int64_t Overset::fringe_of(const Box& box) const { return box.volume() - common(box, inner_).volume(); }

template <class Call>
void Overset::find(int patch, double steps, Call call) const {
    const Turned now = turned(steps);
    const Int3 m = shape_.fixed_patch;
    const int across = shape_.fixed[0] / m[0], down = shape_.fixed[1] / m[1];
    each(turning_.box(patch), [&](int i, int j, int k) {
        if (!in_fringe(i, j, k)) return;
        const std::array<double, 3> at = place(i, j, k, now);
        const Int3 low{static_cast<int>(at[0]), static_cast<int>(at[1]), static_cast<int>(at[2])};
        for (int d = 0; d < kDonors; ++d) {
            const int a = low[0] + d % 2, b = low[1] + d / 2 % 2, c = low[2] + d / 4;
            call((c / m[2] * down + b / m[1]) * across + a / m[0],
                 (c % m[2] * m[1] + b % m[1]) * m[0] + a % m[0]);
        }
    });
}

Gather::Table Overset::table(double steps) const {
    Gather::Table all(static_cast<std::size_t>(turning_.patches()));
    for (int patch = 0; patch < turning_.patches(); ++patch)
        find(patch, steps, [&](int from, int entry) {
            all[static_cast<std::size_t>(patch)].push_back({from, entry});
        });
    return all;
}

Overset::Lists Overset::donors(const std::string& name, double part) {
    Lists lists{part, {}, nullptr};
    if (donors_ == Donors::in_pieces) {
        std::int64_t most = 1;
        for (int patch = 0; patch < turning_.patches(); ++patch)
            most = std::max(most, kDonors * fringe_of(turning_.box(patch)));
        lists.in_pieces.emplace(graph_, name, fixed_, turning_, static_cast<int>(most));
        Task task = graph_.step().task("find " + name, turning_);
        task.run([this, part, list = lists.in_pieces->set(task)](Here& here) {
            const auto all = here[list];
            find(here.patch, static_cast<double>(here.step - 1) + part,
                 [&](int patch, int entry) { all.add(patch, entry); });
        });
        return lists;
    }
    lists.table = &graph_.add<Gather>(name, fixed_, turning_, table(part));
    if (donors_ == Donors::replaced)
        graph_.before_step([this, part, to = lists.table](std::int64_t step) {
            to->replace(table(static_cast<double>(step - 1) + part));
        });
    else {
        const auto found =
            graph_.list<std::int64_t>(name + " found", turning_, [](int) { return 1; }, {.kept = true});
        Task task = graph_.step().task("find " + name, turning_);
        task.run([this, part, sum = task.make(found)](Here& here) {
            std::int64_t all = 0;
            find(here.patch, static_cast<double>(here.step - 1) + part,
                 [&](int patch, int entry) { all += patch + entry; });
            here[sum][0] = all;
        });
    }
    return lists;
}

}  // namespace strata::bench::graph_layer
