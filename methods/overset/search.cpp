// Donors: for each cell, in each other mesh, the cell between centres in which its centre lies.
//
// All patches know the boxes of all. A patch asks each patch of other meshes about its cells that lie in the
// box of that one, and gets the place in a donor, or none. Where the flow is periodic by rotation it asks for
// each place to which a turn takes its cell. Of several donors in a mesh the lowest zone, then
// the lowest index along k, j and i, is taken, whichever answer came first.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "methods/overset/parts.hpp"

namespace strata::overset {

using namespace graph;

namespace {

struct PlaceQuestion {
    Real3 x, foot;
    double reach;  // of the foot; 0: none
};
struct PlaceAnswer {
    Int3 base;
    std::int32_t found;
    double quality;
    Real3 xi;
};

/// A place counts as within a cell up to this share of it beyond its sides, so that none falls between two.
constexpr double kSlack = 1e-8;
/// Beside a border of its zone a cell between centres reaches out to the border: half a cell, and the slack.
constexpr double kOut = 0.5 + 1e-6;

/// The cells between centres of a patch, and who lies in them.
template <int Dim>
class Finder {
  public:
    Finder(const Donors& donors, const FieldView<const double>& centres,
           const FieldView<const double>& quality, const Box& cells)
        : donors_(donors), centres_(centres), quality_(quality), cells_(cells) {}

    /// The lowest one in which x lies; false: none. Those who ask one after the other are mostly neighbours,
    /// so the way from the last one is tried first. It ends in the same cell as the tree does: well inside a
    /// cell there is no other.
    bool find(const Real3& x, PlaceAnswer& answer) {
        std::int32_t best = walk(x, answer.xi);
        if (best < 0) {
            donors_.tree.meeting({x, x}, [&](const geometry::NumberedBox& box) {
                const std::int32_t n = box.number;
                if (best >= 0 && n > best) return;  // they are numbered along k, j and i
                Real3 xi;
                if (!invert<Dim>(corners(n), x, xi) || !within(n, xi)) return;
                best = n, answer.xi = xi;
            });
        }
        if (best < 0) return false;
        last_ = best;
        answer.base = donors_.base[z(best)], answer.found = 1;
        answer.quality = quality_at(answer.base, answer.xi);
        return true;
    }

  private:
    static constexpr int kSteps = 6;
    static constexpr double kInside = 1e-6;

    [[nodiscard]] Corners<Dim> corners(std::int32_t n) const {
        Corners<Dim> all;
        for (int c = 0; c < 1 << Dim; ++c)
            all[z(c)] = point_at(centres_, Dim, corner_of(donors_.base[z(n)], c));
        return all;
    }
    [[nodiscard]] bool within(std::int32_t n, const Real3& xi) const {
        for (std::size_t a = 0; a < Dim; ++a) {
            const double below = (donors_.open[z(n)] >> (2 * a) & 1) != 0 ? kOut : kSlack,
                         above = (donors_.open[z(n)] >> (2 * a + 1) & 1) != 0 ? kOut : kSlack;
            if (!(xi[a] >= -below && xi[a] <= 1 + above)) return false;
        }
        return true;
    }
    /// From the last one, a few steps towards x; -1 where that does not end well inside a cell.
    [[nodiscard]] std::int32_t walk(const Real3& x, Real3& xi) const {
        std::int32_t n = last_;
        for (int step = 0; step < kSteps && n >= 0; ++step) {
            if (!invert<Dim>(corners(n), x, xi)) return -1;
            Int3 next = donors_.base[z(n)];
            bool inside = true, there = true;
            for (std::size_t a = 0; a < Dim; ++a) {
                inside = inside && xi[a] > kInside && xi[a] < 1 - kInside;
                there = there && xi[a] >= 0 && xi[a] <= 1;
                next[a] += static_cast<int>(std::floor(xi[a]));
            }
            if (inside) return n;
            if (there) return -1;  // at its side: the tree decides
            n = donors_.at(next);
        }
        return -1;
    }
    /// The quality there: of the patch's own corners, as none of its neighbours' is known here.
    [[nodiscard]] double quality_at(const Int3& base, const Real3& xi) const {
        Real3 within = xi;
        for (double& at : within) at = std::clamp(at, 0.0, 1.0);
        const auto w = weights<Dim>(within);
        double sum = 0, all = 0;
        for (int c = 0; c < 1 << Dim; ++c) {
            const Int3 at = corner_of(base, c);
            if (!cells_.contains(at)) continue;
            sum += w[z(c)] * quality_(at[0], at[1], at[2]), all += w[z(c)];
        }
        const Int3 own{std::clamp(base[0], cells_.lo[0], cells_.hi[0] - 1),
                       std::clamp(base[1], cells_.lo[1], cells_.hi[1] - 1),
                       std::clamp(base[2], cells_.lo[2], cells_.hi[2] - 1)};
        return all > 1e-6 ? sum / all : quality_(own[0], own[1], own[2]);
    }

    const Donors& donors_;
    FieldView<const double> centres_, quality_;
    Box cells_;
    std::int32_t last_ = -1;
};

template <int Dim, class Asked, class Moved>
void answer_all(const Asked& asked, Finder<Dim> finder, Moved moved) {
    asked.each([&](const Request<PlaceQuestion, PlaceAnswer>& request) {
        PlaceAnswer found{};
        (void)finder.find(moved(request.question()), found);
        request.answer() = found;
    });
}

void begin(Parts& parts, Scope& scope) {
    const Problem& p = parts.p;
    Task task = scope.task(parts.named("others"), p.grid);
    const auto centres = p.centres(task);
    const auto boxes = task.need(parts.boxes);
    const auto work = task.modify(parts.work);
    task.run([=, &p](Here& here) {
        Work& w = here[work];
        std::vector<Bounds> around(p.turns.size());
        const auto x = centres(here);
        double reach = 0;
        for (const Work::Foot& foot : w.feet) reach = std::max(reach, foot.reach);
        for (std::size_t t = 0; t < p.turns.size(); ++t) {
            for_each(here.cells(), [&](int i, int j, int k) {
                around[t].add(turned(p.turns[t], point_at(x, p.dimensions, {i, j, k})));
            });
            for (std::size_t d = 0; d < 3; ++d) around[t].lo[d] -= reach, around[t].hi[d] += reach;
        }
        const int own = p.mesh[z(p.grid.zone_of(here.patch))];
        std::vector<std::vector<Bounds>> seen(p.turns.size());  // by turn and mesh
        for (std::size_t t = 0; t < p.turns.size(); ++t)
            for (const Rigid& by : p.seen_by_all(own, here.step)) seen[t].push_back(moved(around[t], by));
        for (int patch = 0; patch < p.grid.patches(); ++patch) {
            const int mesh = p.mesh[z(p.grid.zone_of(patch))];
            if (mesh == own) continue;
            const Bounds box = bounds_in(here[boxes], patch);
            for (std::size_t t = 0; t < p.turns.size(); ++t)
                if (box.meets(seen[t][z(mesh)]))
                    w.others.push_back({patch, mesh, static_cast<std::int32_t>(t), box});
        }
    });
}

void ask(Parts& parts, const Requests<PlaceQuestion, PlaceAnswer>& requests, Scope& rounds,
         Scalar<double> left) {
    Task task = rounds.task(parts.named("ask for donors"), parts.p.grid);
    const auto centres = parts.p.centres(task);
    const auto work = task.modify(parts.work);
    const auto count = task.contribute(left);
    task.run([=, &p = parts.p, asked = requests.ask(task)](Here& here) {
        Work& w = here[work];
        const auto x = centres(here);
        const auto asks = here[asked];
        const Box cells = here.cells();
        const int own = p.mesh[z(p.grid.zone_of(here.patch))];
        const std::vector<Rigid> seen = p.seen_by_all(own, here.step);
        w.asking.clear(), w.asked.clear();
        const bool all = ask_on(w, w.others.size(), w.is_hole.size(), [&](std::size_t other, std::size_t n) {
            if (w.is_hole[n] != 0) return true;
            const Work::Other& to = w.others[other];
            const Rotation& turn = p.turns[z(to.turn)];
            const auto cell = static_cast<std::int32_t>(n);
            const Real3 at = turned(turn, seen[z(to.mesh)](point_at(x, p.dimensions, cell_at(cells, cell))));
            Work::Foot foot = !w.feet.empty() && p.share(own, to.mesh) ? w.feet[n] : Work::Foot{};
            foot.x = turned(turn, foot.x);
            for (std::size_t d = 0; d < 3; ++d)
                if (!(at[d] >= to.box.lo[d] - foot.reach && at[d] <= to.box.hi[d] + foot.reach)) return true;
            if (!asks.add(to.patch, {at, foot.x, foot.reach})) return false;
            w.asking.push_back(cell);
            w.asked.push_back(static_cast<std::int32_t>(other));
            return true;
        });
        if (!all) here[count] = 1;
    });
}

void answer(Parts& parts, const Requests<PlaceQuestion, PlaceAnswer>& requests, Scope& rounds) {
    const Problem& p = parts.p;
    Task task = rounds.task(parts.named("search donors"), p.grid);
    const auto centres = p.centres(task);
    const auto quality = p.quality(task);
    const auto donors = task.need(parts.donors);
    ObjectUse<const Surface> walls;
    if (!p.shared.empty()) walls = task.need(parts.own_walls);
    task.run([=, dimensions = p.dimensions, some_shared = !p.shared.empty(),
              asked = requests.answer(task)](Here& here) {
        const auto x = centres(here), of = quality(here);
        const auto moved = [&](const PlaceQuestion& q) {
            return some_shared && q.reach > 0
                       ? over_shared_wall(here[walls], q.x, q.foot, q.reach).value_or(q.x)
                       : q.x;
        };
        if (dimensions == 2)
            answer_all(here[asked], Finder<2>(here[donors], x, of, here.cells()), moved);
        else
            answer_all(here[asked], Finder<3>(here[donors], x, of, here.cells()), moved);
    });
}

void take(Parts& parts, const Requests<PlaceQuestion, PlaceAnswer>& requests, Scope& rounds) {
    Task task = rounds.task(parts.named("take donors"), parts.p.grid);
    const auto work = task.modify(parts.work);
    task.run([=, &p = parts.p, answers = requests.answers(task)](Here& here) {
        Work& w = here[work];
        for (std::size_t n = 0; n < w.asking.size(); ++n) {
            const PlaceAnswer& said = here[answers][n];
            if (said.found == 0) continue;
            const Work::Other& other = w.others[z(w.asked[n])];
            w.candidates.push_back({w.asking[n], other.mesh, p.grid.zone_of(other.patch), other.patch,
                                    other.turn, said.base, said.quality, said.xi});
        }
    });
}

/// One donor in each mesh, the best one first; and how many are better than the cell itself.
void sort_candidates(Work& w, int own, const std::vector<double>& weight, const Box& cells,
                     const FieldView<const double>& quality) {
    const auto counts = [&weight](double of, int mesh) { return of * weight[z(mesh)]; };
    const auto place = [](const Candidate& c) {
        return std::tuple(c.cell, c.mesh, c.zone, c.base[2], c.base[1], c.base[0], c.turn);
    };
    std::sort(w.candidates.begin(), w.candidates.end(),
              [&](const Candidate& a, const Candidate& b) { return place(a) < place(b); });
    w.candidates.erase(std::unique(w.candidates.begin(), w.candidates.end(),
                                   [](const Candidate& a, const Candidate& b) {
                                       return a.cell == b.cell && a.mesh == b.mesh;
                                   }),
                       w.candidates.end());
    std::sort(w.candidates.begin(), w.candidates.end(), [&](const Candidate& a, const Candidate& b) {
        return std::tuple(a.cell, counts(a.quality, a.mesh), a.mesh) <
               std::tuple(b.cell, counts(b.quality, b.mesh), b.mesh);
    });
    const std::size_t count = w.is_hole.size();
    w.first.assign(count + 1, 0);
    w.better.assign(count, 0);
    w.candidate.assign(count, -1);
    std::size_t next = 0;
    for (std::size_t n = 0; n < count; ++n) {
        w.first[n] = static_cast<std::int32_t>(next);
        const Int3 at = cell_at(cells, static_cast<std::int32_t>(n));
        const double mine = counts(quality(at[0], at[1], at[2]), own);
        for (; next < w.candidates.size() && w.candidates[next].cell == static_cast<std::int32_t>(n);
             ++next) {
            const Candidate& c = w.candidates[next];
            // Cells of the same size but for rounding: the first mesh has it.
            const double scale = 1e-9 * std::abs(mine);
            const double other = counts(c.quality, c.mesh);
            if (other < mine - scale || (other <= mine + scale && c.mesh < own)) ++w.better[n];
        }
    }
    w.first[count] = static_cast<std::int32_t>(next);
}

}  // namespace

void declare_search(Parts& parts, const When& when) {
    Graph& graph = parts.graph;
    begin(parts, when.scope);
    const int most = static_cast<int>(std::clamp<std::int64_t>(parts.patch_cells / 4, 64, 8192));
    const Requests<PlaceQuestion, PlaceAnswer> requests(graph, parts.named("places"), parts.p.grid,
                                                        parts.p.grid, most);
    const auto left = graph.scalar<double>(parts.named("places left"), Reduce::sum);
    Scope& rounds = when.scope.repeat<double>(
        parts.named("search"), left, [](double n) { return n == 0; }, 1 << 20);
    ask(parts, requests, rounds, left);
    answer(parts, requests, rounds);
    take(parts, requests, rounds);

    Task task = when.scope.task(parts.named("candidates"), parts.p.grid);
    const auto quality = parts.p.quality(task);
    const auto work = task.modify(parts.work);
    task.run([=, &p = parts.p](Here& here) {
        Work& w = here[work];
        std::vector<double> weight(p.names.size(), 1);
        for (std::size_t m = 1; m < weight.size(); ++m) weight[m] = weight[m - 1] * p.lean;
        sort_candidates(w, p.mesh[z(p.grid.zone_of(here.patch))], weight, here.cells(), quality(here));
        w.others.clear(), w.asking.clear(), w.asked.clear(), w.feet.clear();
    });
}

}  // namespace strata::overset
