#include "tests/graph/solvers/two_level.hpp"

#include <cmath>
#include <numeric>

namespace strata::tests {

using namespace graph;

namespace {

/// Subdomain p's rows of E: its columns are the coarse vectors of p - 1, p and p + 1.
template <class Rows>
void coarse_rows(const Subdomains& parts, int p, const Rows& rows) {
    const int n = parts.size(p);
    std::int64_t at = 0;
    for (int a = 0; a < parts.vectors(p); ++a)
        for (const int other : {p - 1, p, p + 1})
            for (int b = 0; b < parts.vectors(other); ++b) {
                double sum = 0;
                const auto mine = [&](int k) { return parts.vector(p, a, k); };
                const auto theirs = [&](int k) { return parts.vector(other, b, k); };
                if (other < p) sum = -mine(0) * theirs(parts.size(other) - 1);
                if (other > p) sum = -mine(n - 1) * theirs(0);
                for (int k = 0; k < n && other == p; ++k)
                    sum += mine(k) *
                           (2 * theirs(k) - (k > 0 ? theirs(k - 1) : 0) - (k < n - 1 ? theirs(k + 1) : 0));
                rows[at++] = sum;
            }
}

/// Overwrites the lower half of a dense matrix by Cholesky's factor.
template <class Values>
void factorise(int n, const Values& m) {
    for (int j = 0; j < n; ++j)
        for (int i = j; i < n; ++i) {
            for (int k = 0; k < j; ++k) m[i * n + j] -= m[i * n + k] * m[j * n + k];
            m[i * n + j] = i == j ? std::sqrt(m[j * n + j]) : m[i * n + j] / m[j * n + j];
        }
}
template <class Factor, class Values>
void solve(int n, const Factor& m, const Values& x) {
    for (int i = 0; i < n; ++i) {
        for (int k = 0; k < i; ++k) x[i] -= m[i * n + k] * x[k];
        x[i] /= m[i * n + i];
    }
    for (int i = n; i-- > 0;) {
        for (int k = i + 1; k < n; ++k) x[i] -= m[k * n + i] * x[k];
        x[i] /= m[i * n + i];
    }
}

/// A subdomain by itself, with fixed ends: elimination from left to right, where row k has 2 - k / (k + 1) =
/// (k + 2) / (k + 1) on the diagonal.
void solve_alone(std::vector<double>& x) {
    const auto diagonal = [](std::size_t k) { return double(k + 2) / double(k + 1); };
    for (std::size_t k = 1; k < x.size(); ++k) x[k] += x[k - 1] / diagonal(k - 1);
    for (std::size_t k = x.size(); k-- > 0;) x[k] = (x[k] + (k + 1 < x.size() ? x[k + 1] : 0)) / diagonal(k);
}

}  // namespace

int Subdomains::size(int p) const {
    static constexpr int sizes[] = {7, 19, 4, 26, 11, 3, 22, 9, 15, 4};
    return sizes[p % 10];
}

double Subdomains::vector(int p, int power, int k) const {
    return std::pow((k + 0.5) / size(p) - 0.5, power);
}

int Subdomains::unknowns() const {
    int all = 0;
    for (int p = 0; p < count; ++p) all += size(p);
    return all;
}

int Subdomains::coarse_unknowns() const {
    int all = 0;
    for (int p = 0; p < count; ++p) all += vectors(p);
    return all;
}

double TwoLevel::load(int i, std::int64_t step) {
    return std::sin(0.1 * i * static_cast<double>(step)) + 0.05 * i;
}

TwoLevel::TwoLevel(int coarse_patches, Subdomains parts) : Solver("two levels"), parts_(parts) {
    std::vector<Box> boxes;
    for (int p = 0, at = 0; p < parts.count; at += parts.size(p), ++p)
        boxes.push_back({{at, 0, 0}, {at + parts.size(p), 1, 1}});
    line = &graph.add<Grid>(
        "line", GridShape{.cells = {{0, 0, 0}, {parts.unknowns(), 1, 1}}, .patch_cells = {}}, boxes);
    const auto field = [&](const char* name) { return graph.field<double>(name, *line, On::cells); };
    u = graph.field<double>("u", *line, On::cells, {.kept = true});
    r_ = field("r"), z_ = field("z"), p_ = field("p"), q_ = field("q");
    rounds = graph.scalar<double>("rounds");
    declare_coarse(coarse_patches);
    declare_solve();
}

/// The matrix and its factor, once.
void TwoLevel::declare_coarse(int coarse_patches) {
    if (coarse_patches == 0) return;
    few_ = &graph.add<Family>("coarse", coarse_patches);
    all_ = &graph.add<Collect>("to the coarse problem", *line, *few_);
    const Subdomains parts = parts_;
    const int n = parts.coarse_unknowns();
    const auto own = [=](int p) { return std::int64_t{parts.vectors(p)}; };
    back_ = &graph.add<Gather>("back", *few_, *line, all_->back(own));
    restricted_ = graph.list<double>("W' r", *line, own);
    coarse_ = graph.list<double>("E^-1 W' r", *few_, [=](int) { return n; });
    factor = graph.list<double>("factor", *few_, [=](int) { return n * n; }, {.kept = true});
    const auto rows = graph.list<double>("rows of E", *line, [=](int p) {
        return std::int64_t{parts.vectors(p) *
                            (parts.vectors(p - 1) + parts.vectors(p) + parts.vectors(p + 1))};
    });
    Task make = graph.start().task("coarse rows", *line);
    make.run([parts, rows = make.make(rows)](Here& here) { coarse_rows(parts, here.patch, here[rows]); });
    Task assemble = graph.start().task("factorise", *few_);
    assemble.run([=, rows = assemble.need(rows, *all_), to = assemble.make(factor)](Here& here) {
        for (std::int64_t i = 0; i < here[to].size(); ++i) here[to][i] = 0;
        int row = 0, column = 0;  // the first columns of a subdomain: those of the one before it
        for (const int p : here[rows].patches()) {
            const auto part = here[rows].of(p);
            const int columns = parts.vectors(p - 1) + parts.vectors(p) + parts.vectors(p + 1);
            for (int a = 0; a < parts.vectors(p); ++a, ++row)
                for (int b = 0; b < columns; ++b) here[to][row * n + column + b] = part[a * columns + b];
            column += parts.vectors(p - 1);
        }
        factorise(n, here[to]);
    });
}

void TwoLevel::declare_solve() {
    const Subdomains parts = parts_;
    const int n = parts.unknowns();
    const auto rr = graph.scalar<double>("r.r", Reduce::sum), rz = graph.scalar<double>("r.z", Reduce::sum);
    const auto pq = graph.scalar<double>("p.q", Reduce::sum), before = graph.scalar<double>("r.z before");
    const auto beta = graph.scalar<double>("beta");
    const auto each = [](Here& here, auto&& what) {
        for (int i = here.cells().lo[0]; i < here.cells().hi[0]; ++i) what(i);
    };
    Task begin = graph.step().task("begin", *line);
    begin.run([=, u = begin.make(u), r = begin.make(r_), p = begin.make(p_)](Here& here) {
        each(here, [&](int i) { here[u](i) = here[p](i) = 0, here[r](i) = load(i, here.step); });
    });
    Scope& solving = graph.step().repeat<double>(
        "solve", rr.at(0), [](double size) { return size < kTolerance * kTolerance; }, 400);
    const bool two = few_ != nullptr;
    if (two) {
        Task restrict = solving.task("restrict", *line);
        restrict.run([parts, r = restrict.need(r_), to = restrict.make(restricted_)](Here& here) {
            const Box box = here.cells();
            for (int a = 0; a < parts.vectors(here.patch); ++a) {
                double sum = 0;
                for (int k = 0; k < box.extent(0); ++k)
                    sum += parts.vector(here.patch, a, k) * here[r](box.lo[0] + k);
                here[to][a] = sum;
            }
        });
        Task coarse = solving.task("coarse problem", *few_);
        coarse.run([all = parts.coarse_unknowns(), c = coarse.need(restricted_, *all_),
                    f = coarse.need(factor), y = coarse.make(coarse_)](Here& here) {
            for (std::int64_t i = 0; i < here[y].size(); ++i) here[y][i] = here[c].all[i];
            strata::tests::solve(all, here[f], here[y]);
        });
    }
    Task precondition = solving.task("precondition", *line);
    const auto y = two ? precondition.need(coarse_, *back_) : ListUse<const double>{};
    precondition.run([=, r = precondition.need(r_), to = precondition.make(z_),
                      square = precondition.contribute(rr), sum = precondition.contribute(rz)](Here& here) {
        const int lo = here.cells().lo[0];
        std::vector<double> x(z(here.cells().extent(0)));
        each(here, [&](int i) { x[z(i - lo)] = here[r](i); });
        solve_alone(x);
        each(here, [&](int i) {
            for (int a = 0; a < parts.vectors(here.patch) && two; ++a)
                x[z(i - lo)] += here[y][a] * parts.vector(here.patch, a, i - lo);
            here[to](i) = x[z(i - lo)];
            here[square] += here[r](i) * here[r](i);
            here[sum] += here[r](i) * here[to](i);
        });
    });
    Task once = solving.once("coefficients");
    once.run([rz = once.need(rz), before = once.modify(before), beta = once.make(beta),
              count = once.make(rounds)](Here& here) {
        here[beta] = here.round == 0 ? 0 : here[rz] / here[before];
        here[before] = here[rz], here[count] = static_cast<double>(here.round);
    });
    Task direct = solving.task("direction", *line);
    direct.run([=, z = direct.need(z_), b = direct.need(beta), p = direct.modify(p_)](Here& here) {
        each(here, [&](int i) { here[p](i) = here[z](i) + here[b] * here[p](i); });
    });
    Task multiply = solving.task("multiply", *line);
    multiply.run([=, p = multiply.need(p_.at(1), ghosts({1, 0, 0})), q = multiply.make(q_),
                  sum = multiply.contribute(pq)](Here& here) {
        each(here, [&](int i) {
            here[q](i) = 2 * here[p](i) - (i > 0 ? here[p](i - 1) : 0) - (i < n - 1 ? here[p](i + 1) : 0);
            here[sum] += here[p](i) * here[q](i);
        });
    });
    Task advance = solving.task("advance", *line);
    advance.run([=, rz = advance.need(rz), pq = advance.need(pq), p = advance.need(p_.at(1)),
                 q = advance.need(q_), u = advance.modify(u), r = advance.modify(r_)](Here& here) {
        const double alpha = here[pq] > 0 ? here[rz] / here[pq] : 0;
        each(here, [&](int i) { here[u](i) += alpha * here[p](i), here[r](i) -= alpha * here[q](i); });
    });
}

}  // namespace strata::tests
