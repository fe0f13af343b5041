// Whole lists of many patches on a few, and the way back.
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/catch.hpp"
#include "tests/graph/solvers/two_level.hpp"

using namespace strata::graph;
using namespace strata::tests;

namespace {

/// The largest residual of u, and u itself; one step.
double residual_of(const Simulation& run, const TwoLevel& solver, std::vector<double>& u) {
    u.clear();
    for (int p = 0; p < solver.line->patches(); ++p)
        for (const double each : values_of<double>(run, solver.u.id(), p)) u.push_back(each);
    double most = 0;
    for (std::size_t i = 0; i < u.size(); ++i) {
        const double left = i > 0 ? u[i - 1] : 0, right = i + 1 < u.size() ? u[i + 1] : 0;
        most = std::max(most,
                        std::abs(TwoLevel::load(static_cast<int>(i), run.step()) - 2 * u[i] + left + right));
    }
    return most;
}

/// Rounds of the same method by a plain loop over whole vectors, with the coarse problem as a dense matrix
/// that Gauss eliminates.
int plain_rounds(std::int64_t step, bool two_levels) {
    const Subdomains parts;
    const std::size_t n = z(parts.unknowns());
    std::vector<std::vector<double>> w;  // coarse vectors on the whole line
    for (int p = 0, at = 0; p < parts.count; at += parts.size(p), ++p)
        for (int a = 0; a < parts.vectors(p); ++a) {
            w.emplace_back(n, 0.0);
            for (int k = 0; k < parts.size(p); ++k) w.back()[z(at + k)] = parts.vector(p, a, k);
        }
    const auto multiply = [&](const std::vector<double>& v) {
        std::vector<double> all(n);
        for (std::size_t i = 0; i < n; ++i)
            all[i] = 2 * v[i] - (i > 0 ? v[i - 1] : 0) - (i + 1 < n ? v[i + 1] : 0);
        return all;
    };
    const auto dot = [&](const std::vector<double>& a, const std::vector<double>& b) {
        double sum = 0;
        for (std::size_t i = 0; i < n; ++i) sum += a[i] * b[i];
        return sum;
    };
    /// Of a symmetric positive matrix without pivots.
    const auto eliminate = [](std::vector<std::vector<double>> m, std::vector<double> b) {
        for (std::size_t j = 0; j < b.size(); ++j)
            for (std::size_t i = j + 1; i < b.size(); ++i) {
                const double by = m[i][j] / m[j][j];
                for (std::size_t k = j; k < b.size(); ++k) m[i][k] -= by * m[j][k];
                b[i] -= by * b[j];
            }
        for (std::size_t i = b.size(); i-- > 0;) {
            for (std::size_t k = i + 1; k < b.size(); ++k) b[i] -= m[i][k] * b[k];
            b[i] /= m[i][i];
        }
        return b;
    };
    std::vector<std::vector<double>> e(w.size(), std::vector<double>(w.size()));
    for (std::size_t a = 0; a < w.size(); ++a)
        for (std::size_t b = 0; b < w.size(); ++b) e[a][b] = dot(w[a], multiply(w[b]));
    const auto precondition = [&](const std::vector<double>& r) {
        std::vector<double> all(n, 0.0), c(w.size());
        for (std::size_t p = 0, at = 0; p < z(parts.count); at += z(parts.size(int(p))), ++p) {
            const std::size_t size = z(parts.size(int(p)));
            std::vector<std::vector<double>> m(size, std::vector<double>(size));
            std::vector<double> b(size);
            for (std::size_t k = 0; k < b.size(); ++k) {
                b[k] = r[at + k], m[k][k] = 2;
                if (k > 0) m[k][k - 1] = m[k - 1][k] = -1;
            }
            b = eliminate(m, b);
            for (std::size_t k = 0; k < b.size(); ++k) all[at + k] = b[k];
        }
        if (!two_levels) return all;
        for (std::size_t a = 0; a < w.size(); ++a) c[a] = dot(w[a], r);
        c = eliminate(e, c);
        for (std::size_t a = 0; a < w.size(); ++a)
            for (std::size_t i = 0; i < n; ++i) all[i] += c[a] * w[a][i];
        return all;
    };
    std::vector<double> r(n), p(n, 0.0);
    for (std::size_t i = 0; i < n; ++i) r[i] = TwoLevel::load(static_cast<int>(i), step);
    double before = 0;
    for (int round = 0;; ++round) {
        const std::vector<double> z = precondition(r);
        const double rz = dot(r, z), beta = round == 0 ? 0 : rz / before;
        if (dot(r, r) < TwoLevel::kTolerance * TwoLevel::kTolerance) return round;
        for (std::size_t i = 0; i < n; ++i) p[i] = z[i] + beta * p[i];
        const std::vector<double> q = multiply(p);
        const double alpha = rz / dot(p, q);
        for (std::size_t i = 0; i < n; ++i) r[i] -= alpha * q[i];
        before = rz;
    }
}

}  // namespace

TEST_CASE("a coarse problem on one patch, or the same on several, takes the rounds of a plain loop") {
    std::vector<double> first, u, factor;
    for (const int patches : {1, 2, 3}) {
        CAPTURE(patches);
        TwoLevel solver(patches);
        Simulation run(solver.graph, Members::alone(), {.threads = 2});
        run.start();
        for (std::int64_t step = 1; step <= 3; ++step) {
            run.advance(1);
            CHECK(residual_of(run, solver, u) < 10 * TwoLevel::kTolerance);
            const int plain = plain_rounds(step, true), without = plain_rounds(step, false);
            CHECK(std::abs(run.value(solver.rounds) - plain) <= 1);
            CHECK(plain < without);
        }
        if (patches == 1) first = u, factor = values_of<double>(run, solver.factor.id(), 0);
        CHECK(u == first);
        for (int p = 0; p < patches; ++p) CHECK(values_of<double>(run, solver.factor.id(), p) == factor);
    }
    TwoLevel one(0);
    Simulation run(one.graph, Members::alone());
    run.start();
    run.advance(1);
    CHECK(std::abs(run.value(one.rounds) - plain_rounds(1, false)) <= 1);
}

TEST_CASE("with more subdomains one level takes more rounds, two levels take no more") {
    const auto rounds = [](int coarse_patches, int subdomains) {
        TwoLevel solver(coarse_patches, {subdomains});
        Simulation run(solver.graph, Members::alone());
        run.start();
        run.advance(1);
        std::vector<double> u;
        CHECK(residual_of(run, solver, u) < 10 * TwoLevel::kTolerance);
        return run.value(solver.rounds);
    };
    // One level: two rounds for each place where subdomains meet, as each is one unknown on either side.
    CHECK(rounds(0, 40) > 3.5 * rounds(0, 10));
    const double few = rounds(1, 10);
    CHECK(few < rounds(0, 10));
    CHECK(rounds(1, 20) <= few + 4);
    CHECK(rounds(1, 40) <= few + 4);
}

TEST_CASE("lists and fields of any patches are collected with all their components, by patch") {
    Graph graph("collected");
    const Grid& plate = graph.grid("plate", {.cells = {{0, 0, 0}, {5, 4, 1}}, .patch_cells = {3, 2, 1}});
    const Family& few = graph.add<Family>("few", 3);
    const Collect& some = graph.add<Collect>("some", plate, few, Collect::Sources{{3, 0}, {}, {1, 2, 3}});
    const auto field = graph.field<float>("field", plate, On::faces_x, {.components = 2});
    const auto list = graph.list<std::int32_t>("list", plate, [](int p) { return p; }, {.components = 2});
    Task make = graph.step().task("make", plate);
    make.run([f = make.make(field), l = make.make(list)](Here& here) {
        const Box box = here[f].box();
        for (int j = box.lo[1]; j < box.hi[1]; ++j)
            for (int i = box.lo[0]; i < box.hi[0]; ++i)
                for (int c : {0, 1}) here[f](i, j, 0, c) = static_cast<float>(i + 10 * j + 100 * c);
        for (std::int64_t i = 0; i < here[l].size(); ++i)
            for (int c : {0, 1})
                here[l].component(c)[z(i)] = static_cast<std::int32_t>(here.patch + 10 * i + 100 * c);
    });
    int looked = 0;
    Task look = graph.step().task("look", few);
    const auto f = look.need(field, some);
    const auto l = look.need(list, some);
    look.run([&, f, l](Here& here) {
        std::int64_t values = 0, entries = 0;
        for (const int p : here[f].patches()) {
            CHECK(here[f].start(p) == values);
            CHECK(here[l].start(p) == entries);
            const Box box = plate.owned(p, On::faces_x);
            std::int64_t at = 0;
            for (int j = box.lo[1]; j < box.hi[1]; ++j)
                for (int i = box.lo[0]; i < box.hi[0]; ++i, ++at)
                    for (int c : {0, 1})
                        CHECK(here[f].of(p).component(c)[z(at)] == static_cast<float>(i + 10 * j + 100 * c));
            CHECK(here[f].of(p).size() == at);
            CHECK(here[l].of(p).size() == p);
            for (std::int64_t i = 0; i < p; ++i)
                for (int c : {0, 1}) CHECK(here[l].of(p).component(c)[z(i)] == p + 10 * i + 100 * c);
            values += at, entries += p;
        }
        CHECK(here[f].all.size() == values);
        CHECK(here[l].all.size() == entries);
        const std::vector<std::size_t> patches{2, 0, 3};
        CHECK(here[l].patches().size() == patches[z(here.patch)]);
        if (here.patch == 0) CHECK_THROWS_AS((void)here[l].of(1), strata::Error);
        ++looked;
    });
    Simulation run(graph, Members::alone());
    run.start();
    run.advance(2);
    CHECK(looked == 6);
}

TEST_CASE("the way back from collected lists takes each patch's part from the nearest of several") {
    const Family parts("parts", 4), few("few", 2), one("one", 1);
    const Collect all("all", parts, few);
    const auto entries = [](int p) { return std::int64_t{p + 1}; };
    const Gather::Table back = all.back(entries);
    const auto is = [&](const Gather::Table& table, int p, int patch, int first) {
        const auto& list = table[z(p)];
        bool right = list.size() == z(p + 1);
        for (std::size_t i = 0; i < list.size(); ++i)
            right = right && list[i].patch == patch && list[i].entry == first + static_cast<int>(i);
        return right;
    };
    CHECK(is(back, 0, 0, 0));
    CHECK(is(back, 1, 0, 1));
    CHECK(is(back, 2, 1, 3));
    CHECK(is(back, 3, 1, 6));
    const Collect halves("halves", parts, few, {{3, 1}, {0}});
    const Gather::Table each = halves.back(entries);
    CHECK(is(each, 0, 1, 0));
    CHECK(is(each, 1, 0, 0));
    CHECK(each[2].empty());
    CHECK(is(each, 3, 0, 2));
    CHECK_THROWS_AS((void)Collect("all", parts, one).back([](int) { return std::int64_t{1} << 30; }),
                    strata::Error);
}

TEST_CASE("collecting from patches that are not there, or twice, is refused") {
    const Family parts("parts", 4), few("few", 2);
    const auto text_of = [&](const Collect::Sources& sources) {
        try {
            const Collect refused("r", parts, few, sources);
        } catch (const strata::Error& error) {
            return error.text();
        }
        return std::string("nothing");
    };
    CHECK(text_of({{0}}).find("given: 1 list of patches\n") != std::string::npos);
    CHECK(text_of({{0}, {4}}).find("patch 1 of 'few' cannot collect from patch 4") != std::string::npos);
    CHECK(text_of({{2, 0, 2}, {}}).find("from patch 2 twice") != std::string::npos);
    CHECK(text_of({{}, {-1}}).find("each of 0 to 3 once") != std::string::npos);
}
