#include <memory>

#include "benchmarks/graph/overset.hpp"

namespace strata::bench::graph_layer {

using namespace strata::graph;

namespace {

using State = FlowState;

class Scalars final : public Overset {
  public:
    Scalars(int n, int threads, Donors donors, Break fault)
        : Overset({.fixed = {n, n, n},
                   .turning = {n / 2, n / 2, n / 2},
                   .fixed_patch = {n / 4, n / 4, n / 4},
                   .turning_patch = {n / 8, n / 8, n / 8},
                   .layers = 1,
                   .turn = 0.02},
                  donors, fault) {
        const Field<State> on_fixed = declare_flow(fixed_, "fixed"),
                           on_turning = declare_flow(turning_, "turning");
        shown_fixed_ = on_fixed.id(), shown_turning_ = on_turning.id();
        Lists lists = this->donors("donors", 1);
        interpolate("interpolate", lists, on_fixed.at(0), on_turning);
        begin(threads);
    }

  private:
    /// Labels of the flow on one grid: now, and of the stages before.
    Field<State> declare_flow(Grid& grid, const std::string& on) {
        const auto u = graph_.field<State>("u on " + on, grid, On::cells, {.history = 1});
        const auto first = graph_.field<State>("first stage on " + on, grid, On::cells);
        const auto second = graph_.field<State>("second stage on " + on, grid, On::cells);
        Task begin = graph_.start().task("begin on " + on, grid);
        begin.run([to = begin.make(u)](Here& here) {
            each(here.cells(), [&](int i, int j, int k) {
                for (int c = 0; c < 5; ++c)
                    here[to](i, j, k)[static_cast<std::size_t>(c)] =
                        std::sin(0.3 * i + 0.2 * j + 0.1 * k * (c + 1));
            });
        });
        stage("first stage on " + on, grid, u.previous(), u.previous(), first, 0);
        stage("second stage on " + on, grid, u.previous(), first.at(0), second, 0.75);
        stage("third stage on " + on, grid, u.previous(), second.at(0), u, 1.0 / 3);
        return u;
    }
    /// to = a old + (1 - a) (u + dt L(u))
    void stage(const std::string& name, Grid& grid, TypedVersion<State, Kind::field> old,
               TypedVersion<State, Kind::field> u, Field<State> to, double a) {
        Task task = graph_.step().task(name, grid);
        task.run([a, old = task.need(old), u = task.need(u, ghosts(2)), to = task.make(to)](Here& here) {
            const auto from = here[u], before = here[old];
            const auto result = here[to];
            const Box box = here.cells();
            for (int k = box.lo[2]; k < box.hi[2]; ++k)
                for (int j = box.lo[1]; j < box.hi[1]; ++j) advance(from, before, result, a, box, j, k);
        });
    }
    template <class From, class To>
    static void advance(const From& u, const From& old, const To& to, double a, const Box& box, int j,
                        int k) {
        for (int i = box.lo[0]; i < box.hi[0]; ++i)
            for (std::size_t c = 0; c < 5; ++c) {
                const double x[4] = {u(i - 2, j, k)[c], u(i - 1, j, k)[c], u(i + 1, j, k)[c],
                                     u(i + 2, j, k)[c]};
                const double y[4] = {u(i, j - 2, k)[c], u(i, j - 1, k)[c], u(i, j + 1, k)[c],
                                     u(i, j + 2, k)[c]};
                const double z[4] = {u(i, j, k - 2)[c], u(i, j, k - 1)[c], u(i, j, k + 1)[c],
                                     u(i, j, k + 2)[c]};
                const double own = u(i, j, k)[c];
                double change = 0;
                for (const auto* at : {x, y, z})
                    change += 0.005 * (16 * (at[1] + at[2]) - (at[0] + at[3]) - 30 * own) +
                              0.01 * (8 * (at[1] - at[2]) + (at[3] - at[0]));
                to(i, j, k)[c] = a * old(i, j, k)[c] + (1 - a) * (own + change);
            }
    }
};

}  // namespace

std::unique_ptr<Overset> overset_scalar(int cells, int threads, Donors donors, Break fault) {
    return std::make_unique<Scalars>(cells, threads, donors, fault);
}

}  // namespace strata::bench::graph_layer
