// Two overlapping grids, one of which turns: its outermost layers are interpolated from the other one, out of
// donors that are others in each step.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "benchmarks/common/benchmark.hpp"
#include "benchmarks/common/clock.hpp"
#include "benchmarks/graph/declared.hpp"
#include "benchmarks/graph/euler.hpp"
#include "core/graph/declare/local_gather.hpp"

namespace strata::bench::graph_layer {

/// How a step knows the donors.
enum class Donors : std::uint8_t {
    rest,       // a table that never changes; where they would be is found all the same
    in_pieces,  // tasks set each patch's list, in each step
    replaced,   // all processes get a new table before each step, and a new plan
};

constexpr int kDonors = 8;  // of a cell

/// Grids of cubic cells; the turning one lies in the middle of the other, its axis along z.
struct OversetShape {
    graph::Int3 fixed, turning;  // cells
    graph::Int3 fixed_patch, turning_patch;
    int layers = 1;   // of the turning grid, which are interpolated
    double turn = 0;  // angle in a step
};

/// The graph of both grids without their flow, which derived classes declare. They run it by begin().
class Overset {
  public:
    Overset(const OversetShape& shape, Donors donors, Break fault);
    virtual ~Overset() = default;
    Overset(const Overset&) = delete;
    Overset& operator=(const Overset&) = delete;

    /// Seconds of a step, with those that making new plans takes.
    [[nodiscard]] double measure(std::int64_t steps) {
        const double begin = bench::now();
        (void)(*run_)->advance(steps);
        return (bench::now() - begin) / static_cast<double>(steps);
    }
    [[nodiscard]] std::int64_t cells() const;
    /// Donors whose values come in a step, each as often as it does.
    [[nodiscard]] std::int64_t donors_a_step() const { return exchanges_ * kDonors * fringe_cells(); }
    /// What each patch has now, of both grids: first those of the fixed one.
    [[nodiscard]] std::vector<std::vector<std::byte>> states() const;

  protected:
    void begin(int threads) { run_.emplace(graph_, threads); }

    template <class Call>
    static void each(const graph::Box& box, Call call) {
        for (int k = box.lo[2]; k < box.hi[2]; ++k)
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i) call(i, j, k);
    }
    /// The turning grid after so many steps.
    [[nodiscard]] Turned turned(double steps) const {
        const double angle = shape_.turn * steps;
        return {std::cos(angle), std::sin(angle), 0, shape_.turning[0] / 2.0, shape_.turning[1] / 2.0};
    }
    /// Where the centre of a cell of the turning grid is, in cells of the fixed one.
    [[nodiscard]] std::array<double, 3> place(int i, int j, int k, const Turned& now) const {
        const double x = i + 0.5 - now.x, y = j + 0.5 - now.y;
        return {middle_[0] + x * now.cos - y * now.sin, middle_[1] + x * now.sin + y * now.cos,
                middle_[2] + k};
    }

    /// Lists of donors, those of the places at step - 1 + part.
    struct Lists {
        double part;
        std::optional<graph::LocalGather> in_pieces;
        graph::Gather* table = nullptr;
    };
    /// Declares them, and the task that finds them.
    [[nodiscard]] Lists donors(const std::string& name, double part);

    /// The outermost layers of `to` become what is interpolated from `from`, a version of the fixed grid.
    template <class T>
    void interpolate(const std::string& name, Lists& lists, graph::TypedVersion<T, graph::Kind::field> from,
                     graph::Field<T> to) {
        using namespace graph;
        ++exchanges_;
        const int components = graph_.labels()[to.id()].components;
        if (lists.in_pieces) {
            const auto gathered = lists.in_pieces->gather(graph_.step(), from);
            Task task = graph_.step().task(name, turning_);
            task.run([this, components, part = lists.part, values = gathered.need(task),
                      u = task.modify(to)](Here& here) {
                interpolate<T>(here, part, components, here[u],
                               [all = here[values]](std::size_t i, int c) -> const T& { return all(i, c); });
            });
        } else {
            Task task = graph_.step().task(name, turning_);
            task.run([this, components, part = lists.part, values = task.need(from, *lists.table),
                      u = task.modify(to)](Here& here) {
                std::array<const T*, kFlowValues> all{};
                for (int c = 0; c < components; ++c)
                    all[static_cast<std::size_t>(c)] = here[values].component(c).data();
                interpolate<T>(here, part, components, here[u], [all](std::size_t i, int c) -> const T& {
                    return all[static_cast<std::size_t>(c)][i];
                });
            });
        }
    }

    OversetShape shape_;
    Donors donors_;
    Break fault_;
    graph::Graph graph_{"overset"};
    graph::Grid &fixed_, &turning_;
    graph::LabelId shown_fixed_, shown_turning_;  // by states()
    std::optional<BoundRun> run_;
    const graph::Box inner_;  // the cells of the turning grid that are not interpolated

  private:
    [[nodiscard]] bool in_fringe(int i, int j, int k) const { return !inner_.contains(graph::Int3{i, j, k}); }
    [[nodiscard]] std::int64_t fringe_of(const graph::Box& box) const;
    [[nodiscard]] std::int64_t fringe_cells() const {
        return fringe_of(graph::Box{{0, 0, 0}, shape_.turning});
    }
    /// Calls call(patch, entry) for the donors of a patch of the turning grid.
    template <class Call>
    void find(int patch, double steps, Call call) const;
    [[nodiscard]] graph::Gather::Table table(double steps) const;

    static double weight(int donor, const std::array<double, 3>& t) {
        return (donor % 2 ? t[0] : 1 - t[0]) * (donor / 2 % 2 ? t[1] : 1 - t[1]) *
               (donor / 4 ? t[2] : 1 - t[2]);
    }
    static void add(double weight, double value, double& sum) { sum += weight * value; }
    template <std::size_t N>
    static void add(double weight, const std::array<double, N>& value, std::array<double, N>& sum) {
        for (std::size_t c = 0; c < N; ++c) sum[c] += weight * value[c];
    }
    /// The fringe of a patch out of the values of its donors, in their order.
    template <class T, class View, class Value>
    void interpolate(const graph::Here& here, double part, int components, const View& u, Value value) const {
        std::size_t next = 0;
        const Turned now = turned(donors_ == Donors::rest ? part : static_cast<double>(here.step - 1) + part);
        const bool wrong = fault_ != Break::none && here.patch == 0;
        each(here.cells(), [&](int i, int j, int k) {
            if (!in_fringe(i, j, k)) return;
            const std::array<double, 3> at = place(i, j, k, now);
            const std::array<double, 3> t{at[0] - static_cast<int>(at[0]), at[1] - static_cast<int>(at[1]),
                                          at[2] - static_cast<int>(at[2])};
            std::array<T, kFlowValues> sum{};
            for (int d = 0; d < kDonors; ++d, ++next)
                for (int c = 0; c < components; ++c)
                    add(weight(d, t), value(next, c), sum[static_cast<std::size_t>(c)]);
            if (wrong && next == kDonors)
                fault_ == Break::skip ? void(sum = {}) : add(1, value(0, 0), sum[0]);
            for (int c = 0; c < components; ++c) u(i, j, k, c) = sum[static_cast<std::size_t>(c)];
        });
    }

    const std::array<double, 3> middle_;  // of the fixed grid; along z: where the turning one begins
    int exchanges_ = 0;
};

/// A scalar step of third order in time and fourth in space, for five values in one array: the least
/// arithmetic beside which donors can be followed. Values are interpolated once, at the end of a step.
[[nodiscard]] std::unique_ptr<Overset> overset_scalar(int cells, int threads, Donors donors, Break fault);

/// Compressible flow by euler.hpp: three stages, with values interpolated after each of them.
class OversetFlow : public Overset {
  public:
    enum class Flow : std::uint8_t { uniform, vortex };
    /// The fixed grid has 3 patches along each edge, the turning one 2.
    OversetFlow(const graph::Int3& patch, Flow flow, int threads, Donors donors, Break fault);
    /// After so many steps: the largest difference from the exact solution, of all values; and the mean of
    /// those of the density on the turning grid.
    struct Error {
        double largest = 0, mean = 0;
    };
    [[nodiscard]] Error error(std::int64_t steps) const;
    /// Steps until the vortex has gone a tenth of the fixed grid.
    [[nodiscard]] std::int64_t steps() const;

  private:
    using Values = graph::Field<double>;
    [[nodiscard]] FlowState exact(const std::array<double, 3>& at, double time) const;
    Values declare_flow(graph::Grid& grid, const std::string& on);
    void stage(const std::string& name, graph::Grid& grid,
               graph::TypedVersion<double, graph::Kind::field> old,
               graph::TypedVersion<double, graph::Kind::field> u, Values to, double a, double part);

    Flow flow_;
    std::array<Values, 3> of_fixed_;  // of the stages
};

}  // namespace strata::bench::graph_layer
