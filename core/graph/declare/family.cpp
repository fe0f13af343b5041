#include "core/graph/declare/family.hpp"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "core/base/error.hpp"
#include "core/base/figures.hpp"

namespace strata::graph {
namespace {

constexpr int kFarthest = 1 << 30;

std::string text(const Box& box) {
    return fmt::format("[{},{}) x [{},{}) x [{},{})", box.lo[0], box.hi[0], box.lo[1], box.hi[1], box.lo[2],
                       box.hi[2]);
}

int count_patches(const std::string& name, const GridShape& shape) {
    std::int64_t all = 1;
    for (std::size_t a = 0; a < 3; ++a) {
        if (shape.patch_cells[a] < 1)
            throw Error(fmt::format("grid '{}': a patch has no cells along {}", name, "xyz"[a]))
                .given(fmt::format("patch_cells = {}", shape.patch_cells[a]))
                .allowed("1 or more");
        const std::int64_t cells = std::int64_t{shape.cells.hi[a]} - shape.cells.lo[a];
        all *= std::max<std::int64_t>(0, (cells + shape.patch_cells[a] - 1) / shape.patch_cells[a]);
        if (all > std::numeric_limits<int>::max())
            throw Error(fmt::format("grid '{}' has too many patches", name))
                .given(fmt::format("patches of {} x {} x {} cells", shape.patch_cells[0],
                                   shape.patch_cells[1], shape.patch_cells[2]))
                .allowed(fmt::format("up to {}", std::numeric_limits<int>::max()))
                .remedy("fewer cells, or larger patches (grid.patch of a case)");
    }
    return static_cast<int>(all);
}

}  // namespace

std::vector<int> Family::order() const {
    std::vector<int> all(static_cast<std::size_t>(patches_));
    std::iota(all.begin(), all.end(), 0);
    return all;
}

std::vector<int> Family::neighbours(int) const { return {}; }

Grid::Grid(std::string name, const GridShape& shape)
    : Family(name, count_patches(name, shape)), shape_(shape) {
    check_shape();
    for (std::size_t a = 0; a < 3; ++a)
        counts_[a] = (shape.cells.extent(static_cast<int>(a)) - 1) / shape.patch_cells[a] + 1;
}

Grid::Grid(std::string name, const GridShape& shape, std::vector<Box> boxes)
    : Family(std::move(name), static_cast<int>(boxes.size())), shape_(shape), boxes_(std::move(boxes)) {
    check_shape();
    if (boxes_.empty())
        throw Error(fmt::format("grid '{}' has no patches", this->name())).allowed("one box or more");
    for (std::size_t p = 0; p < boxes_.size(); ++p) {
        if (boxes_[p].empty())
            throw Error(fmt::format("grid '{}': patch {} has no cells", this->name(), p))
                .given(text(boxes_[p]))
                .allowed("hi > lo in each direction");
        if (!shape_.cells.contains(boxes_[p]))
            throw Error(fmt::format("grid '{}': patch {} lies outside the domain", this->name(), p))
                .given(text(boxes_[p]))
                .allowed("within " + text(shape_.cells));
    }
    make_bins();
    check_apart();
}

void Grid::check_shape() const {
    for (std::size_t a = 0; a < 3; ++a) {
        if (shape_.cells.lo[a] >= shape_.cells.hi[a])
            throw Error(fmt::format("grid '{}' has no cells along {}", name(), "xyz"[a]))
                .given(text(shape_.cells))
                .allowed("hi > lo in each direction")
                .remedy("a direction that is not there has the one index 0: lo = 0, hi = 1");
        if (shape_.cells.lo[a] < -kFarthest || shape_.cells.hi[a] > kFarthest)
            throw Error(fmt::format("grid '{}' has indices that are too large along {}", name(), "xyz"[a]))
                .given(text(shape_.cells))
                .allowed(fmt::format("{} to {}", -kFarthest, kFarthest));
        if (!(shape_.spacing[a] > 0) || !std::isfinite(shape_.spacing[a]))
            throw Error(fmt::format("grid '{}': the spacing along {} is no length", name(), "xyz"[a]))
                .given(fmt::format("{}", without_nan_sign(shape_.spacing[a])))
                .allowed("a finite number above 0")
                .remedy("the spacing is the size of the domain over its number of cells");
    }
}

void Grid::check_apart() const {
    std::vector<Meeting> met;
    for (int p = 0; p < patches(); ++p) {
        find_owners(box(p), On::cells, {}, met);
        for (const Meeting& m : met)
            if (m.patch != p)
                throw Error(fmt::format("grid '{}': patches {} and {} overlap", name(), std::min(p, m.patch),
                                        std::max(p, m.patch)))
                    .given(text(box(std::min(p, m.patch))) + " and " + text(box(std::max(p, m.patch))))
                    .allowed("boxes without a common cell");
    }
}

Box Grid::box(int patch) const {
    if (!regular()) return boxes_[static_cast<std::size_t>(patch)];
    const auto [nx, ny, nz] = counts_;
    const int row = patch / nx;
    const Int3 at{patch - row * nx, row % ny, row / ny};
    Box cells;
    for (std::size_t a = 0; a < 3; ++a) {
        cells.lo[a] = shape_.cells.lo[a] + at[a] * shape_.patch_cells[a];
        // The last patch may be smaller. The minimum is taken of sizes and not of ends, since lo +
        // patch_cells may overflow: patch_cells may be as large as an int can be.
        cells.hi[a] = cells.lo[a] + std::min(shape_.patch_cells[a], shape_.cells.hi[a] - cells.lo[a]);
    }
    return cells;
}

Box Grid::owned_in(int /*zone*/, const Box& cells, On on, const Int3& border) const {
    Box values = cells;
    for (std::size_t a = 0; a < 3; ++a) {
        if (shape_.periodic[a]) continue;
        if (cells.lo[a] == shape_.cells.lo[a]) values.lo[a] -= border[a];
        if (cells.hi[a] == shape_.cells.hi[a]) values.hi[a] += border[a] + (on_sides(on, a) ? 1 : 0);
    }
    return values;
}

Box Grid::extent_in(int zone, On on, const Int3& border) const {
    Box all = owned_in(zone, shape_.cells, on, border);
    for (std::size_t a = 0; a < 3; ++a) {
        if (!shape_.periodic[a]) continue;
        all.lo[a] = -kFarthest;
        all.hi[a] = kFarthest;
    }
    return all;
}

bool Grid::is_flat(int axis) const {
    return shape_.cells.extent(axis) == 1 && !shape_.periodic[static_cast<std::size_t>(axis)];
}

int Grid::widest(int axis) const {
    if (regular()) return box(0).extent(axis);  // the last one of a direction may be smaller
    int most = 0;
    for (const Box& box : boxes_) most = std::max(most, box.extent(axis));
    return most;
}

bool Grid::at_border(int patch, int axis, int upper) const {
    const auto a = static_cast<std::size_t>(axis);
    if (shape_.periodic[a]) return false;
    const Box cells = box(patch);
    return upper != 0 ? cells.hi[a] == shape_.cells.hi[a] : cells.lo[a] == shape_.cells.lo[a];
}

}  // namespace strata::graph
