// What follows from the choice: cells' status, who asks whom, counts; and the interpolation along the lists.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>

#include "methods/overset/parts.hpp"
#include "methods/overset/ratios.hpp"

namespace strata::overset {

using namespace graph;

namespace {

FieldView<const std::int32_t> readable(const FieldView<std::int32_t>& f) {
    return {f.origin(), f.stride(1), f.stride(2), f.component_stride(), f.box()};
}

/// What the task that makes the lists uses.
struct ListUses {
    FieldUse<const std::int32_t> state;
    ScalarUse<const std::int64_t> left;
    std::function<FieldView<const double>(const Here&)> quality;
    ObjectUse<Work> work;
    FieldUse<std::int32_t> status;
    ScalarsUse<std::int64_t> counts;
    ScalarUse<std::array<double, 2>> ratios;
    ScalarsUse<std::int64_t> ratio_counts, first_orphans;
    std::optional<FieldUse<std::int32_t>> donor_zone;
    AskUse<Wanted> wanted;
};

/// The cells of one patch, each with what it is; those that are interpolated are listed.
class PatchLists {
  public:
    PatchLists(const ListUses& uses, const Problem& p, Here& here)
        : uses_(uses),
          p_(p),
          here_(here),
          work_(here[uses.work]),
          state_(here[uses.state]),
          status_(here[uses.status]),
          wanted_(here[uses.wanted]),
          quality_(uses.quality(here)),
          zone_(p.grid.zone_of(here.patch)) {
        here[uses.first_orphans].resize(p.grid.zones());
        here[uses.ratio_counts].resize(kRatioBins);
    }

    /// `around`: seen_from_cell(); `most`: receptors and orphans that there is room for.
    void list(const std::vector<Int3>& around, int most);
    /// Counts and ratios to the sums over all patches.
    void contribute() const {
        here_[uses_.counts].resize(std::int64_t{kCounts} * p_.grid.zones());
        for (int c = 0; c < kCounts; ++c)
            here_[uses_.counts][std::int64_t{kCounts} * zone_ + c] = count_[z(c)];
        here_[uses_.ratios] = ratio_;
    }

  private:
    void set(const Int3& at, Cell kind, Count count) {
        status_(at[0], at[1], at[2]) = static_cast<std::int32_t>(kind);
        ++count_[z(count)];
    }
    /// Whether a computed cell sees this one.
    [[nodiscard]] bool is_needed(const Int3& at, const std::vector<Int3>& around) const {
        return std::any_of(around.begin(), around.end(), [&](const Int3& by) {
            const Int3 near{at[0] + by[0], at[1] + by[1], at[2] + by[2]};
            return state_.box().contains(near) && state_(near[0], near[1], near[2]) == kComputes;
        });
    }
    /// False: there is no room.
    [[nodiscard]] bool add_receptor(const Int3& at, const Candidate& donor) {
        set(at, Cell::receptor, kReceptors);
        if (uses_.donor_zone) here_[*uses_.donor_zone](at[0], at[1], at[2]) = donor.zone + 1;
        if (p_.quality_is_volume) {
            const double r = donor.quality / quality_(at[0], at[1], at[2]);
            ratio_[0] = std::max(ratio_[0], -r), ratio_[1] = std::max(ratio_[1], r);
            ++here_[uses_.ratio_counts][ratio_bin(r)];
        }
        return wanted_.add(donor.patch, {donor.base, static_cast<std::int16_t>(Cell::receptor),
                                         static_cast<std::int16_t>(donor.turn), donor.xi});
    }
    [[nodiscard]] bool add_orphan(const Int3& at) {
        set(at, Cell::orphan, kOrphans);
        auto& lowest = here_[uses_.first_orphans][zone_];
        lowest = std::min(lowest, number_of(p_.grid.cells(zone_), at));
        return wanted_.add(here_.patch, {at, static_cast<std::int16_t>(Cell::orphan), 0, {}});
    }

    const ListUses& uses_;
    const Problem& p_;
    const Here& here_;
    const Work& work_;
    const FieldView<const std::int32_t> state_;
    const FieldView<std::int32_t> status_;
    const Asking<Wanted> wanted_;
    const FieldView<const double> quality_;
    const int zone_;
    std::array<std::int64_t, kCounts> count_{};
    std::array<double, 2> ratio_{-Bounds::kNone, -Bounds::kNone};
};

void PatchLists::list(const std::vector<Int3>& around, int most) {
    std::size_t n = 0;
    for_each(here_.cells(), [&](int i, int j, int k) {
        const Int3 at{i, j, k};
        const std::size_t cell = n++;
        if (uses_.donor_zone) here_[*uses_.donor_zone](i, j, k) = 0;
        if (state_(i, j, k) == kHole) return set(at, Cell::hole, kHoles);
        if (state_(i, j, k) == kComputes) return set(at, Cell::computed, kComputed);
        if (!is_needed(at, around)) return set(at, Cell::hole, kCovered);
        const std::int32_t donor = work_.candidate[cell];
        if (!(donor >= 0 ? add_receptor(at, work_.candidates[z(donor)]) : add_orphan(at)))
            here_.fail(fmt::format(
                "mesh '{0}' has more than {1} receptors in one patch. Try a larger mesh.{0}.patch "
                "(--patch of strata overset check), or less overlap",
                p_.mesh_name(zone_), most));
    });
}

}  // namespace

void declare_lists(Parts& parts, const When& when, Scalar<std::int64_t> changes, const Connectivity& made) {
    const Problem& p = parts.p;
    Task task = when.scope.task(parts.named("lists"), p.grid);
    ListUses uses;
    uses.state = task.need(parts.state, ghosts({kFringe, kFringe, p.dimensions == 3 ? kFringe : 0}));
    uses.left = task.need(changes);
    uses.quality = p.quality(task);
    uses.work = task.modify(parts.work);
    uses.status = task.make(made.status);
    uses.counts = task.contribute(made.counts);
    uses.ratios = task.contribute(made.ratios);
    uses.ratio_counts = task.contribute(made.ratio_counts);
    uses.first_orphans = task.contribute(made.first_orphans);
    const UncoveredListed uncovered(when, made, task);
    if (made.donor_zone) uses.donor_zone = task.make(*made.donor_zone);
    uses.wanted = made.wanted.list(task);
    task.run([=, &p, most = made.most, around = seen_from_cell(p.dimensions)](Here& here) {
        if (here[uses.left] != 0)
            here.fail(
                fmt::format("where meshes overlap, {} cells still change between computed and interpolated "
                            "after {} rounds. Try more overlap, or cells of more equal size there",
                            here[uses.left], kChoiceRounds));
        PatchLists lists(uses, p, here);
        lists.list(around, most);
        lists.contribute();
        uncovered.list(here, here[uses.work], readable(here[uses.status]));
        if (p.shared.empty()) here[uses.work] = {};
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
