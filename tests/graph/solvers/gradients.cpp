#include "tests/graph/solvers/gradients.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

namespace strata::tests {

using namespace graph;

Mesh::Mesh(int cells, int subdomains, std::uint64_t seed) : parts(subdomains) {
    std::mt19937_64 random(seed);
    const auto between = [&](double a, double b) {
        return a + (b - a) * static_cast<double>(random() >> 11U) * 0x1p-53;
    };
    const double h = 1.0 / cells;
    for (int j = 0; j <= cells; ++j)
        for (int i = 0; i <= cells; ++i) {
            const bool border = i == 0 || j == 0 || i == cells || j == cells;
            const double move = border ? 0 : 0.25 * h;
            at.push_back({i * h + between(-move, move), j * h + between(-move, move)});
            fixed.push_back(border);
        }
    for (int j = 0; j < cells; ++j)
        for (int i = 0; i < cells; ++i) {
            const int a = i + j * (cells + 1), b = a + 1, c = a + cells + 1, d = c + 1;
            if (random() % 2 == 0)
                triangles.insert(triangles.end(), {{a, b, d}, {a, d, c}});
            else
                triangles.insert(triangles.end(), {{a, b, c}, {b, d, c}});
        }
    std::vector<std::array<double, 2>> seeds;
    for (int p = 0; p < parts; ++p) seeds.push_back({between(0, 1), between(0, 1)});
    for (const auto& t : triangles) {
        const double x = (at[z(t[0])][0] + at[z(t[1])][0] + at[z(t[2])][0]) / 3;
        const double y = (at[z(t[0])][1] + at[z(t[1])][1] + at[z(t[2])][1]) / 3;
        const auto near = [&](const auto& s) { return std::hypot(s[0] - x, s[1] - y); };
        part.push_back(static_cast<int>(
            std::min_element(seeds.begin(), seeds.end(),
                             [&](const auto& a, const auto& b) { return near(a) < near(b); }) -
            seeds.begin()));
    }
}

namespace {

Subdomain subdomain_of(const Mesh& mesh, int part, std::vector<bool>& seen) {
    Subdomain sub;
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t)
        if (mesh.part[t] == part)
            sub.points.insert(sub.points.end(), mesh.triangles[t].begin(), mesh.triangles[t].end());
    std::sort(sub.points.begin(), sub.points.end());
    sub.points.erase(std::unique(sub.points.begin(), sub.points.end()), sub.points.end());
    std::map<int, int> number;
    for (const int p : sub.points) {
        number.emplace(p, static_cast<int>(number.size()));
        sub.fixed.push_back(mesh.fixed[z(p)] ? 1 : 0);
        sub.counts.push_back(seen[z(p)] ? 0 : 1);
        seen[z(p)] = true;
    }
    std::vector<std::map<int, std::array<double, 2>>> rows(sub.points.size());
    for (std::size_t t = 0; t < mesh.triangles.size(); ++t) {
        if (mesh.part[t] != part) continue;
        const auto& corners = mesh.triangles[t];
        std::array<std::array<double, 2>, 3> x;
        for (std::size_t a = 0; a < 3; ++a) x[a] = mesh.at[z(corners[a])];
        const double twice =
            (x[1][0] - x[0][0]) * (x[2][1] - x[0][1]) - (x[2][0] - x[0][0]) * (x[1][1] - x[0][1]);
        std::array<std::array<double, 2>, 3> slope;  // of the three shape functions
        for (std::size_t a = 0; a < 3; ++a) {
            const auto &b = x[(a + 1) % 3], &c = x[(a + 2) % 3];
            slope[a] = {(b[1] - c[1]) / twice, (c[0] - b[0]) / twice};
        }
        for (std::size_t a = 0; a < 3; ++a) {
            const int row = number[corners[a]];
            if (sub.fixed[z(row)] != 0) continue;
            rows[z(row)][row][0] += twice / 6;
            for (std::size_t b = 0; b < 3; ++b)
                if (const int column = number[corners[b]]; sub.fixed[z(column)] == 0)
                    rows[z(row)][column][1] +=
                        (slope[a][0] * slope[b][0] + slope[a][1] * slope[b][1]) * twice / 2;
        }
    }
    sub.matrix.first.push_back(0);
    for (const auto& row : rows) {
        for (const auto& [column, value] : row) {
            sub.matrix.column.push_back(column);
            sub.matrix.mass.push_back(value[0]);
            sub.matrix.stiffness.push_back(value[1]);
        }
        sub.matrix.first.push_back(static_cast<int>(sub.matrix.column.size()));
    }
    return sub;
}

/// Each point that several subdomains have links each of them with every other.
std::vector<std::vector<Shared::Link>> links_of(const std::vector<Subdomain>& subdomains) {
    std::map<int, std::vector<std::array<std::int32_t, 2>>> who;  // point -> (subdomain, entry)
    for (std::size_t s = 0; s < subdomains.size(); ++s)
        for (std::size_t i = 0; i < subdomains[s].points.size(); ++i)
            who[subdomains[s].points[i]].push_back(
                {static_cast<std::int32_t>(s), static_cast<std::int32_t>(i)});
    std::vector<std::vector<Shared::Link>> links(subdomains.size());
    for (const auto& [point, all] : who)
        for (const auto& a : all)
            for (const auto& b : all)
                if (a[0] != b[0]) links[z(a[0])].push_back({a[1], b[0], b[1]});
    return links;
}

}  // namespace

Gradients::Gradients(int cells, int parts) : Solver("gradients"), mesh(cells, parts, 7) {
    std::vector<bool> seen(mesh.at.size(), false);
    for (int p = 0; p < parts; ++p) subdomains.push_back(subdomain_of(mesh, p, seen));
    declare();
}

double Gradients::source(double x, double y, std::int64_t step) {
    const double turn = 0.4 * static_cast<double>(step);
    const double dx = x - 0.5 - 0.25 * std::cos(turn), dy = y - 0.5 - 0.25 * std::sin(turn);
    return 40 * std::exp(-(dx * dx + dy * dy) / 0.02);
}

void Gradients::declare() {
    const Family& family = graph.add<Family>("subdomains", mesh.parts);
    const auto& shared = graph.add<Shared>("interfaces", family, links_of(subdomains));
    const auto size = [this](int p) { return static_cast<std::int64_t>(subdomains[z(p)].points.size()); };
    u = graph.list<double>("u", family, size);
    rounds = graph.list<std::int64_t>("rounds", family, [](int) { return 1; });
    residual = graph.scalar<double>("residual", Reduce::sum, 0.0, {.history = 1});
    const auto r = graph.list<double>("r", family, size), p = graph.list<double>("p", family, size);
    const auto q = graph.list<double>("q", family, size);
    const auto pq = graph.scalar<double>("pq", Reduce::sum);

    // Sum of a_i b_i over the points that count here.
    const auto dot = [](const Subdomain& sub, const auto& a, const auto& b) {
        double sum = 0;
        for (std::size_t i = 0; i < sub.points.size(); ++i)
            if (sub.counts[i] != 0) sum += a[static_cast<std::int64_t>(i)] * b[static_cast<std::int64_t>(i)];
        return sum;
    };
    {
        Task task = graph.start().task("nothing yet", family);
        const auto u0 = task.make(u);
        const auto none = task.make(rounds);
        task.run([=](Here& here) {
            std::ranges::fill(here[u0].component(), 0.0);
            here[none][0] = 0;
        });
    }
    {
        Task task = graph.step().task("right-hand side", family);
        const auto now = task.need(u);
        const auto sum = task.sum(r, shared);
        task.run([=, this](Here& here) {
            const Subdomain& sub = subdomains[z(here.patch)];
            const Sparse& m = sub.matrix;
            for (std::size_t i = 0; i < sub.points.size(); ++i)
                for (int n = m.first[i]; n < m.first[i + 1]; ++n) {
                    const auto& at = mesh.at[z(sub.points[i])];
                    here[sum][static_cast<std::int64_t>(i)] +=
                        kStep * (m.mass[z(n)] * source(at[0], at[1], here.step) -
                                 m.stiffness[z(n)] * here[now][m.column[z(n)]]);
                }
        });
    }
    {
        Task task = graph.step().task("first direction", family);
        const auto from = task.need(r);
        const auto direction = task.make(p);
        const auto square = task.contribute(residual);
        task.run([=, this](Here& here) {
            std::ranges::copy(here[from].component(), here[direction].component().begin());
            here[square] = dot(subdomains[z(here.patch)], here[from], here[from]);
        });
    }
    Scope& solve = graph.step().repeat<double>(
        "solve", residual.at(0), [](double square) { return square <= kTolerance * kTolerance; }, kMost);
    {
        Task task = solve.task("multiply", family);
        const auto direction = task.need(p);
        const auto product = task.sum(q, shared);
        task.run([=, this](Here& here) {
            const Sparse& m = subdomains[z(here.patch)].matrix;
            for (std::size_t i = 0; i + 1 < m.first.size(); ++i)
                for (int n = m.first[i]; n < m.first[i + 1]; ++n)
                    here[product][static_cast<std::int64_t>(i)] +=
                        (m.mass[z(n)] + kStep * m.stiffness[z(n)]) * here[direction][m.column[z(n)]];
        });
    }
    {
        Task task = solve.task("energy", family);
        const auto a = task.need(p), b = task.need(q);
        const auto sum = task.contribute(pq);
        task.run([=, this](Here& here) { here[sum] = dot(subdomains[z(here.patch)], here[a], here[b]); });
    }
    {
        Task task = solve.task("advance", family);
        const auto direction = task.need(p), product = task.need(q);
        const auto square = task.need(residual.previous()), energy = task.need(pq);
        const auto solution = task.modify(u), rest = task.modify(r);
        const auto next = task.contribute(residual);
        task.run([=, this](Here& here) {
            const double alpha = here[square] / here[energy];
            for (std::int64_t i = 0; i < here[rest].size(); ++i) {
                here[solution][i] += alpha * here[direction][i];
                here[rest][i] -= alpha * here[product][i];
            }
            here[next] = dot(subdomains[z(here.patch)], here[rest], here[rest]);
        });
    }
    {
        Task task = solve.task("turn", family);
        const auto before = task.need(residual.previous()), now = task.need(residual);
        const auto rest = task.need(r.at(1));
        const auto direction = task.modify(p);
        const auto count = task.modify(rounds);
        task.run([=](Here& here) {
            const double beta = here[now] / here[before];
            for (std::int64_t i = 0; i < here[rest].size(); ++i)
                here[direction][i] = here[rest][i] + beta * here[direction][i];
            ++here[count][0];
        });
    }
}

}  // namespace strata::tests
