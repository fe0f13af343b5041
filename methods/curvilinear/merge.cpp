#include "methods/curvilinear/merge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "core/base/error.hpp"

namespace strata::flow {

namespace {

class MergedSource final : public GridSource {
  public:
    void add(const std::string& name, std::shared_ptr<const GridSource> source) {
        int origins = 0;
        for (const ZoneShape& shape : shapes_) origins = std::max(origins, shape.origin + 1);
        int number = 0;
        for (ZoneShape shape : source->zones()) {
            shape.name = shape.name.empty() ? name : name + " " + shape.name;
            shape.origin += origins;
            shapes_.push_back(shape);
            places_.emplace_back(sources_.size(), number++);
        }
        sources_.push_back(std::move(source));
    }
    [[nodiscard]] std::span<const ZoneShape> zones() const override { return shapes_; }
    [[nodiscard]] int dimensions() const override { return sources_.front()->dimensions(); }
    void nodes(int zone, const Box& nodes, double* x) const override {
        const auto& [source, number] = places_[static_cast<std::size_t>(zone)];
        sources_[source]->nodes(number, nodes, x);
    }
    void blanks(int zone, const Box& nodes, std::int32_t* blank) const override {
        const auto& [source, number] = places_[static_cast<std::size_t>(zone)];
        sources_[source]->blanks(number, nodes, blank);
    }
    [[nodiscard]] bool has_blanks() const override {
        for (const auto& source : sources_)
            if (source->has_blanks()) return true;
        return false;
    }

  private:
    std::vector<std::shared_ptr<const GridSource>> sources_;
    std::vector<ZoneShape> shapes_;
    std::vector<std::pair<std::size_t, int>> places_;  // [zone] its source, and its number there
};

}  // namespace

GridSystem merged(std::vector<NamedGrid> grids) {
    GridSystem all;
    const auto source = std::make_shared<MergedSource>();
    all.dimensions = grids.front().grid.dimensions;
    int first = 0, mesh = 0;
    for (NamedGrid& one : grids) {
        GridSystem& grid = one.grid;
        if (grid.dimensions != all.dimensions)
            throw Error(fmt::format("mesh '{}' has another number of dimensions than mesh '{}'", one.name,
                                    grids[0].name))
                .given(fmt::format("{} dimensions", grid.dimensions))
                .allowed(fmt::format("{}", all.dimensions))
                .remedy(
                    fmt::format("mesh.{0}.dimensions = 2 where the file is one cell across; else the grid of "
                                "either mesh is another one",
                                grid.dimensions == 3 ? one.name : grids[0].name));
        for (BoundaryRange& range : grid.boundaries) {
            range.zone += first;
            range.name = one.name + "-" + range.name;
            all.boundaries.push_back(std::move(range));
        }
        for (JoinRange& join : grid.joins) {
            join.zone += first, join.donor += first;
            all.joins.push_back(join);
        }
        for (const std::string& note : grid.notes) all.notes.push_back(one.name + ": " + note);
        for (const std::string& note : grid.turned) all.turned.push_back(one.name + ": " + note);
        const auto zones = static_cast<int>(grid.source->zones().size());
        all.mesh.insert(all.mesh.end(), static_cast<std::size_t>(zones), mesh++);
        source->add(one.name, std::move(grid.source));
        first += zones;
    }
    all.source = source;
    return all;
}

}  // namespace strata::flow
