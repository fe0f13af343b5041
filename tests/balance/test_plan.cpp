#include <numeric>

#include "core/balance/plan.hpp"
#include "core/balance/zones.hpp"
#include "core/base/error.hpp"
#include "tests/balance/sets.hpp"
#include "tests/catch.hpp"

using namespace strata::balance;
using namespace strata::tests;

namespace {

Plan plan_of(const std::string& set, int cpus, int processes, const ThreadCurve& curve = ThreadCurve::ideal(),
             Method method = Method::packing) {
    return make_plan(generate(find_set(set), 1).problem,
                     {.cpus = cpus, .processes = processes, .method = method, .curve = curve});
}

void check_sound(const Plan& plan, const std::vector<double>& costs, int cpus) {
    REQUIRE(plan.owners.size() == costs.size());
    for (const int owner : plan.owners) CHECK((owner >= 0 && owner < plan.processes()));
    for (const int threads : plan.threads) CHECK(threads >= 1);
    CHECK(std::accumulate(plan.threads.begin(), plan.threads.end(), 0) == plan.cpus_used);
    CHECK(plan.cpus_used <= cpus);
    CHECK(std::accumulate(plan.loads.begin(), plan.loads.end(), 0.0) ==
          Approx(std::accumulate(costs.begin(), costs.end(), 0.0)));
    CHECK(plan.longest >= plan.bound * (1 - 1e-9));
    CHECK(plan.efficiency <= 1 + 1e-9);
    CHECK(plan.balance <= 1 + 1e-9);
}

/// Every assignment, each with every way to hand out the threads.
double shortest_plan(const std::vector<double>& costs, int processes, int cpus, const ThreadCurve& curve) {
    double shortest = 1e300;
    std::vector<double> speeds(static_cast<size_t>(processes), 1.0);
    const auto hand_out = [&](auto&& self, size_t p, int left) -> void {
        if (p == speeds.size()) {
            shortest = std::min(shortest, shortest_of_all(costs, speeds));
            return;
        }
        for (int t = 1; t <= left - static_cast<int>(speeds.size() - p) + 1; ++t) {
            speeds[p] = curve.speedup(t);
            self(self, p + 1, left - t);
        }
    };
    hand_out(hand_out, 0, cpus);
    return shortest;
}

}  // namespace

TEST_CASE("threads for given loads reach the shortest time there is") {
    std::mt19937_64 random(6);
    for (int round = 0; round < 200; ++round) {
        const ThreadCurve curve = round % 2 == 0 ? ThreadCurve::ideal() : ThreadCurve::ins3d();
        const std::vector<double> loads = whole_costs(random, 3);
        const int cpus = pick(random, 3, 14);
        double best = 1e300;
        for (int a = 1; a <= cpus - 2; ++a)
            for (int b = 1; a + b < cpus; ++b)
                best = std::min(best, std::max({loads[0] / curve.speedup(a), loads[1] / curve.speedup(b),
                                                loads[2] / curve.speedup(cpus - a - b)}));
        const std::vector<int> threads = match_threads(loads, cpus, curve);
        double found = 0;
        for (size_t p = 0; p < 3; ++p) found = std::max(found, loads[p] / curve.speedup(threads[p]));
        CHECK(found == Approx(best).epsilon(1e-9));
        CHECK(std::accumulate(threads.begin(), threads.end(), 0) <= cpus);
    }
}

TEST_CASE("on small sets assignment and threads together are the best of all, and never below the bound") {
    std::mt19937_64 random(7);
    int best_found = 0, sets = 0;
    double worst = 1;
    for (int round = 0; round < 60; ++round) {
        const ThreadCurve curve = round % 2 == 0 ? ThreadCurve::ideal() : ThreadCurve::ins3d();
        const std::vector<double> costs = whole_costs(random, pick(random, 3, 6));
        const int processes = pick(random, 2, 3), cpus = processes + pick(random, 0, 4);
        const double best = shortest_plan(costs, processes, cpus, curve);
        const Plan plan = make_plan({costs, {}, {}}, {.cpus = cpus, .processes = processes, .curve = curve});
        check_sound(plan, costs, cpus);
        CHECK(plan.bound <= best * (1 + 1e-9));
        worst = std::max(worst, plan.longest / best);
        best_found += plan.longest <= best * (1 + 1e-9) ? 1 : 0;
        ++sets;
    }
    INFO(best_found << " of " << sets << ", worst " << worst);
    CHECK(best_found == sets);
}

TEST_CASE("the Origin2000 case: 69 processes on 512 CPUs are at least 97 % efficient with ideal threads") {
    const Plan plan = plan_of("origin2000", 512, 69);
    check_sound(plan, generate(find_set("origin2000"), 1).problem.costs, 512);
    CHECK(plan.processes() == 69);
    CHECK(plan.efficiency >= 0.97);
    CHECK(plan.limit.patch == -1);
}

TEST_CASE(
    "Columbia's sets: 254x2 of 508 CPUs and 36x14 of 504 are at least 99.9 % efficient, ideal threads") {
    for (const auto& [name, cpus, processes] : {std::tuple{"overflow-d", 508, 254}, {"ins3d", 504, 36}}) {
        INFO(name);
        const Plan plan = plan_of(name, cpus, processes);
        check_sound(plan, generate(find_set(name), 1).problem.costs, cpus);
        CHECK(plan.processes() == processes);
        CHECK(plan.efficiency >= 0.999);
        CHECK(plan.limit.patch == -1);
    }
    // As many processes as CPUs: the largest zone alone takes four times the mean, and no plan is better.
    const Plan alone = plan_of("overflow-d", 508, 508);
    CHECK(alone.longest == Approx(alone.bound));
    CHECK(alone.efficiency == Approx(0.2461).margin(0.00005));
}

TEST_CASE(
    "with INS3D's thread curve the largest zone limits the Origin2000 case, and the plan reaches that "
    "limit") {
    const Plan plan = plan_of("origin2000", 512, 69, ThreadCurve::ins3d());
    REQUIRE(plan.limit.patch >= 0);
    CHECK(plan.limit.threads == 12);
    CHECK(plan.limit.time == Approx(1.4e6 * 409.1 / 1223.0));
    CHECK(plan.longest == Approx(plan.limit.time));
    CHECK(plan.longest == Approx(plan.bound));
    CHECK(plan.limit.cpus_enough < 512);
}

TEST_CASE(
    "every method gives each patch one process and no CPU twice, also where there is nothing to share") {
    const std::vector<std::vector<double>> sets = {{}, {5}, {0, 0, 0}, {1, 0, 2}, {3, 3, 3, 3, 3, 3, 3}};
    for (const std::string& name : method_names()) {
        for (const std::vector<double>& costs : sets) {
            Problem problem{costs, std::vector<Point>(costs.size(), Point{}), {}};
            for (const int processes : {0, 1, 4}) {
                const Plan plan =
                    make_plan(problem, {.cpus = 8, .processes = processes, .method = parse_method(name)});
                check_sound(plan, costs, 8);
                if (processes > 0) CHECK(plan.processes() == processes);
            }
        }
    }
}

TEST_CASE("grouping by connectivity keeps more data inside processes than packing does, for its slack") {
    const Plan packed = plan_of("ins3d", 504, 36);
    const Plan grouped = plan_of("ins3d", 504, 36, ThreadCurve::ideal(), Method::bytes);
    CHECK(grouped.bytes_between < packed.bytes_between);
    CHECK(grouped.efficiency > 0.8);
}

TEST_CASE("the same request gives the same plan") {
    const Plan a = plan_of("ins3d", 100, 0), b = plan_of("ins3d", 100, 0);
    CHECK(a.owners == b.owners);
    CHECK(a.threads == b.threads);
}

TEST_CASE("a request that cannot be met is refused") {
    const Problem problem{{1, 2, 3}, {}, {}};
    CHECK_THROWS_AS(make_plan(problem, {.cpus = 2, .processes = 3}), strata::Error);
    CHECK_THROWS_AS(make_plan(problem, {.cpus = 0}), strata::Error);
    CHECK_THROWS_AS(make_plan(problem, {.cpus = 2, .method = Method::curve}), strata::Error);
    CHECK_THROWS_AS(make_plan({{1, -1}, {}, {}}, {.cpus = 2}), strata::Error);
    CHECK_THROWS_AS(make_plan({{1, 1}, {}, {{0, 2, 1}}}, {.cpus = 2}), strata::Error);
}
