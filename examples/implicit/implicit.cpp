// Implicit transport: dT/dt + v . grad T = kappa lap T in the unit cube, T = 0 on its walls, by backward
// Euler and central differences. Each step is solved by sweeps over the patches, until the residual is small:
//   gauss-seidel  every cell in turn, up along x, y and z and then down again (symmetric Gauss-Seidel);
//   lines         all lines along x of one colour at once, then those of the other; a line crosses the
//   patches, which
//                 eliminate on the way up and substitute on the way down (Thomas' algorithm).
//   strata launch --layout 2x1 -- implicit gauss-seidel CELLS PATCH STEPS END     16 8 16 0.05, say
// Prints the root-mean-square error against the exact solution and the last residual, of which every bit is
// the same on any layout, and the seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <numbers>
#include <string>

#include "core/graph/simulation/simulation.hpp"
#include "core/team/team.hpp"

using namespace strata::graph;

namespace {

constexpr double kappa = 1;
constexpr std::array<double, 3> v{2, -1, 1};

/// A point's equation: own T = old + sum over d of lower[d] T(below) + upper[d] T(above).
struct Scheme {
    int n;
    double h, dt;
    std::array<double, 3> lower{}, upper{};

    Scheme(int cells, double step) : n(cells), h(1.0 / cells), dt(step) {
        for (std::size_t d = 0; d < 3; ++d) {
            lower[d] = dt * (kappa / (h * h) + v[d] / (2 * h));
            upper[d] = dt * (kappa / (h * h) - v[d] / (2 * h));
        }
    }
    /// Beyond a wall lies -T of the cell beside it, so that T is 0 on the wall.
    [[nodiscard]] double own(const Int3& at) const {
        double sum = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            sum += 2 * dt * kappa / (h * h);
            if (at[d] == 0) sum += lower[d];
            if (at[d] == n - 1) sum += upper[d];
        }
        return sum;
    }
    /// What the neighbours along the axes from `first` on give a cell.
    template <class View>
    [[nodiscard]] double around(const View& T, int i, int j, int k, int first = 0) const {
        double sum = 0;
        if (first == 0 && i > 0) sum += lower[0] * T(i - 1, j, k);
        if (first == 0 && i < n - 1) sum += upper[0] * T(i + 1, j, k);
        if (j > 0) sum += lower[1] * T(i, j - 1, k);
        if (j < n - 1) sum += upper[1] * T(i, j + 1, k);
        if (k > 0) sum += lower[2] * T(i, j, k - 1);
        if (k < n - 1) sum += upper[2] * T(i, j, k + 1);
        return sum;
    }
    /// exp(v x / 2 kappa - |v|^2 t / 4 kappa - 3 kappa pi^2 t) sin(pi x) sin(pi y) sin(pi z).
    [[nodiscard]] double exact(int i, int j, int k, double t) const {
        double power = -3 * kappa * std::numbers::pi * std::numbers::pi * t, product = 1;
        for (std::size_t d = 0; d < 3; ++d) {
            const double x = ((d == 0 ? i : d == 1 ? j : k) + 0.5) * h;
            power += v[d] * x / (2 * kappa) - v[d] * v[d] * t / (4 * kappa);
            product *= std::sin(std::numbers::pi * x);
        }
        return std::exp(power) * product;
    }
};

struct Solver {
    Graph graph{"implicit transport"};
    Grid& grid;
    Scheme scheme;
    Field<double> T, old;
    Scalar<double> residual, square;

    Solver(const std::string& method, int n, int patch, double dt)
        : grid(graph.grid("grid", {.cells = {{0, 0, 0}, {n, n, n}}, .patch_cells = {patch, patch, patch}})),
          scheme(n, dt),
          T(graph.field<double>("T", grid, On::cells)),
          old(graph.field<double>("old", grid, On::cells)),
          residual(graph.scalar<double>("residual", Reduce::max)),
          square(graph.scalar<double>("square", Reduce::sum)) {
        begin();
        Scope& solve = graph.step().repeat<double>(
            "solve", residual.at(0), [](double largest) { return largest < 1e-10; }, 10000);
        if (method == "lines") {
            for (const int colour : {0, 1}) lines(solve, colour);
        } else {
            sweep(solve, "forward", 0, 1);
            sweep(solve, "back", 1, -1);
        }
        find_residual(solve);
        compare();
    }

    void begin() {
        {
            Task task = graph.start().task("initial", grid);
            const auto now = task.make(T);
            task.run([=, this](Here& here) {
                for_each(here.cells(),
                         [&](int i, int j, int k) { here[now](i, j, k) = scheme.exact(i, j, k, 0); });
            });
        }
        Task task = graph.step().task("keep", grid);
        const auto now = task.need(T);
        const auto kept = task.make(old);
        task.run([=](Here& here) {
            for_each(here.cells(), [&](int i, int j, int k) { here[kept](i, j, k) = here[now](i, j, k); });
        });
    }

    /// Up (1) or down (-1) along all axes: neighbours behind have what this sweep gave them, those ahead what
    /// they had.
    void sweep(Scope& solve, const char* name, int version, int towards) {
        Task task = solve.task(name, grid);
        const auto now = task.modify(T.at(version), upwind({towards, towards, towards}));
        const auto before = task.need(old);
        task.work(14, 16).run([=, this](Here& here) {
            const Box own = here.cells();
            const auto to = here[now];
            const auto from = here[before];
            for_each(own, [&](int i, int j, int k) {
                if (towards < 0)
                    i = own.lo[0] + own.hi[0] - 1 - i, j = own.lo[1] + own.hi[1] - 1 - j,
                    k = own.lo[2] + own.hi[2] - 1 - k;
                to(i, j, k) = (from(i, j, k) + scheme.around(to, i, j, k)) / scheme.own({i, j, k});
            });
        });
    }

    /// Lines with j + k even (0) or odd (1): only lines of the other colour are beside them.
    void lines(Scope& solve, int colour) {
        const auto c =
            graph.field<double>("factors " + std::to_string(colour), grid, On::cells, {.components = 2});
        {
            Task task = solve.task("eliminate " + std::to_string(colour), grid);
            const auto beside = task.need(T.at(colour), ghosts({0, 1, 1}));
            const auto before = task.need(old);
            const auto made = task.make(c);
            const auto behind = task.need(c, upwind(0, 1));
            task.run([=, this](Here& here) {
                const auto from = here[behind];
                for_each(here.cells(), [&](int i, int j, int k) {
                    if ((j + k) % 2 != colour) return;
                    const double right = here[before](i, j, k) + scheme.around(here[beside], i, j, k, 1);
                    const double factor = i > 0 ? scheme.lower[0] : 0;
                    const double pivot = scheme.own({i, j, k}) - (i > 0 ? factor * from(i - 1, j, k, 0) : 0);
                    here[made](i, j, k, 0) = scheme.upper[0] / pivot;
                    here[made](i, j, k, 1) = (right + (i > 0 ? factor * from(i - 1, j, k, 1) : 0)) / pivot;
                });
            });
        }
        Task task = solve.task("substitute " + std::to_string(colour), grid);
        const auto now = task.modify(T.at(colour));
        const auto ahead = task.need(T.at(colour + 1), upwind(0, -1));
        const auto factors = task.need(c);
        task.run([=, this](Here& here) {
            const Box own = here.cells();
            for_each(own, [&](int i, int j, int k) {
                if ((j + k) % 2 != colour) return;
                i = own.lo[0] + own.hi[0] - 1 - i;
                const double next = i < scheme.n - 1 ? here[ahead](i + 1, j, k) : 0;
                here[now](i, j, k) = here[factors](i, j, k, 1) + here[factors](i, j, k, 0) * next;
            });
        });
    }

    void find_residual(Scope& solve) {
        Task task = solve.task("residual", grid);
        const auto now = task.need(T.at(2), ghosts(1));
        const auto before = task.need(old);
        const auto largest = task.contribute(residual);
        task.work(15, 16).run([=, this](Here& here) {
            const auto at = here[now];
            double most = 0;
            for_each(here.cells(), [&](int i, int j, int k) {
                const double left =
                    here[before](i, j, k) + scheme.around(at, i, j, k) - scheme.own({i, j, k}) * at(i, j, k);
                most = std::max(most, std::abs(left));
            });
            here[largest] = most;
        });
    }

    void compare() {
        Task task = graph.step().task("compare", grid);
        const auto now = task.need(T.last());
        const auto sum = task.contribute(square);
        task.run([=, this](Here& here) {
            double all = 0;
            for_each(here.cells(), [&](int i, int j, int k) {
                const double away =
                    here[now](i, j, k) - scheme.exact(i, j, k, scheme.dt * static_cast<double>(here.step));
                all += away * away;
            });
            here[sum] = all;
        });
    }
};

}  // namespace

int main(int argc, char** argv) {
    return strata::team::run(argc, argv, [&](strata::team::Team& team) {
        const std::string method = argc >= 6 ? argv[1] : "";
        if (method != "gauss-seidel" && method != "lines") {
            std::fprintf(stderr, "usage: implicit gauss-seidel|lines CELLS PATCH STEPS END\n");
            return 2;
        }
        const int n = std::atoi(argv[2]), patch = std::atoi(argv[3]), steps = std::atoi(argv[4]);
        if (n < 2 || patch < 1 || steps < 1 || !(std::atof(argv[5]) > 0)) {
            std::fprintf(stderr, "implicit: CELLS from 2 on, PATCH and STEPS from 1 on, END above 0\n");
            return 2;
        }
        Solver solver(method, n, patch, std::atof(argv[5]) / steps);
        Simulation run(solver.graph, Members::of(team), {.crew = &team.crew()});
        run.start();
        run.advance(steps);
        const double seconds = run.batch().seconds;
        team.barrier();  // nobody frees its patches while others read them
        if (team.rank() == 0)
            std::printf("error %.16e\nresidual %.16e\nseconds %.6f\n",
                        std::sqrt(run.value(solver.square) / n / n / n), run.value(solver.residual), seconds);
        return 0;
    });
}
