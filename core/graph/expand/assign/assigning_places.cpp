// The place of every patch along one curve through all families.
#include <algorithm>
#include <optional>

#include "core/balance/space_curve.hpp"
#include "core/graph/expand/assign/assigning.hpp"

namespace strata::graph::detail {

namespace {

using balance::Point;

std::size_t z(int number) { return static_cast<std::size_t>(number); }

/// The position of cell index 0 and the size of a cell, in units that all grids share.
struct Frame {
    Point origin{};
    Point spacing{1, 1, 1};
};

/// As the grids' shapes have it; but where Overlap relations say how cells lie to each other, as these say:
/// many a program leaves the spacing of its levels at 1.
VectorBy<FamilyId, std::optional<Frame>> frames(const Graph& graph) {
    VectorBy<FamilyId, std::optional<Frame>> all(graph.families().size());
    const auto follow = [&] {  // from the frames that there are
        for (bool more = true; more;) {
            more = false;
            for (const auto& relation : graph.relations()) {
                const auto* overlap = dynamic_cast<const Overlap*>(relation.get());
                if (overlap == nullptr) continue;
                auto& source = all[number_of(graph, overlap->source())];
                auto& target = all[number_of(graph, overlap->target())];
                if (source.has_value() == target.has_value()) continue;
                const double ratio = overlap->ratio();
                const bool target_finer = overlap->level() == Overlap::Level::source_coarser;
                Frame next = source ? *source : *target;
                for (double& size : next.spacing)
                    size = source.has_value() == target_finer ? size / ratio : size * ratio;
                (source ? target : source) = next;
                more = true;
            }
        }
    };
    for (const FamilyId f : graph.families().ids()) {
        const auto* grid = dynamic_cast<const Grid*>(graph.families()[f].get());
        if (all[f] || grid == nullptr || grid->zones() > 1) continue;
        all[f] = Frame{grid->shape().origin, grid->shape().spacing};
        follow();
    }
    return all;
}

using Points = std::vector<std::optional<Point>>;  // [number]

Points points_of_grids(const Graph& graph) {
    Points points;
    const auto frame = frames(graph);
    for (const FamilyId f : graph.families().ids())
        for (int p = 0; p < graph.families()[f]->patches(); ++p) {
            auto& at = points.emplace_back();
            if (!frame[f]) continue;
            const auto& grid = static_cast<const Grid&>(*graph.families()[f]);
            const Box cells = grid.box(p);
            at = Point{};
            for (std::size_t a = 0; a < 3; ++a)
                if (!grid.is_flat(static_cast<int>(a)))
                    (*at)[a] = frame[f]->origin[a] + 0.5 * (cells.lo[a] + cells.hi[a]) * frame[f]->spacing[a];
        }
    return points;
}

/// Patches without a position get the mean of those that they exchange values with, by bytes; then the ones
/// that exchange values with these, and so on.
void follow_transfers(const std::vector<Transfer>& transfers, Points& points) {
    struct Mean {
        Point sum{};
        double bytes = 0;
    };
    for (bool more = true; more;) {
        std::vector<Mean> means(points.size());
        const auto add = [&](int without, int with, double bytes) {
            if (points[z(without)] || !points[z(with)]) return;
            Mean& mean = means[z(without)];
            for (std::size_t a = 0; a < 3; ++a) mean.sum[a] += bytes * (*points[z(with)])[a];
            mean.bytes += bytes;
        };
        for (const Transfer& one : transfers)
            add(one.from, one.to, one.bytes), add(one.to, one.from, one.bytes);
        more = false;
        for (std::size_t i = 0; i < points.size(); ++i) {
            if (means[i].bytes <= 0) continue;
            for (double& x : means[i].sum) x /= means[i].bytes;
            points[i] = means[i].sum;
            more = true;
        }
    }
}

}  // namespace

std::vector<double> places_along(const Graph& graph, const PatchCosts& costs,
                                 const std::vector<Transfer>& transfers) {
    Points points = points_of_grids(graph);
    follow_transfers(transfers, points);
    std::vector<double> cost;
    for (const auto& family : costs) cost.insert(cost.end(), family.begin(), family.end());
    std::vector<double> places(points.size(), 0.5);
    // The middle of each patch in the costs of a sequence, as a part of the sequence.
    const auto lay = [&](const std::vector<int>& sequence) {
        double all = 0, before = 0;
        for (const int i : sequence) all += cost[z(i)];
        for (const int i : sequence) {
            if (all > 0) places[z(i)] = (before + 0.5 * cost[z(i)]) / all;
            before += cost[z(i)];
        }
    };
    std::vector<int> positioned;
    std::vector<Point> at;
    for (std::size_t i = 0; i < points.size(); ++i)
        if (points[i]) positioned.push_back(static_cast<int>(i)), at.push_back(*points[i]);
    std::vector<int> sequence;
    for (const int i : balance::hilbert_order(at)) sequence.push_back(positioned[z(i)]);
    lay(sequence);
    int first = 0;
    for (const auto& family : graph.families()) {
        sequence.clear();
        for (const int patch : family->order())
            if (!points[z(first + patch)]) sequence.push_back(first + patch);
        lay(sequence);
        first += family->patches();
    }
    return places;
}

}  // namespace strata::graph::detail
