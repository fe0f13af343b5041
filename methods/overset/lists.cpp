// What follows from the choice: cells' status, who asks whom, counts; and the interpolation along the lists.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "methods/overset/parts.hpp"
#include "methods/overset/ratios.hpp"

namespace strata::overset {

using namespace graph;

namespace {

FieldView<const std::int32_t> readable(const FieldView<std::int32_t>& f) {
    return {f.origin(), f.stride(1), f.stride(2), f.component_stride(), f.box()};
}

}  // namespace

void declare_lists(Parts& parts, const When& when, Scalar<std::int64_t> changes, const Connectivity& made) {
    const Problem& p = parts.p;
    Task task = when.scope.task(parts.named("lists"), p.grid);
    const auto now =
        task.need(parts.state.at(1), ghosts({kFringe, kFringe, p.dimensions == 3 ? kFringe : 0}));
    const auto left = task.need(changes.last());
    const auto quality = p.quality(task);
    const auto work = task.modify(parts.work.at(parts.cuts > 0 ? 7 : 6));
    const auto status = task.make(made.status);
    const auto counts = task.contribute(made.counts.at(0));
    const auto ratios = task.contribute(made.ratios);
    const auto by_size = task.contribute(made.ratio_counts.at(0));
    const auto first = task.contribute(made.first_orphans.at(0));
    const UncoveredListed uncovered(when, made, task);
    FieldUse<std::int32_t> donor_zone;
    if (made.donor_zone) donor_zone = task.make(*made.donor_zone);
    task.run([=, &p, some_zones = made.donor_zone.has_value(), asked = made.wanted.list(task),
              most = made.most, around = seen_from_cell(p.dimensions)](Here& here) {
        if (here[left] != 0)
            here.fail(
                fmt::format("where meshes overlap, {} cells still change between computed and interpolated "
                            "after {} rounds. Try more overlap, or cells of more equal size there",
                            here[left], kChoiceRounds));
        Work& w = here[work];
        const auto is = here[now];
        const auto to = here[status];
        const auto asks = here[asked];
        const auto own = quality(here);
        const Box seen = is.box();
        const int zone = p.grid.zone_of(here.patch);
        std::array<std::int64_t, kCounts> count{};
        here[first].resize(p.grid.zones());
        here[by_size].resize(kRatioBins);
        std::array<double, 2> ratio{-Bounds::kNone, -Bounds::kNone};
        std::size_t n = 0;
        for_each(here.cells(), [&](int i, int j, int k) {
            const std::size_t cell = n++;
            if (some_zones) here[donor_zone](i, j, k) = 0;
            if (is(i, j, k) == kHole || is(i, j, k) == kComputes) {
                to(i, j, k) = is(i, j, k);
                ++count[is(i, j, k) == kHole ? kHoles : kComputed];
                return;
            }
            bool needed = false;
            for (const Int3& by : around) {
                const Int3 near{i + by[0], j + by[1], k + by[2]};
                needed = seen.contains(near) && is(near[0], near[1], near[2]) == kComputes;
                if (needed) break;
            }
            if (!needed) {
                to(i, j, k) = static_cast<std::int32_t>(Cell::hole);
                ++count[kCovered];
                return;
            }
            const bool found = w.candidate[cell] >= 0;
            const Cell kind = found ? Cell::receptor : Cell::orphan;
            to(i, j, k) = static_cast<std::int32_t>(kind);
            ++count[found ? kReceptors : kOrphans];
            bool room;
            if (found) {
                const Candidate& c = w.candidates[z(w.candidate[cell])];
                if (some_zones) here[donor_zone](i, j, k) = c.zone + 1;
                if (p.quality_is_volume) {
                    const double r = c.quality / own(i, j, k);
                    ratio[0] = std::max(ratio[0], -r), ratio[1] = std::max(ratio[1], r);
                    ++here[by_size][ratio_bin(r)];
                }
                room = asks.add(c.patch, {c.base, static_cast<std::int16_t>(kind),
                                          static_cast<std::int16_t>(c.turn), c.xi});
            } else {
                auto& lowest = here[first][zone];
                lowest = std::min(lowest, number_of(p.grid.cells(zone), {i, j, k}));
                room = asks.add(here.patch, {{i, j, k}, static_cast<std::int16_t>(kind), 0, {}});
            }
            if (!room)
                here.fail(fmt::format(
                    "mesh '{0}' has more than {1} receptors in one patch. Try a larger mesh.{0}.patch "
                    "(--patch of strata overset check), or less overlap",
                    p.mesh_name(zone), most));
        });
        here[counts].resize(std::int64_t{kCounts} * p.grid.zones());
        for (int c = 0; c < kCounts; ++c) here[counts][std::int64_t{kCounts} * zone + c] = count[z(c)];
        here[ratios] = ratio;
        uncovered.list(here, w, readable(to));
        if (p.shared.empty()) w = {};
    });
}

Exchange::Exchange(Graph& graph, Scope& scope, const Problem& problem, const Connectivity& connectivity)
    : graph_(&graph),
      scope_(&scope),
      grid_(&problem.grid),
      dimensions_(problem.dimensions),
      name_(problem.name),
      turns_(problem.turns),
      connectivity_(connectivity) {
    Task task = scope.task(name_ + ": send lists", *grid_);
    connectivity_.wanted.deliver(task);
    task.work(1e-3, 0).run([](Here&) {});
}

namespace {

/// The mean of the computed cells around an orphan; its own value where there are none.
void fill_orphan(const FieldView<const double>& from, const FieldView<const std::int32_t>& status,
                 const Int3& at, int dimensions, int components, double* to) {
    const int k = dimensions == 3 ? 1 : 0;
    int count = 0;
    for (int c = 0; c < components; ++c) to[c] = 0;
    const Box around =
        common(status.box(), Box{{at[0] - 1, at[1] - 1, at[2] - k}, {at[0] + 2, at[1] + 2, at[2] + k + 1}});
    for_each(around, [&](int a, int b, int c) {
        if (status(a, b, c) != static_cast<std::int32_t>(Cell::computed)) return;
        ++count;
        for (int e = 0; e < components; ++e) to[e] += from(a, b, c, e);
    });
    for (int c = 0; c < components; ++c) to[c] = count > 0 ? to[c] / count : from(at[0], at[1], at[2], c);
}

template <int Dim>
void interpolate_at(const FieldView<const double>& from, const Wanted& wanted, int components, double* to) {
    const auto w = weights<Dim>(wanted.xi);
    for (int c = 0; c < components; ++c) to[c] = 0;
    for (int n = 0; n < 1 << Dim; ++n) {
        const Int3 at = corner_of(wanted.base, n);
        for (int c = 0; c < components; ++c) to[c] += w[z(n)] * from(at[0], at[1], at[2], c);
    }
}

}  // namespace

Interpolated Exchange::interpolate(TypedVersion<double, Kind::field> version) {
    const LabelInfo& label = graph_->labels()[version.label];
    const int components = label.components;
    const auto values =
        connectivity_.wanted.kind<double>(*graph_, name_ + ": " + label.name, components, true);
    Task task = scope_->task(name_ + ": interpolate " + label.name, *grid_);
    const auto around = ghosts({1, 1, dimensions_ == 3 ? 1 : 0});
    const auto from = task.need(version, around);
    const auto status = task.need(connectivity_.status, around);
    const auto asked = connectivity_.wanted.answer<double>(task, values, components);
    task.run([=, dimensions = dimensions_, turns = label.turns, vector = label.vector,
              all_turns = turns_](Here& here) {
        const auto view = here[from];
        here[asked].each([&](const Request<Wanted, double>& request) {
            const Wanted& wanted = request.question();
            if (wanted.what == static_cast<std::int16_t>(Cell::orphan))
                fill_orphan(view, here[status], wanted.base, dimensions, components, request.answered);
            else if (dimensions == 2)
                interpolate_at<2>(view, wanted, components, request.answered);
            else
                interpolate_at<3>(view, wanted, components, request.answered);
            if (wanted.turn != 0 && turns) turn_back(all_turns[z(wanted.turn)], request.answered + vector);
        });
    });
    return {connectivity_.wanted, values, components};
}

}  // namespace strata::overset
