// What tasks declare to do, beside what their kernels did, counted by the numbers themselves
// (counted_lanes.hpp): the solver's own sources run cases with them.
#include <array>
#include <map>
#include <string>
#include <vector>

#include "core/graph/expand/plan.hpp"
#include "core/graph/simulation/simulation.hpp"
#include "core/run/profile/measured.hpp"
#include "solvers/mpm/contact.hpp"
#include "solvers/mpm/plastic.hpp"
#include "solvers/mpm/tasks.hpp"
#include "tests/catch.hpp"
#include "tests/solvers/mpm/mpm_bodies.hpp"

using namespace strata;
using namespace strata::graph;
using namespace strata::mpm;
using namespace strata::mpm::tests;

namespace {

class Counters final : public Readings {
  public:
    void start(const std::vector<std::string>& /*events*/) override {}
    void read(long long* values) override {
        const auto& totals = Operations::mine().settle();
        values[0] = totals.needed, values[1] = totals.executed;
    }
    static Readings& of_this_thread() {
        static thread_local Counters counters;
        return counters;
    }
};

/// Of all patches in one step.
struct Done {
    double calls = 0, declared = 0, needed = 0, executed = 0;
};

/// What tasks do in the step after so many others, on one thread.
std::map<std::string, Done> count(Settings s, std::int64_t steps_before = 1) {
    complete(s, schema(s));
    Graph graph("mpm");
    static_cast<void>(declare(graph, s));
    const auto counting =
        make_measured_counting({"needed", "executed"}, "the numbers", Counters::of_this_thread);
    Simulation run(graph, Members::alone(), {.threads = 1, .meter = counting.get()});
    run.start();
    std::map<std::string, Done> all;
    const auto add = [&](double sign) {
        for (const Counts::Row& row : counting->end().rows) {
            Done& task = all[row.name];
            task.calls += sign * static_cast<double>(row.calls);
            task.needed += sign * row.events[0], task.executed += sign * row.events[1];
        }
    };
    run.advance(steps_before);
    add(-1);
    run.advance(1);
    add(1);
    const Plan& plan = run.plan();
    const Populations& points = plan.memory().populations();
    for (const Op& op : plan.step().ops)
        all[plan.step().names[op.name]].declared += plan.step().work_of(op).flops;
    for (const TaskInfo& task : graph.tasks())
        if (task.worked_set)
            for (int i = 0; i < static_cast<const Grid&>(*graph.families().front()).patches(); ++i)
                all[task.name].declared +=
                    task.particle_flops * static_cast<double>(points.own(task.worked_set, i).count);
    return all;
}

/// Solid everywhere, 8 points in each of 4 x 4 x 4 cells; nothing leaves its cell in a step or two.
Settings block(const std::string& law, const std::string& shape, const std::string& transfer) {
    Settings s;
    s.cells = {4, 4, 4}, s.patch_cells = {4, 4, 4}, s.size = {1, 1, 1};
    s.walls = {wall("x", Wall::periodic), wall("y", Wall::periodic), wall("z", Wall::periodic)};
    s.shape = shape, s.transfer_name = transfer;
    GivenMaterial m{.density = 2700, .poisson = 0.33};
    for (const Named<Law>& each : kLaws)
        if (law == each.name) m.law = each.value;
    if (m.law == Law::mooney_rivlin)
        m.c1 = 1e9, m.c2 = 1e8;
    else
        m.young = 70e9;
    if (m.law == Law::von_mises) m.yield = 200e6, m.hardening = 3e8;
    s.given_materials = {m};
    s.bodies = {box({0, 0, 0}, {1, 1, 1})}, move(s, {{1, 0.5, 0.25}});
    s.end = 1;
    return s;
}

/// What a task does once a call, where that is not nothing: sums of eight lanes begin with one of them, and
/// others were not added to anything, so that mostly both make up for each other.
/// With integrals over cells, CIF has the shape functions of eight Gauss points.
double once(const std::string& task, const Settings& s) {
    if (task == "CIF" && s.by_cells()) return 8 * 3 * 13;
    return task == "G2M" ? 3 : 0;
}

void check_exact(const std::string& what, const Settings& s, int tasks = 7) {
    INFO(what);
    int found = 0;
    for (const auto& [name, task] : count(s)) {
        if (task.declared == 0) {
            CHECK(task.needed == 0);  // of a task of the solver that declares nothing, or of the runtime
            continue;
        }
        INFO(name);
        CHECK(task.calls == 1);
        CHECK(task.needed == task.declared + once(name, s));
        CHECK(task.executed >= task.needed);
        ++found;
    }
    CHECK(found == tasks);
}

const char* const kShapes[] = {"linear", "gimp", "quadratic"};

/// Two blocks of a box of 12 x 4 x 4 cells, which come towards each other along x and slide along y.
Settings two(const std::string& shape, double gap) {
    Settings s = block("neo-hookean", shape, "flip");
    s.cells = {12, 4, 4}, s.patch_cells = {12, 4, 4}, s.size = {3, 1, 1};
    s.bodies = {box({0.25, 0, 0}, {1.5 - gap, 1, 1}), box({1.5 + gap, 0, 0}, {2.75, 1, 1})};
    move(s, {{1, 0, 0}, {-1, 0.5, 0}});
    group(s, {0, 1}), s.friction = 0.3;
    return s;
}

/// What body() needs, of the values that it stores with `keep`.
template <class Body>
double needed(Body body) {
    const long long before = Operations::mine().settle().needed;
    body([](const auto& x) {
        double out[kLanes];
        if constexpr (std::is_same_v<std::decay_t<decltype(x)>, mpm::Lanes>)
            store_ahead(out, x, kLanes);
        else
            out[0] = x;
    });
    return static_cast<double>(Operations::mine().settle().needed - before);
}

}  // namespace

TEST_CASE("a number knows what it took: each operation once, in lanes that matter") {
    const double many[kLanes] = {1, 2, 3, 4, 5, 6, 7, 8};
    const auto load = [](const double* p, int n) { return load_ahead(p, n); };
    CHECK(needed([&](auto keep) { keep(load(many, 8) * load(many, 8) + 1.0); }) == 16);
    CHECK(needed([&](auto keep) { keep(sqrt(load(many, 8)) / 2.0); }) == 16);
    CHECK(needed([&](auto keep) { keep(-load(many, 8)); }) == 0);
    CHECK(needed([&](auto keep) { keep(select(load(many, 8) > 3.0, load(many, 8), mpm::Lanes{})); }) == 8);
    CHECK(needed([&](auto) { static_cast<void>(load(many, 8) * load(many, 8)); }) == 0);  // for nothing
    CHECK(needed([&](auto keep) { keep(load(many, 3) * load(many, 8) + load(many, 3)); }) == 6);
    CHECK(needed([&](auto keep) { keep(mpm::Lanes{} + load(many, 8)); }) == 0);
    CHECK(needed([&](auto keep) { keep(spread<1>(load(many, 8)) * 3.0); }) ==
          2);  // two particles in four lanes each
    CHECK(needed([&](auto keep) { keep(lane_sum(load(many, 8))); }) == 7);
    CHECK(needed([&](auto keep) { keep(mpm::log(load(many, 8))); }) == 8 * 28);
    CHECK(needed([&](auto keep) { keep(mpm::exp(load(many, 8))); }) == 8 * 35);
    double at = 2;
    CHECK(needed([&](auto) { at += load(many, 8)[1]; }) == 1);
    CHECK(at == 4);
    // And is what it would be without: 7 / 2 to the power of 3.
    CHECK(double(mpm::exp(3.0 * mpm::log(load(many, 8) / 2.0))[6]) == Approx(42.875));
}

TEST_CASE("tasks declare what they do, for each shape function and transfer") {
    for (const std::string shape : kShapes)
        for (const std::string transfer : {"flip", "pic", "apic"})
            check_exact(shape + " " + transfer, block("neo-hookean", shape, transfer));
}

TEST_CASE("tasks declare what they do, for each law, with loads and damping, and CST with CIF") {
    for (const std::string law : {"linear", "mooney-rivlin", "neo-hookean"})
        for (const std::string shape : kShapes) {
            Settings s = block(law, shape, "pic");
            s.pull = 1, s.damping = 0.1, s.fused = shape != "gimp";
            check_exact(law + " " + shape, s, s.fused ? 6 : 7);
        }
    // Two laws: the mean over their bodies.
    Settings s = block("neo-hookean", "linear", "pic");
    s.given_materials = {elastic(Law::neo_hookean, 2700, 70e9, 0.33), elastic(Law::linear, 2000, 50e9, 0.2)};
    s.bodies = {box({0, 0, 0}, {1, 1, 0.5}), box({0, 0, 0.5}, {1, 1, 1})};
    s.bodies[1].material = 1;
    move(s, {{1, 0, 0}, {1, 0, 0}});
    check_exact("two laws", s);
}

TEST_CASE("tasks declare what they do where forces are integrals over cells and gradients those at the end") {
    for (const std::string law : {"neo-hookean", "mooney-rivlin"}) {
        Settings s = block(law, "quadratic", "apic");
        s.quadrature = "cells", s.deformation = "backward", s.pull = law == "neo-hookean" ? 0 : 1;
        check_exact("by cells, " + law, s);
    }
}

TEST_CASE("tasks declare what they do for fewer and for more than eight points a cell") {
    for (const std::vector<std::int64_t>& per_cell :
         {std::vector<std::int64_t>{1, 1, 1}, {2, 2, 1}, {3, 3, 1}, {2, 2, 4}}) {
        Settings s = block("neo-hookean", "quadratic", "apic");
        s.per_cell = per_cell;
        INFO(s.particles_per_cell());
        for (const auto& [name, task] : count(s)) {
            if (task.declared == 0) continue;
            INFO(name);
            if (name == "CST" || name == "G2M")  // lanes without a point take part in comparisons
                CHECK(task.needed == Approx(task.declared).epsilon(0.004));
            else
                CHECK(task.needed == task.declared);
        }
    }
}

TEST_CASE("contact: each body's share of the grid, and the normals; where bodies touch, more") {
    for (const std::string shape : kShapes) {
        INFO(shape);
        const Settings s = two(shape, shape == "linear" ? 0.25 : 0);
        const auto all = count(s);
        for (const std::string name : {"M2G", "CST", "CIF", "G2M"}) {
            INFO(name);
            CHECK(all.at(name).needed == all.at(name).declared + once(name, s));
        }
    }
    const auto touched = [](double friction) {
        return needed([&](auto keep) {
            std::array at{Touching{3.0, {1.0, 1.0, 2.0}, {5.0, 3.0, 1.0}, 1000, 0},
                          Touching{1.0, {-1.0, 0.0, 0.0}, {-5.0, -8.0, 1.0}, 1000, 1}};
            Real rubbed = 0;  // not kept: what it takes is not counted
            REQUIRE(touch_all(at.data(), 2, friction, rubbed));
            for (const Touching& one : at)
                for (const auto& v : one.velocity) keep(v);
        });
    };
    constexpr double kSticks = 66;
    CHECK(touched(10) == kSticks);
    CHECK(touched(0.01) == kSticks + 1);  // slips
    // With linear functions the blocks share one plane of 4 x 4 grid points, and one has no mass: in it
    // nothing is divided, in the other both bodies are. So what is not declared is contact itself.
    const auto all = count(two("linear", 0));
    const auto more = [&](const std::string& name) { return all.at(name).needed - all.at(name).declared; };
    CHECK(more("velocity of grid points") == 16 * kSticks);
    constexpr double kRubbed = 22;  // what friction takes; the first is added to nothing
    CHECK(more("IA") == 16 * (kSticks + kRubbed) - 1);
    CHECK(more("SEM") == 0);
}

TEST_CASE("plastic flow: what it does where it yields after three sweeps, and what it depends on") {
    const auto flow_of = [](double shear, double yield) {
        Material m = Material::elastic(Law::von_mises, 2700, 70e9, 0.33);
        m.yield = yield, m.hardening = 2e9;
        return needed([&](auto keep) {
                   PlasticState state;
                   for (std::size_t c = 0; c < 6; ++c) state.b[c] = mpm::broadcast(c < 3 ? 1.0 : 0.0);
                   state.alpha = mpm::broadcast(0.0);
                   Tensor f;
                   for (std::size_t c = 0; c < 9; ++c)
                       f[c] = mpm::broadcast(c % 4 == 0 ? 1.001 + 0.001 * static_cast<double>(c)
                                                        : shear / static_cast<double>(c + 1));
                   const PlasticStress s = flow(m, f, state);
                   for (const mpm::Lanes& x : s.kirchhoff) keep(x);
                   for (const mpm::Lanes& x : state.b) keep(x);
                   keep(state.alpha), keep(s.energy), keep(s.work);
               }) /
               kLanes;
    };
    constexpr double kNever = 1e30, kAtOnce = 1, kReturn = 166 - 7.0 / 8, kSweep = 114 + 10.0 / 8;
    const double straight = flow_of(0, kNever);
    CHECK(straight == 249);
    CHECK(flow_of(0, kAtOnce) == straight + kReturn);
    CHECK(flow_of(1e-4, kNever) == straight + 2 * kSweep + 2.25);
    CHECK(flow_of(0.3, kNever) == straight + 3 * kSweep + 2.25);
    CHECK(flow_of(0.3, kAtOnce) == straight + 3 * kSweep + 2.25 + kReturn);
    CHECK(flow_of(0.01, kAtOnce) == straight + 4 * kSweep + 2.25 + kReturn);

    // Two halves of a block that come together and slide: in nearly all cells three sweeps; slowly, nothing
    // yields; at rest there is nothing to turn.
    const auto share = [](double speed) {
        Settings s = block("von-mises", "quadratic", "flip");
        s.bodies = {box({0, 0, 0}, {1, 1, 0.5}), box({0, 0, 0.5}, {1, 1, 1})};
        move(s, {{speed, 0, speed}, {-speed, 0.5 * speed, -speed}});
        const Done cst = count(s).at("CST");
        return cst.needed / cst.declared;
    };
    constexpr double kDeclared = 1379.625;
    CHECK(share(100) == Approx(1).epsilon(5e-4));
    CHECK(share(1) == Approx(1 - kReturn / kDeclared).epsilon(5e-4));
    CHECK(share(0) == Approx(1 - (kReturn + 3 * kSweep + 2.25) / kDeclared).epsilon(5e-4));
}
