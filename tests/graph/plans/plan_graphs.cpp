#include "tests/graph/plans/plan_graphs.hpp"

#include <fmt/format.h>

#include <memory>
#include <utility>

#include "tests/graph/particles/cloud.hpp"
#include "tests/graph/particles/swarm.hpp"
#include "tests/graph/plans/again.hpp"
#include "tests/graph/resolve/random_graph.hpp"
#include "tests/graph/simulation/asks.hpp"
#include "tests/graph/simulation/factored.hpp"
#include "tests/graph/simulation/families.hpp"
#include "tests/graph/simulation/scoped.hpp"
#include "tests/graph/simulation/small.hpp"
#include "tests/graph/simulation/some.hpp"
#include "tests/graph/simulation/sweeps.hpp"
#include "tests/graph/solvers/solver.hpp"
#ifdef STRATA_TEST_CASES
#include "core/run/case/case.hpp"
#include "solvers/mpm/tasks.hpp"
#include "solvers/transport/tasks.hpp"
#endif

namespace strata::tests {

namespace {

/// Holds a T, whose graph `graph(T&)` is.
template <class T, class GraphOf, class... Arguments>
DeclaredGraph hold(GraphOf graph, const Arguments&... arguments) {
    const auto held = std::make_shared<T>(arguments...);
    return {held, &graph(*held)};
}

class Graphs {
  public:
    std::vector<PlannedGraph> all() {
        add_small();
        add_solvers();
        add_random();
        add_clouds();
#ifdef STRATA_TEST_CASES
        add_cases();
        add_points();
#endif
        return std::move(all_);
    }

  private:
    enum class Moved : std::uint8_t { no, also };
    void add(const std::string& name, Moved moved, const std::function<DeclaredGraph()>& declare) {
        all_.push_back({name, declare, false});
        if (moved == Moved::also) all_.push_back({name + "-moved", declare, true});
    }

    void add_small() {
        using namespace strata::graph::testing;
        const auto of = [](auto& held) -> Graph& { return held.graph; };
        add("heat", Moved::no, [=] { return hold<Heat>(of, kOpen); });
        add("heat-round", Moved::also, [=] { return hold<Heat>(of, kRound); });
        add("mixed", Moved::no, [=] { return hold<Mixed>(of, kOpen); });
        add("mixed-round", Moved::also, [=] { return hold<Mixed>(of, kRound); });
        add("some", Moved::also, [=] { return hold<Some>(of, kOpen); });
        add("sweeps", Moved::also, [=] { return hold<Sweeps>(of, kOpen); });
        add("sweeps-boxes", Moved::no, [=] { return hold<Sweeps>(of, kOpen, pinwheel()); });
        add("asks", Moved::no, [=] { return hold<Asks>(of, kOpen); });
        add("walk", Moved::also, [=] { return hold<Walk>(of, kRound); });
        add("deep", Moved::also, [=] { return hold<Deep>(of, kRound, [](int) {}); });
        add("factored-round", Moved::also, [=] { return hold<Factored>(of, kRound); });
        add("families", Moved::also, [=] { return hold<Families>(of); });
        add("again", Moved::also, [=] { return hold<Again>(of, kRound); });
    }
    void add_solvers() {
        for (const std::string name : {"fft", "gradients", "overset", "refined", "zones", "swept", "charges",
                                       "annulus", "two-level", "narrow"})
            add(name, Moved::also, [=] {
                std::shared_ptr<Solver> solver = make_solver(name);
                return DeclaredGraph{solver, &solver->graph};
            });
    }
    void add_random() {
        for (std::uint64_t seed = 1; seed <= 20; ++seed)
            add(fmt::format("random-{}", seed), Moved::no, [=] {
                std::shared_ptr<Graph> graph = RandomGraph(seed).graph(0);
                return DeclaredGraph{graph, graph.get()};
            });
    }
    void add_clouds() {
        const auto cloud = [&](const std::string& name, Moved moved, int hops, bool tells) {
            Flight flight;
            flight.hops = hops, flight.tells = tells;
            const auto of = [](Cloud& held) -> Graph& { return held.graph(); };
            add(name, moved, [=] { return hold<Cloud>(of, flight); });
        };
        cloud("cloud", Moved::also, 1, false);
        cloud("cloud-told", Moved::no, 1, true);
        cloud("cloud-far", Moved::also, 0, false);
        cloud("cloud-far-told", Moved::no, 0, true);
        const auto swarm = [&](const std::string& name, const SwarmShape& shape) {
            const auto of = [](Swarm<>& held) -> Graph& { return held.graph(); };
            add(name, Moved::also, [=] { return hold<Swarm<>>(of, shape); });
        };
        swarm("swarm", {});
        SwarmShape each;
        each.every = 0, each.hops = 0;
        swarm("swarm-far", each);
    }

#ifdef STRATA_TEST_CASES
    template <class Settings>
    struct Case {
        Settings settings;
        Graph graph{"case"};
    };

    void add_cases() {
        for (const std::string name : {"heat", "advection", "vortex"})
            add("transport-" + name, name == "vortex" ? Moved::also : Moved::no, [=] {
                const auto held = std::make_shared<Case<transport::Settings>>();
                CaseSchema keys = transport::schema(held->settings);
                keys.read(fmt::format("{}/transport/{}.toml", STRATA_TEST_CASES, name));
                check(held->settings, keys);
                (void)transport::declare(held->graph, held->settings);
                return DeclaredGraph{held, &held->graph};
            });
        for (const std::string name : {"axial", "bar", "cylinder", "disks", "impact", "incline",
                                       "manufactured-bar", "manufactured-cube", "manufactured-vortex"})
            add("mpm-" + name, name == "incline" ? Moved::also : Moved::no, [=] {
                const auto held = std::make_shared<Case<mpm::Settings>>();
                CaseSchema keys = mpm::schema(held->settings);
                keys.read(fmt::format("{}/mpm/{}.toml", STRATA_TEST_CASES, name));
                mpm::complete(held->settings, keys);
                (void)mpm::declare(held->graph, held->settings);
                return DeclaredGraph{held, &held->graph};
            });
    }

    /// What no case has: plates, walls with friction, functions averaged over particles, and CST and CIF as
    /// one task.
    void add_points() {
        mpm::Settings s;
        s.cells = {12, 12, 8}, s.patch_cells = {6, 4, 4}, s.size = {1.2, 1.2, 0.8};
        s.given_materials = {
            {.density = 1000, .young = 1e5, .poisson = 0.3},
            {.law = mpm::Law::von_mises, .density = 1500, .young = 3e5, .poisson = 0.2, .yield = 1e5}};
        s.bodies = {{.a = {0.2, 0.2, 0.2}, .b = {0.5, 1, 0.6}},
                    {.a = {0.7, 0.2, 0.2}, .b = {1, 1, 0.6}, .material = 1}};
        s.end = 1;
        mpm::Settings pressed = s;
        pressed.walls = {{.side = 0, .kind = mpm::Wall::periodic},
                         {.side = 1, .kind = mpm::Wall::friction},
                         {.side = 2, .kind = mpm::Wall::fixed}};
        pressed.plates = {{.axis = 1, .place = 1.1, .velocity = {0, -1, 0}}};
        pressed.bodies[1].group = 1, pressed.friction = 0.3;
        pressed.gravity = {0, -9.81, 0}, pressed.damping = 1;
        mpm::Settings averaged = s;
        averaged.shape = "gimp",
        averaged.walls = {{.side = 0, .kind = mpm::Wall::periodic}, {.side = 1, .kind = mpm::Wall::fixed}};
        averaged.bodies[1].material = 0, averaged.pull = 10;
        mpm::Settings fused = s;
        fused.fused = true, fused.transfer_name = "apic";
        const auto add_settings = [&](const std::string& name, const mpm::Settings& of) {
            add(name, Moved::no, [=] {
                const auto held = std::make_shared<Case<mpm::Settings>>();
                held->settings = of;
                mpm::complete(held->settings, mpm::schema(held->settings));
                (void)mpm::declare(held->graph, held->settings);
                return DeclaredGraph{held, &held->graph};
            });
        };
        add_settings("mpm-pressed", pressed);
        add_settings("mpm-averaged", averaged);
        add_settings("mpm-fused", fused);
    }
#endif

    std::vector<PlannedGraph> all_;
};

Assignment scattered(const Graph& graph, int processes) {
    Assignment all = assign(graph, processes);
    for (const FamilyId family : all.owner.ids())
        for (std::size_t p = 0; p < all.owner[family].size(); ++p)
            all.owner[family][p] =
                static_cast<int>(mixed(100 * static_cast<std::size_t>(family.number()) + p) %
                                 static_cast<std::uint64_t>(processes));
    all.number(processes);
    return all;
}

}  // namespace

const std::vector<PlannedGraph>& planned_graphs() {
    static const std::vector<PlannedGraph> all = Graphs().all();
    return all;
}

void with_plan(const PlannedGraph& of, const Members& members, int threads, std::uint64_t serial,
               const std::function<void(Plan&)>& show) {
    const DeclaredGraph declared = of.declare();
    const Graph& graph = *declared.graph;
    const Resolved resolved = resolve(graph);
    Assignment assignment = assign(graph, members.size);
    assignment.number(members.size);
    Plan plan(graph, resolved, assignment, members, threads, serial);
    if (!of.moved) return show(plan);
    for (const auto& call : graph.calls_before_step()) call(1);
    std::vector<Epoch> rounds;
    for (std::uint16_t scope = 0; scope < plan.step().scopes; ++scope) rounds.push_back(3U + 2U * scope);
    Plan next(plan, scattered(graph, members.size), threads, serial + 1, rounds);
    show(next);
}

}  // namespace strata::tests
