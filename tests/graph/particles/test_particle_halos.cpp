// Halos of particles: who is in them, in which order; values of their present versions; sums back to the
// owners.
#include <map>
#include <mutex>
#include <tuple>

#include "tests/graph/particles/particle_lines.hpp"
#include "tests/graph/particles/swarm.hpp"

using namespace strata;
using namespace strata::tests;

namespace {

/// What tasks saw, and the sums: [step][patch].
struct Seen {
    std::map<std::int64_t, std::map<int, Sight>> sights;
    std::map<std::int64_t, std::map<int, Pulled>> sums;
};

template <class Real>
Seen seen_of(const SwarmShape& shape, int steps, int threads, std::uint64_t seed) {
    Seen all;
    std::mutex lock;
    Swarm<Real> swarm(
        shape,
        [&](const Sight& sight) {
            const std::scoped_lock guard(lock);
            all.sights[sight.step][sight.patch] = sight;
        },
        [&](const Pulled& sums) {
            const std::scoped_lock guard(lock);
            all.sums[sums.step][sums.patch] = sums;
        });
    const Resolved resolved = resolve(swarm.graph());
    const Members members;
    Plan plan(swarm.graph(), resolved, assign(swarm.graph(), 1), members, threads, 1);
    ExecutorOptions options;
    options.shuffle.seed = seed;
    Executor(plan.start(), options).run(1);
    Executor(plan.step(), options).run(static_cast<std::uint32_t>(steps));
    return all;
}

/// One that a patch should see in its halo: where it is from, and its image.
struct Expected {
    int patch;
    Int3 period;
    std::size_t at;  // in its patch's order
};

/// By all particles and all images, in the order of patches, images and places.
template <class Real>
std::vector<Expected> near(const SwarmShape& shape, const Grid& grid, const std::map<int, Sight>& sights,
                           int to) {
    std::vector<Expected> all;
    const Box box = grid.box(to);
    Int3 most{};
    for (int a = 0; a < shape.directions; ++a) {
        const auto d = static_cast<std::size_t>(a);
        const double length = shape.cells[d] * shape.spacing[d];
        if (shape.periodic[d]) most[d] = static_cast<int>(shape.distance / length) + 2;
    }
    for (const auto& [patch, sight] : sights)
        for (int z = -most[2]; z <= most[2]; ++z)
            for (int y = -most[1]; y <= most[1]; ++y)
                for (int x = -most[0]; x <= most[0]; ++x)
                    for (std::size_t i = 0; i < static_cast<std::size_t>(sight.own); ++i) {
                        const Int3 period{x, y, z};
                        if (patch == to && period == Int3{}) continue;
                        const Box other = grid.box(patch).shifted(
                            {x * shape.cells[0], y * shape.cells[1], z * shape.cells[2]});
                        const auto corner = [](const Box& b) {
                            return std::tuple(b.lo[2], b.lo[1], b.lo[0]);
                        };
                        if (shape.side == HaloSide::half && corner(other) < corner(box)) continue;
                        double square = 0;
                        for (int a = 0; a < shape.directions; ++a) {
                            const auto d = static_cast<std::size_t>(a);
                            double lo = shape.origin[d] + box.lo[d] * shape.spacing[d];
                            double hi = shape.origin[d] + box.hi[d] * shape.spacing[d];
                            if (shape.open(d) && box.lo[d] == 0) lo = -1e9;
                            if (shape.open(d) && box.hi[d] == shape.cells[d]) hi = 1e9;
                            const double length = shape.cells[d] * shape.spacing[d];
                            const double here = static_cast<double>(
                                static_cast<Real>(sight.all[i].x[d] + period[d] * length));
                            const double gap = std::max({lo - here, here - hi, 0.0});
                            square += gap * gap;
                        }
                        if (square < shape.distance * shape.distance) all.push_back({patch, period, i});
                    }
    return all;
}

/// The contributions of a patch, in its list.
Pulled contributions(const SwarmShape& shape, const Sight& sight) {
    Pulled sums;
    sums.force.resize(sight.all.size());
    sums.pairs.resize(sight.all.size());
    const auto one = [&](std::int64_t i) -> const Sight::One& {
        return sight.all[static_cast<std::size_t>(i)];
    };
    Swarm<>::pull_pairs(
        shape, sight.own, static_cast<std::int64_t>(sight.all.size()),
        [&](std::int64_t i) { return one(i).id; },
        [&](std::int64_t i, int a) { return one(i).x[static_cast<std::size_t>(a)]; },
        [&](std::int64_t i) { return one(i).weight; },
        [&](std::int64_t i, int a) -> double& {
            return sums.force[static_cast<std::size_t>(i)][static_cast<std::size_t>(a)];
        },
        [&](std::int64_t i) -> std::int32_t& { return sums.pairs[static_cast<std::size_t>(i)]; });
    return sums;
}

/// Sums are each patch's own contributions, then those of the others in the order of patches and images.
void check_sums(const SwarmShape& shape, const std::map<int, Sight>& sights,
                const std::map<int, Pulled>& sums, const std::map<int, std::vector<Expected>>& members) {
    std::map<int, Pulled> all;
    for (const auto& [patch, sight] : sights) all[patch] = contributions(shape, sight);
    bool right = true;
    for (const auto& [patch, is] : sums) {
        const auto own = static_cast<std::size_t>(sights.at(patch).own);
        REQUIRE(is.force.size() == own);
        Pulled should = all[patch];
        for (const auto& [other, seen] : members)
            for (std::size_t k = 0; k < seen.size(); ++k) {
                if (seen[k].patch != patch) continue;
                const std::size_t from = static_cast<std::size_t>(sights.at(other).own) + k;
                for (std::size_t a = 0; a < 3; ++a) should.force[seen[k].at][a] += all[other].force[from][a];
                should.pairs[seen[k].at] += all[other].pairs[from];
            }
        std::int64_t crowd = std::accumulate(is.pairs.begin(), is.pairs.end(), std::int64_t{0});
        for (const Expected& each : members.at(patch)) crowd += sums.at(each.patch).pairs[each.at];
        for (const std::int64_t count : is.crowd) right = right && count == crowd;
        for (std::size_t i = 0; i < own; ++i)
            right = right && is.force[i] == should.force[i] && is.pairs[i] == should.pairs[i];
    }
    CHECK(right);
}

/// All that was seen in each step: members by positions at the last renewal, values of the step.
template <class Real>
void check_seen(const SwarmShape& shape, const Seen& seen) {
    Graph graph("alone");
    const Grid& grid = graph.grid("grid", {.cells = {{0, 0, 0}, shape.cells},
                                           .patch_cells = shape.patch_cells,
                                           .periodic = shape.periodic,
                                           .origin = shape.origin,
                                           .spacing = shape.spacing});
    std::map<int, std::vector<Expected>> members;
    std::size_t in_halos = 0;
    bool right = true, finds = true;
    for (const auto& [step, all] : seen.sights) {
        REQUIRE(all.size() == static_cast<std::size_t>(grid.patches()));
        // In the first steps: members as the start left them, when nothing had moved.
        if (step == 1 || shape.every == 0 || step % shape.every == 0)
            for (int p = 0; p < grid.patches(); ++p) members[p] = near<Real>(shape, grid, all, p);
        check_sums(shape, all, seen.sums.at(step), members);
        for (const auto& [patch, sight] : all) {
            finds = finds && sight.finds;
            const std::vector<Expected>& expected = members[patch];
            REQUIRE(sight.all.size() == static_cast<std::size_t>(sight.own) + expected.size());
            in_halos += expected.size();
            for (std::size_t k = 0; k < expected.size(); ++k) {
                const Sight::One& is = sight.all[static_cast<std::size_t>(sight.own) + k];
                const Sight::One& should = all.at(expected[k].patch).all[expected[k].at];
                right = right && is.id == should.id && is.weight == should.weight &&
                        std::memcmp(is.mark.of, should.mark.of, sizeof should.mark.of) == 0;
                for (int a = 0; a < shape.directions; ++a) {
                    const auto d = static_cast<std::size_t>(a);
                    const double length = shape.cells[d] * shape.spacing[d];
                    right = right && is.x[d] == static_cast<double>(static_cast<Real>(
                                                    should.x[d] + expected[k].period[d] * length));
                }
            }
        }
    }
    CHECK(right);
    CHECK(finds);
    CHECK(in_halos > 0);
}

SwarmShape narrow() {  // patches of one cell, and a domain that is narrower than the distance
    SwarmShape shape;
    shape.cells = {4, 3, 1};
    shape.patch_cells = {1, 1, 1};
    shape.distance = 1.6;
    shape.hops = 0;
    shape.each = 2;
    return shape;
}
SwarmShape walls() {
    SwarmShape shape;
    shape.periodic = {false, true, false};
    shape.cells = {9, 4, 3};
    shape.patch_cells = {2, 3, 3};
    return shape;
}
SwarmShape open() {  // most of the particles at two borders are beyond them
    SwarmShape shape = walls();
    shape.beyond = 2.5;
    shape.each = 4;
    shape.fast = 0.2;
    return shape;
}
SwarmShape flat() {
    SwarmShape shape;
    shape.cells = {9, 8, 1};
    shape.patch_cells = {3, 2, 1};
    shape.directions = 2;
    shape.each = 4;
    return shape;
}
SwarmShape half(SwarmShape shape) {
    shape.side = HaloSide::half;
    return shape;
}
SwarmShape line() {
    SwarmShape shape;
    shape.cells = {30, 1, 1};
    shape.patch_cells = {4, 1, 1};
    shape.directions = 1;
    shape.every = 0;
    return shape;
}

}  // namespace

TEST_CASE("a patch sees those near it, in the order of patches, images and places, until the next renewal",
          "[halos]") {
    const SwarmShape shape = GENERATE(SwarmShape(), narrow(), walls(), open(), flat(), line(), half({}),
                                      half(narrow()), half(open()), half(flat()));
    CAPTURE(shape.cells, shape.directions);
    check_seen<double>(shape, seen_of<double>(shape, 23, 1, 0));
    check_seen<float>(shape, seen_of<float>(shape, 23, 2, 11));
}

TEST_CASE("with patches of any size there are the same pairs", "[halos]") {
    const auto pairs = [](SwarmShape shape, const Int3& patch_cells) {
        shape.patch_cells = patch_cells;
        shape.hops = 0;
        shape.every = 0;  // nothing comes near in between
        shape.push = 0;
        std::vector<std::int64_t> counts;
        for (const auto& [step, sums] : seen_of<double>(shape, 12, 1, 0).sums) {
            std::int64_t& count = counts.emplace_back(0);
            for (const auto& [patch, each] : sums)
                count = std::accumulate(each.pairs.begin(), each.pairs.end(), count);
        }
        return counts;
    };
    for (const SwarmShape& shape : {SwarmShape(), narrow(), walls(), open(), line()}) {
        const std::vector<std::int64_t> whole = pairs(shape, shape.cells);
        CHECK(whole.back() > 0);
        // Where of two patches one alone sees the other, it computes their pairs.
        CHECK(pairs(half(shape), shape.patch_cells) == whole);
        CHECK(pairs(half(shape), {1, 2, 1}) == whole);
        CHECK(pairs(shape, shape.patch_cells) == whole);
        CHECK(pairs(shape, {1, 2, 1}) == whole);
    }
}

TEST_CASE("halos of particles give the same bits for any layout, order and assignment",
          "[halos][layouts][native]") {
    const auto lines = [](const std::string& where, int threads, int seed, int every,
                          const std::string& kind = "near") {
        return lines_of(where, {kind, "100", "1", "0.05", std::to_string(threads), std::to_string(seed),
                                std::to_string(every)});
    };
    const std::string one = lines("1x1", 1, 0, 0);
    CHECK(has(one, "number "));
    CHECK(lines("1x2", 2, 1, 0) == one);
    CHECK(lines("2x1", 1, 2, 0) == one);
    CHECK(lines("4x1", 1, 3, 13) == one);
    CHECK(lines("2x2", 2, 4, 17) == one);
    const std::string narrow = lines("1x1", 1, 0, 0, "near-narrow");
    CHECK(lines("2x2", 2, 5, 0, "near-narrow") == narrow);
    CHECK(lines("4x1", 1, 6, 13, "near-narrow") == narrow);
    const std::string half = lines("1x1", 1, 0, 0, "near-half");
    CHECK(half != narrow);
    CHECK(lines("2x2", 2, 7, 0, "near-half") == half);
    CHECK(lines("4x1", 1, 8, 13, "near-half") == half);
    const std::string open = lines("1x1", 1, 0, 0, "near-open");
    CHECK(lines("2x2", 2, 9, 0, "near-open") == open);
    CHECK(lines("4x1", 1, 10, 13, "near-open") == open);
}

TEST_CASE("between two renewals a checkpoint keeps who is in a halo", "[halos][layouts][native]") {
    const std::string kind = GENERATE("near", "near-open");
    const auto lines = [&](const std::string& where, int steps, int seed, int every,
                           const std::string& file) {
        return lines_of(where,
                        {kind, std::to_string(steps), "1", "0.05", "1", std::to_string(seed),
                         std::to_string(every), file},
                        true);
    };
    const TemporaryFolder folder;
    const std::string file = folder.path().string();
    const std::string whole = lines("1x1", 60, 0, 0, "none");
    const std::string half = lines("3x1", 33, 1, 0, "save=" + file);
    CHECK(half != whole);
    CHECK(lines("2x1", 33, 0, 0, "restore=" + file) == half);
    CHECK(lines("1x1", 60, 0, 0, "restore=" + file) == whole);
    CHECK(lines("4x1", 60, 2, 7, "restore=" + file) == whole);
}

namespace {

/// Particles on a line with a halo, declared as `declare` says; what resolving says to it.
std::string refused(const std::function<void(Graph&, Grid&, SetId, Particles<double>, HaloId)>& declare) {
    Graph graph("few");
    Grid& grid = graph.grid("line", {.cells = {{0, 0, 0}, {8, 1, 1}}, .patch_cells = {2, 1, 1}});
    const SetId set = graph.particles("dust", grid);
    const auto id = graph.particle_id(set);
    const auto x = graph.particle<double>(set, "x");
    {
        Task task = graph.start().task("sow", grid);
        task.make(id);
        task.make(x);
        task.run([set](Here& here) { here.create(set, 0); });
    }
    try {
        declare(graph, grid, set, x, graph.particle_halo("near", x, 0.5));
        (void)resolve(graph);
    } catch (const Error& error) {
        return error.what();
    }
    return "";
}

void look(Graph& graph, Grid& grid, const TypedVersion<double, Kind::particles>& x, HaloId near) {
    Task task = graph.step().task("look", grid);
    task.need(x, near);
    task.run([](Here&) {});
}

}  // namespace

TEST_CASE("numbers of a halo's particles are kept where a task finds them, and asked for nowhere else",
          "[halos]") {
    const auto finds = [](bool by_number) {
        bool found = false;
        CHECK(refused([&](Graph& graph, Grid& grid, SetId, Particles<double> x, HaloId near) {
                  graph.start().renew(near);
                  Task task = graph.step().task("look", grid);
                  task.need(x, near);
                  by_number ? task.need(near) : task.sizes(near);
                  task.run([](Here&) {});
                  found = graph.particle_halos()[near]->finds();
              }).empty());
        return found;
    };
    CHECK(finds(true));
    CHECK(!finds(false));
    HaloMembers members;
    members.own = 1, members.all = 2;
    CHECK_THROWS_AS(HaloView(members).find(7), Error);
    members.clear(2);
    members.add(7, 1);
    CHECK(HaloView(members).find(7) == 1);
    CHECK(HaloView(members).find(8) == -1);
}

TEST_CASE("a halo that does not follow its particles is refused", "[halos]") {
    CHECK(refused([](Graph& graph, Grid& grid, SetId, Particles<double> x, HaloId near) {
              graph.start().renew(near);
              look(graph, grid, x.last(), near);
          }).empty());
    const std::string never = refused([](Graph& graph, Grid& grid, SetId, Particles<double> x, HaloId near) {
        look(graph, grid, x.last(), near);
    });
    CHECK(has(never, "task 'look' needs the halo 'near', but nobody finds out who is in it"));
    const std::string stale =
        refused([](Graph& graph, Grid& grid, SetId set, Particles<double> x, HaloId near) {
            graph.start().renew(near);
            graph.step().relocate(set, x.last());
            look(graph, grid, x.last(), near);
        });
    CHECK(has(stale,
              "scope 'step' relocates 'dust' and does not renew the halo 'near', which task 'look' uses"));
    const std::string alone = refused([](Graph& graph, Grid& grid, SetId, Particles<double> x, HaloId near) {
        graph.step().renew(near);
        look(graph, grid, x.last(), near);
    });
    CHECK(has(alone, "scope 'step' renews the halo 'near' and does not relocate 'dust'"));
    const std::string before =
        refused([](Graph& graph, Grid& grid, SetId set, Particles<double> x, HaloId near) {
            Task task = graph.step().task("move", grid);
            task.modify(x);
            task.run([](Here&) {});
            graph.start().renew(near);
            Scope& rebuild = graph.step().subcycle("rebuild", 1).takes(x.at(1));
            rebuild.relocate(set, x.last());
            rebuild.renew(near);
            look(graph, grid, x.at(1), near);
        });
    CHECK(has(before, "tasks wait for each other"));
    CHECK(has(before, "'near'"));
    // Neighbours in a list, by positions at the last renewal or those of now.
    const auto listed = [](bool of_renewed, bool anew) {
        return refused([&](Graph& graph, Grid& grid, SetId set, Particles<double> x, HaloId near) {
            const auto list = graph.object<std::vector<int>>("list", grid);
            const auto at = of_renewed ? graph.renewed<double>(near) : x;
            const auto make = [&](Scope& scope, const std::string& name) {
                scope.renew(near);
                Task task = scope.task(name, grid);
                task.need(at.last(), near), task.make(list), task.run([](Here&) {});
            };
            make(graph.start(), "list at first");
            const auto now = graph.scalar<double>("now");
            Task clock = graph.step().once("clock");
            clock.make(now), clock.run([](Here&) {});
            Scope& rebuild = graph.step().when<double>("rebuild", now, [](double n) { return n > 0; });
            rebuild.relocate(set, x.last());
            if (anew)
                make(rebuild, "list");
            else
                rebuild.renew(near);
            Task task = graph.step().task("move", grid);
            task.modify(x.at(1)), task.need(list.last()), task.run([](Here&) {});
        });
    };
    CHECK(listed(true, true).empty());
    const std::string again = "the object 'list' lives from step to step, but cannot be made again";
    CHECK(has(listed(false, true), again));
    CHECK(has(listed(false, true), "needs 'x', and task 'move' changes that"));
    CHECK(has(listed(true, false), again));
    CHECK(has(listed(true, false), "needs 'near"));
    const std::string other = refused([](Graph& graph, Grid& grid, SetId, Particles<double>, HaloId near) {
        const SetId second = graph.particles("ash", grid);
        graph.start().renew(near);
        look(graph, grid, graph.particle<double>(second, "y"), near);
    });
    CHECK(has(other, "task 'look' uses 'y' with the halo 'near', which is of other particles"));
    const std::string bytes =
        refused([](Graph& graph, Grid& grid, SetId set, Particles<double>, HaloId near) {
            graph.start().renew(near);
            Task task = graph.step().task("add", grid);
            task.sum(graph.particle<Bytes>(set, "mark").at(0), near);
            task.run([](Here&) {});
        });
    CHECK(has(bytes, "task 'add' adds to 'mark', whose values cannot be added"));
    const std::string none = refused([](Graph& graph, Grid&, SetId, Particles<double> x, HaloId) {
        (void)graph.particle_halo("none", x, -1);
    });
    CHECK(has(none, "the halo 'none' of particles has no width"));
}
