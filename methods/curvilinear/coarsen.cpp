#include "methods/curvilinear/coarsen.hpp"

#include <fmt/format.h>

#include <utility>

#include "core/base/error.hpp"
#include "methods/curvilinear/ranges.hpp"

namespace strata::flow {

namespace {

class CoarseGrid final : public GridSource {
  public:
    CoarseGrid(std::shared_ptr<const GridSource> fine, int factor) : fine_(std::move(fine)), factor_(factor) {
        for (const ZoneShape& of : fine_->zones()) {
            ZoneShape shape = of;
            for (std::size_t a = 0; a < static_cast<std::size_t>(dimensions()); ++a) {
                if (of.cells[a] % factor != 0)
                    throw Error(fmt::format("a grid of every {}{} node cannot be made", factor,
                                            factor == 2 ? "nd" : "th"))
                        .given(fmt::format("{} cells along {} of {}", of.cells[a],
                                           axis_text(*fine_, static_cast<int>(zones_.size()), a),
                                           zone_text(*fine_, static_cast<int>(zones_.size()))))
                        .allowed(fmt::format("multiples of {}", factor))
                        .remedy(
                            "less in grid.coarsen (mesh.NAME.coarsen), time.sequence or time.multigrid; or a "
                            "grid with such numbers of cells");
                shape.cells[a] /= factor;
                shape.first[a] /= factor;
            }
            zones_.push_back(std::move(shape));
        }
    }

    [[nodiscard]] std::span<const ZoneShape> zones() const override { return zones_; }
    [[nodiscard]] int dimensions() const override { return fine_->dimensions(); }
    [[nodiscard]] bool has_blanks() const override { return fine_->has_blanks(); }

    /// Line by line: a box of the fine grid would be up to factor^3 times as large.
    void nodes(int zone, const Box& nodes, double* x) const override {
        const std::int64_t count = nodes.volume();
        const int fine = factor_ * (nodes.extent(0) - 1) + 1;
        std::vector<double> line(static_cast<std::size_t>(fine) * static_cast<std::size_t>(dimensions()));
        each_line(nodes, [&](const Box& of_fine, std::int64_t first) {
            fine_->nodes(zone, of_fine, line.data());
            for (int d = 0; d < dimensions(); ++d)
                for (int i = 0; i < nodes.extent(0); ++i)
                    x[d * count + first + i] = line[static_cast<std::size_t>(d * fine + i * factor_)];
        });
    }
    void blanks(int zone, const Box& nodes, std::int32_t* blank) const override {
        std::vector<std::int32_t> line(static_cast<std::size_t>(factor_ * (nodes.extent(0) - 1) + 1));
        each_line(nodes, [&](const Box& of_fine, std::int64_t first) {
            fine_->blanks(zone, of_fine, line.data());
            for (int i = 0; i < nodes.extent(0); ++i)
                blank[first + i] = line[static_cast<std::size_t>(i * factor_)];
        });
    }

  private:
    /// `with(box, n)`: the fine line of nodes, and where its first node is stored.
    template <class With>
    void each_line(const Box& nodes, With&& with) const {
        std::int64_t n = 0;
        const int up = dimensions() == 3 ? factor_ : 1;
        for (int k = nodes.lo[2]; k < nodes.hi[2]; ++k)
            for (int j = nodes.lo[1]; j < nodes.hi[1]; ++j, n += nodes.extent(0))
                with(Box{{factor_ * nodes.lo[0], factor_ * j, up * k},
                         {factor_ * (nodes.hi[0] - 1) + 1, factor_ * j + 1, up * k + 1}},
                     n);
    }

    std::shared_ptr<const GridSource> fine_;
    int factor_;
    std::vector<ZoneShape> zones_;
};

/// Of ranges of faces; `what`: for the message.
Points coarse(const GridSystem& fine, int factor, int zone, const Points& points, const std::string& what) {
    Points found = points;
    for (std::size_t a = 0; a < static_cast<std::size_t>(fine.dimensions); ++a) {
        if (points.begin[a] % factor != 0 || points.end[a] % factor != 0)
            throw Error(what + " ends between the nodes of a coarser grid")
                .given(fmt::format("nodes {} of {}", range_text(*fine.source, zone, points),
                                   zone_text(*fine.source, zone)))
                .allowed(fmt::format("along {} node 1 and multiples of {} further",
                                     axis_text(*fine.source, zone, a), factor));
        found.begin[a] /= factor, found.end[a] /= factor;
    }
    return found;
}

}  // namespace

GridSystem coarsened(const GridSystem& fine, int factor) {
    GridSystem made = fine;
    made.source = std::make_shared<CoarseGrid>(fine.source, factor);
    for (BoundaryRange& range : made.boundaries)
        range.points = coarse(fine, factor, range.zone, range.points, "boundary " + range.name);
    for (JoinRange& join : made.joins) {
        join.points = coarse(fine, factor, join.zone, join.points, "a join");
        join.donor_points = coarse(fine, factor, join.donor, join.donor_points, "a join");
    }
    return made;
}

}  // namespace strata::flow
