#include "solvers/transport/tasks.hpp"

#include <fmt/format.h>

#include "core/graph/kernels/walls.hpp"
#include "solvers/transport/exact.hpp"
#include "solvers/transport/kernels.hpp"

namespace strata::transport {

using namespace graph;

namespace {

constexpr std::array<On, 3> kFaces{On::faces_x, On::faces_y, On::faces_z};
constexpr Int3 along(std::size_t d) { return {d == 0, d == 1, d == 2}; }

struct Step {
    Graph& graph;
    const Settings& settings;
    const Grid& grid;
    Labels& labels;

    [[nodiscard]] std::size_t directions() const { return settings.cells.size(); }
    /// So many layers in the directions that are there.
    [[nodiscard]] Ghosts layers(int width) const { return {{width, width, directions() == 3 ? width : 0}}; }
    [[nodiscard]] int reach() const { return settings.heat() ? 1 : 2; }

    void make_labels();
    void set_initial_values();
    void set_flow();
    void find_stable_rate();
    void advance_clock();
    void conduct_heat();
    void advect_stage(const char* name, Field<double> from, Field<double> to, double weight);
};

}  // namespace

// The solver in one view.
Labels declare(Graph& graph, const Settings& settings) {
    Labels labels;
    Step step{graph, settings, graph.grid("grid", settings.shape()), labels};
    step.make_labels();

    // At the start
    step.set_initial_values();
    if (!settings.heat()) step.set_flow();
    step.find_stable_rate();

    // In each step
    step.advance_clock();
    if (settings.heat()) {
        step.conduct_heat();
    } else {
        step.advect_stage("advect, first stage", labels.T, labels.T_star, 1.0);
        step.advect_stage("advect, second stage", labels.T_star, labels.T, 0.5);
    }
    return labels;
}

namespace {

void Step::make_labels() {
    const Int3 walls = settings.periodic ? Int3{} : layers(reach()).width;
    labels.T = graph.field<double>(
        "temperature", grid, On::cells,
        {.history = 1, .border = walls, .unit = "K", .about = "or what the flow carries"});
    labels.rate = graph.scalar<double>("stable rate", Reduce::max, 0,
                                       {.unit = "1/s", .about = "1 / the largest stable step"});
    labels.dt = graph.scalar<double>("dt", {.unit = "s"});
    labels.time = graph.scalar<double>("time", {.history = 1, .unit = "s"});
    labels.total =
        graph.scalar<double>("total", Reduce::sum, 0, {.unit = directions() == 3 ? "K m3" : "K m2"});
    labels.least = graph.scalar<double>("least", Reduce::min, 0, {.unit = "K"});
    labels.most = graph.scalar<double>("most", Reduce::max, 0, {.unit = "K"});
    if (settings.heat()) return;
    labels.T_star =
        graph.field<double>("temperature, first stage", grid, On::cells, {.border = walls, .unit = "K"});
    for (std::size_t d = 0; d < directions(); ++d)
        labels.v[d] =
            graph.field<double>(fmt::format("velocity {}", "xyz"[d]), grid, kFaces[d], {.unit = "m/s"});
}

/// Cell (i, j, k) is around ((i + 1/2) h, ...); a face of direction d has no half there.
Real3 centre(const Settings& settings, const Int3& at, int face_axis = -1) {
    const Real3 h = settings.spacing();
    Real3 x{};
    for (std::size_t d = 0; d < 3; ++d)
        x[d] = (at[d] + (static_cast<int>(d) == face_axis ? 0.0 : 0.5)) * h[d];
    return x;
}

template <class Set>
void for_each(const Box& box, Set set) {
    for (int k = box.lo[2]; k < box.hi[2]; ++k)
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i) set(i, j, k);
}

void Step::set_initial_values() {
    Task task = graph.start().task("initial temperature", grid);
    const auto T = task.make(labels.T);
    task.run([T, &s = settings](Here& here) {
        const Box& own = here.cells();
        const Profile profile = Profile::initial(s, own);
        const auto nx = static_cast<std::size_t>(own.extent(0));
        for (int k = own.lo[2]; k < own.hi[2]; ++k)
            for (int j = own.lo[1]; j < own.hi[1]; ++j)
                profile.row({own.lo[0], j, k}, {&here[T](own.lo[0], j, k), nx});
        kernels::extend_to_walls(here.cells(), here[T]);
    });
}

void Step::set_flow() {
    for (std::size_t d = 0; d < directions(); ++d) {
        Task task = graph.start().task(fmt::format("flow {}", "xyz"[d]), grid);
        const auto v = task.make(labels.v[d]);
        task.run([v, d, &s = settings](Here& here) {
            const int axis = static_cast<int>(d);
            for_each(here[v].box(), [&](int i, int j, int k) {
                here[v](i, j, k) = face_velocity(s, axis, centre(s, {i, j, k}, axis));
            });
        });
    }
}

/// Heat: dt <= 1 / (2 kappa sum 1/h^2). Advection: what leaves a cell through its faces is at most what is in
/// it.
void Step::find_stable_rate() {
    Task task = graph.start().task("stable rate", grid);
    std::array<FieldUse<const double>, 3> v;
    if (!settings.heat())
        for (std::size_t d = 0; d < directions(); ++d) v[d] = task.need(labels.v[d], ghosts(along(d)));
    const auto rate = task.contribute(labels.rate);
    task.run([=, directions = directions(), &s = settings](Here& here) {
        const Real3 h = s.spacing();
        double largest = 0;
        if (s.heat())
            for (std::size_t d = 0; d < directions; ++d) largest += 2 * s.diffusivity / (h[d] * h[d]);
        else
            for_each(here.cells(), [&](int i, int j, int k) {
                double sum = 0;
                for (std::size_t d = 0; d < directions; ++d) {
                    const Int3 up = along(d);
                    sum += std::max(std::abs(here[v[d]](i, j, k)),
                                    std::abs(here[v[d]](i + up[0], j + up[1], k + up[2]))) /
                           h[d];
                }
                largest = std::max(largest, sum);
            });
        here[rate] = largest;
    });
}

/// dt = cfl / rate, and not beyond the end. `cfl` may be changed while the run goes on.
void Step::advance_clock() {
    const double* cfl = graph.parameter({.name = "cfl",
                                         .unit = "",
                                         .about = "step as a share of the largest stable one",
                                         .value = settings.cfl,
                                         .least = 1e-3,
                                         .most = 4});
    Task task = graph.step().once("advance clock");
    const auto rate = task.need(labels.rate), before = task.need(labels.time.previous());
    const auto dt = task.make(labels.dt), time = task.make(labels.time);
    task.run([=, end = settings.end](Here& here) {
        const double left = end - here[before];
        here[dt] = std::min(*cfl * (1 / here[rate]), left);
        here[time] = here[dt] == left ? end : here[before] + here[dt];
    });
}

Stores stores(const Here& here) { return here.past_caches() ? Stores::past_caches : Stores::cached; }

/// What every step says of its result; a sum that is no number ends the run.
void report(Here& here, const Settings& s, const Summary& summary,
            const std::array<ScalarUse<double>, 3>& into) {
    if (!std::isfinite(summary.sum()))
        here.fail(fmt::format(
            "'temperature' is no number any more: the step is unstable (time.cfl = {}; up to 1 is "
            "stable)",
            s.cfl));
    const Real3 h = s.spacing();
    here[into[0]] = summary.sum() * h[0] * h[1] * h[2];
    here[into[1]] = summary.least();
    here[into[2]] = summary.most();
}

void Step::conduct_heat() {
    Task task = graph.step().task("conduct", grid);
    const auto dt = task.need(labels.dt.at(0));
    const auto old = task.need(labels.T.previous(), layers(1));
    const auto now = task.make(labels.T);
    const std::array said{task.contribute(labels.total), task.contribute(labels.least),
                          task.contribute(labels.most)};
    task.work(13, 16).run([=, directions = directions(), &s = settings](Here& here) {
        const Real3 h = s.spacing();
        Real3 r{};
        for (std::size_t d = 0; d < directions; ++d) r[d] = s.diffusivity * here[dt] / (h[d] * h[d]);
        const Summary summary = conduct(here.cells(), here[old], here[now], r, stores(here));
        kernels::copy_rows_to_walls(here.cells(), here[now]);
        report(here, s, summary, said);
    });
}

/// `to` = (1 - weight) T of the step before + weight (`from` moved on by dt).
void Step::advect_stage(const char* name, Field<double> from, Field<double> to, double weight) {
    const bool last = to.id() == labels.T.id();
    Task task = graph.step().task(name, grid);
    const auto dt = task.need(labels.dt.at(0));
    const auto time = task.need(labels.time.previous());
    const auto before = task.need(labels.T.previous());
    const auto T = last ? task.need(from.at(0), layers(2)) : task.need(from.previous(), layers(2));
    std::array<FieldUse<const double>, 3> v;
    for (std::size_t d = 0; d < 3; ++d)  // a direction that is not there is multiplied with 0
        v[d] = d < directions() ? task.need(labels.v[d], ghosts(along(d))) : v[0];
    const auto next = task.make(to);
    std::array<ScalarUse<double>, 3> said;
    if (last)
        said = {task.contribute(labels.total), task.contribute(labels.least), task.contribute(labels.most)};
    // T is both what is changed and what flows at first.
    task.work(54, 8 * ((last ? 3 : 2) + static_cast<double>(directions())))
        .run([=, directions = directions(), &s = settings](Here& here) {
            const Real3 h = s.spacing();
            const double factor = flow_factor(s, here[time] + (last ? here[dt] : 0));
            Real3 c{};
            for (std::size_t d = 0; d < directions; ++d) c[d] = here[dt] / h[d];
            const Summary summary =
                advect(here.cells(), here[before], here[T], {here[v[0]], here[v[1]], here[v[2]]}, here[next],
                       weight, c, factor, stores(here));
            kernels::copy_rows_to_walls(here.cells(), here[next]);
            if (last) report(here, s, summary, said);
        });
}

}  // namespace

}  // namespace strata::transport
