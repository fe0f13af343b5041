// Meshes that move: cells that come out of holes.
//
// What a hole held is no state of the flow. A cell that is a receptor now, or computed, and was a hole a step
// ago gets from its donor what this held at both levels of time before the step. The donor is the one of now,
// so the value is that of a place which is as far away as the meshes have moved against each other: less than
// a cell, where steps are as short as they should be. Corners of the donor that were holes themselves do not
// count; where all were, the donor in the next mesh is taken. All donors of a cell are asked at once, the
// cells around it in its own mesh last, and the first one that knows something counts.
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "methods/overset/parts.hpp"

namespace strata::overset {

using namespace graph;

UncoveredListed::UncoveredListed(const When& when, const Connectivity& made, Task& task)
    : some_(when.in_step && made.uncovered.has_value()) {
    if (!some_) return;
    most_ = made.uncovered->set().most();
    before_ = task.need(made.status.previous());
    asked_ = made.uncovered->list(task);
}

void UncoveredListed::list(const Here& here, const Work& work,
                           const FieldView<const std::int32_t>& now) const {
    if (!some_) return;
    const auto asks = here[asked_];
    const Box cells = here.cells();
    bool room = true;
    for_each_uncovered(cells, here[before_], now, [&](const Int3& at) {
        const auto cell = z(number_of(cells, at));
        const auto ask = [&](std::int32_t donor) {
            const Candidate& c = work.candidates[z(donor)];
            room = asks.add(c.patch, {c.base, static_cast<std::int16_t>(Cell::receptor),
                                      static_cast<std::int16_t>(c.turn), c.xi}) &&
                   room;
        };
        const std::int32_t chosen = work.candidate[cell];
        if (chosen >= 0) ask(chosen);
        for (std::int32_t donor = work.first[cell]; donor < work.first[cell + 1]; ++donor)
            if (donor != chosen) ask(donor);
        room = asks.add(here.patch, {at, static_cast<std::int16_t>(Cell::orphan), 0, {}}) && room;
    });
    if (!room)
        here.fail(fmt::format(
            "cells of one patch that come out of holes in one step have more than {} donors. Try a "
            "larger mesh.NAME.patch, or a smaller time.step",
            most_));
}

Uncovering::Uncovering(Graph& graph, const Problem& problem, const Connectivity& connectivity)
    : graph_(&graph),
      grid_(&problem.grid),
      dimensions_(problem.dimensions),
      name_(problem.name),
      turns_(problem.turns),
      connectivity_(connectivity) {
    Task task = graph.step().task(name_ + ": send uncovered cells", *grid_);
    connectivity_.uncovered->deliver(task);
    task.work(1e-3, 0).run([](Here&) {});
}

namespace {

/// Adds what a corner holds, where it is known.
class Sum {
  public:
    Sum(const FieldView<const double>& from, const FieldView<const std::int32_t>& before, int components,
        double* to)
        : from_(from), before_(before), components_(components), to_(to) {
        for (int c = 0; c < components; ++c) to_[c] = 0;
    }
    void add(const Int3& at, double weight) {
        if (weight == 0 || !before_.box().contains(at) ||
            before_(at[0], at[1], at[2]) == static_cast<std::int32_t>(Cell::hole))
            return;
        for (int c = 0; c < components_; ++c) to_[c] += weight * from_(at[0], at[1], at[2], c);
        all_ += weight;
    }
    /// False: nothing is known there.
    [[nodiscard]] bool divide() {
        if (!(all_ > 0)) return false;
        for (int c = 0; c < components_; ++c) to_[c] /= all_;
        return true;
    }

  private:
    const FieldView<const double>& from_;
    const FieldView<const std::int32_t>& before_;
    int components_;
    double* to_;
    double all_ = 0;
};

template <int Dim>
bool fill(const Wanted& wanted, Sum sum) {
    if (wanted.what == static_cast<std::int32_t>(Cell::orphan)) {
        const Int3& at = wanted.base;
        const int k = Dim == 3 ? 1 : 0;
        for_each({{at[0] - 1, at[1] - 1, at[2] - k}, {at[0] + 2, at[1] + 2, at[2] + k + 1}},
                 [&](int a, int b, int c) {
                     sum.add({a, b, c}, 1);
                 });
    } else {
        // A place beside a border lies half a cell out of its donor; so far no value is taken.
        Real3 xi = wanted.xi;
        for (double& at : xi) at = std::clamp(at, 0.0, 1.0);
        const auto w = weights<Dim>(xi);
        for (int n = 0; n < 1 << Dim; ++n) sum.add(corner_of(wanted.base, n), w[z(n)]);
    }
    return sum.divide();
}

}  // namespace

UncoveredValues Uncovering::interpolate(TypedVersion<double, Kind::field> version) {
    const LabelInfo& label = graph_->labels()[version.label];
    const int components = label.components;
    const std::string name =
        fmt::format("{}: uncovered {}{}", name_, label.name, version.back > 0 ? ", before" : "");
    // One more says what the answer is worth.
    const auto values = connectivity_.uncovered->kind<double>(*graph_, name, components + 1, true);
    Task task = graph_->step().task(name, *grid_);
    const auto around = ghosts({1, 1, dimensions_ == 3 ? 1 : 0});
    const auto from = task.need(version, around);
    const auto before = task.need(connectivity_.status.previous(), around);
    const auto asked = connectivity_.uncovered->answer<double>(task, values, components + 1);
    task.run([=, dimensions = dimensions_, turns = label.turns, vector = label.vector,
              all_turns = turns_](Here& here) {
        const auto view = here[from];
        const auto status = here[before];
        here[asked].each([&](const Request<Wanted, double>& request) {
            const Wanted& wanted = request.question();
            const Sum sum(view, status, components, request.answered);
            const bool known = dimensions == 2 ? fill<2>(wanted, sum) : fill<3>(wanted, sum);
            const bool last = wanted.what == static_cast<std::int16_t>(Cell::orphan);
            request.answered[components] =
                UncoveredAnswers::kKnown * (known ? 1 : 0) + UncoveredAnswers::kLast * (last ? 1 : 0);
            if (wanted.turn != 0 && turns) turn_back(all_turns[z(wanted.turn)], request.answered + vector);
        });
    });
    return {*connectivity_.uncovered, values, components};
}

}  // namespace strata::overset
