// Points of a solid and the gas around them exchange heat: two solvers in one graph, and what couples them.
#include <cmath>

#include "core/graph/kernels/walls.hpp"
#include "core/run/module/company.hpp"
#include "solvers/mpm/module.hpp"
#include "solvers/transport/module.hpp"

using namespace strata;
using namespace strata::graph;

/// Points give heat to the cell in which they are, and read its temperature.
class Exchange : public Module {
  public:
    About about() const override { return {"exchange", "Heat between points and cells."}; }
    void keys(CaseSchema& keys) override {
        keys.key("rate", &rate_, {.unit = "1/s", .least = 0, .meaning = "1 / time constant; 0: none"});
        keys.key("points", &points_, {.unit = "J/(kg K)", .least = 1e-9, .meaning = "capacity of points"});
        keys.key("cells", &cells_, {.unit = "J/(m3 K)", .least = 1e-9, .meaning = "capacity of cells"});
        keys.key("first", &first_, {.unit = "K", .meaning = "temperature of points at the start"});
    }
    void prepare(const CaseSchema&) override {}

    void labels(const ModuleGraph& part) override {
        if (rate_ == 0) return;
        auto& gas = part.other<transport::Transport>("gas");
        const auto& metal = part.other<mpm::Mpm>("metal").labels();
        gas.changed_by_others();
        T_ = part->particle<double>(metal.set, "temperature", {.unit = "K"});
        first_heat_ = part->scalar<double>("first heat", Reduce::sum, 0, {.unit = "J", .kept = true});
        heat_ = part->scalar<double>("heat", Reduce::sum, 0, {.unit = "J"});
        const auto& cells = gas.labels();
        part.at_stage("metal", "filled", [=, this] { heat_points(*part, cells, metal); });
        part.at_stage("metal", "begun", [=, this] { exchange(*part, cells, metal); });
    }

    Solver declare(const ModuleGraph&) override {
        if (rate_ == 0) return {};
        const auto balance = [this](const Finished& run) -> Findings {
            const double first = run.value(first_heat_), now = run.value(heat_);
            return {
                {"heat won or lost, as a share", std::abs(now - first) / first, 1e-12, "it is exchanged"}};
        };
        return {.series = {heat_}, .fields = {T_}, .verify = balance};
    }

  private:
    using Cells = transport::Labels;
    using Points = mpm::Labels;

    void heat_points(Graph& graph, const Cells& cells, const Points& points) {
        Task task = graph.start().task("heat points", *points.grid);
        const auto mass = task.need(points.mass);
        const auto T = task.make(T_);
        const auto T_cells = task.need(cells.T);
        const auto heat = task.contribute(first_heat_);
        task.run([=, this](Here& here) {
            for (std::int64_t p = 0; p < here[T].size(); ++p) here[T][p] = first_;
            here[heat] = heat_of(here, here[mass], here[T], here[T_cells]);
        });
    }

    void exchange(Graph& graph, const Cells& cells, const Points& points) {
        Task task = graph.step().task("exchange", *points.grid);
        const auto mass = task.need(points.mass), x = task.need(points.x);
        const auto dt = task.need(points.dt);
        const auto T = task.modify(T_);
        const auto T_cells = task.modify(cells.T);
        const auto heat = task.contribute(heat_);
        task.run([=, this](Here& here) {
            const Real3 h = here.grid().shape().spacing;
            const double of_cell = cells_ * h[0] * h[1] * h[2], share = 1 - std::exp(-rate_ * here[dt]);
            for (std::int64_t p = 0; p < here[T].size(); ++p) {
                const auto n = static_cast<std::size_t>(p);
                const Int3 at = here.grid().cell_at(
                    {here[x].component(0)[n], here[x].component(1)[n], here[x].component(2)[n]});
                double& cell = here[T_cells](at[0], at[1], at[2]);
                const double of_point = points_ * here[mass][p];
                const double given = share * (here[T][p] - cell) * of_point * of_cell / (of_point + of_cell);
                here[T][p] -= given / of_point;
                cell += given / of_cell;
            }
            kernels::extend_to_walls(here.cells(), here[T_cells]);
            here[heat] = heat_of(here, here[mass], here[T], here[T_cells]);
        });
    }

    template <class Mass, class T, class TCells>
    double heat_of(const Here& here, const Mass& mass, const T& of_points, const TCells& of_cells) const {
        const Real3 h = here.grid().shape().spacing;
        double in_points = 0, in_cells = 0;
        for (std::int64_t p = 0; p < mass.size(); ++p) in_points += mass[p] * of_points[p];
        for_each(here.cells(), [&](int i, int j, int k) { in_cells += of_cells(i, j, k); });
        return points_ * in_points + cells_ * h[0] * h[1] * h[2] * in_cells;
    }

    double rate_ = 0, points_ = 1, cells_ = 1, first_ = 1;
    Particles<double> T_;
    Scalar<double> first_heat_, heat_;
};

int main(int argc, char** argv) {
    Company company("coupled", "Points of a solid exchange heat with the gas around them.");
    company.add<transport::Transport>("gas").add<mpm::Mpm>("metal").add<Exchange>("exchange");
    return company.drive(argc, argv);
}
