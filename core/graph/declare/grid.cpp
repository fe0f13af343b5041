// The owners of the values within a box: by arithmetic where patches have one size, by bins otherwise.
#include <algorithm>
#include <bit>
#include <cstdint>
#include <utility>

#include "core/graph/declare/family.hpp"

namespace strata::graph {
namespace {

int floor_div(int a, int b) { return a / b - (a % b != 0 && (a < 0) != (b < 0) ? 1 : 0); }

/// An owner along one axis: the patch's place, its periodic shift, and its values after the shift.
struct AxisPatch {
    int number, shift, lo, hi;
};

/// A list of owners that allocates only from the ninth on: most boxes meet three patches along an axis.
class AxisPatches {
  public:
    void add(const AxisPatch& hit) {
        if (count_ < here_.size())
            here_[count_] = hit;
        else {
            if (count_ == here_.size()) more_.assign(here_.begin(), here_.end());
            more_.push_back(hit);
        }
        ++count_;
    }
    [[nodiscard]] const AxisPatch* begin() const {
        return count_ <= here_.size() ? here_.data() : more_.data();
    }
    [[nodiscard]] const AxisPatch* end() const { return begin() + count_; }
    [[nodiscard]] std::size_t size() const { return count_; }

  private:
    std::array<AxisPatch, 8> here_{};
    std::size_t count_ = 0;
    std::vector<AxisPatch> more_;
};

/// One axis of a regular grid: `count` patches of `size` cells from `lo` to `hi`. The first patch's values
/// begin at `from` and the last one's end at `to`.
struct Axis {
    int lo, hi, size, count, from, to;
    bool periodic;

    [[nodiscard]] AxisPatch own(int number, int shift) const {
        const int at = lo + number * size;
        return {number, shift, (number == 0 ? from : at) + shift,
                (number == count - 1 ? to : at + size) + shift};
    }

    /// Adds the patches that meet first <= i < last, ordered by place and then by shift. Returns false where
    /// a patch is met with more than one shift.
    bool meet(int first, int last, AxisPatches& found_on_axis) const {
        if (first >= last) return true;
        if (!periodic) {
            first = std::max(first, from);
            last = std::min(last, to);
            if (first >= last) return true;
            const int a = (std::clamp(first, lo, hi - 1) - lo) / size;
            const int b = (std::clamp(last - 1, lo, hi - 1) - lo) / size;
            for (int p = a; p <= b; ++p) found_on_axis.add(own(p, 0));
            return true;
        }
        // The range goes from place a in period_a to place b in period_b.
        const int length = hi - lo;
        const int period_a = floor_div(first - lo, length), period_b = floor_div(last - 1 - lo, length);
        const int a = (first - lo - period_a * length) / size, b = (last - 1 - lo - period_b * length) / size;
        if (period_a == period_b) {
            for (int p = a; p <= b; ++p) found_on_axis.add(own(p, period_a * length));
            return true;
        }
        if (period_b == period_a + 1 && b < a) {
            for (int p = 0; p <= b; ++p) found_on_axis.add(own(p, period_b * length));
            for (int p = a; p < count; ++p) found_on_axis.add(own(p, period_a * length));
            return true;
        }
        for (int p = 0; p < count; ++p)
            for (int k = p >= a ? period_a : period_a + 1; k <= (p <= b ? period_b : period_b - 1); ++k)
                found_on_axis.add(own(p, k * length));
        return false;
    }
};

bool earlier(const Grid::Meeting& a, const Grid::Meeting& b) {
    return a.patch != b.patch ? a.patch < b.patch : a.shift < b.shift;
}

/// Spreads the lowest 21 bits, with two zeros between neighbours.
std::uint64_t spread(std::uint64_t bits) {
    bits &= 0x1fffff;
    bits = (bits | bits << 32) & 0x001f00000000ffff;
    bits = (bits | bits << 16) & 0x001f0000ff0000ff;
    bits = (bits | bits << 8) & 0x100f00f00f00f00f;
    bits = (bits | bits << 4) & 0x10c30c30c30c30c3;
    return (bits | bits << 2) & 0x1249249249249249;
}

}  // namespace

std::vector<Grid::Meeting> Grid::owners(const Box& box, On on, const Int3& border) const {
    std::vector<Meeting> found;
    find_owners(box, on, border, found);
    return found;
}

void Grid::find_owners_in(int /*zone*/, const Box& box, On on, const Int3& border,
                          std::vector<Meeting>& found) const {
    found.clear();
    if (box.empty()) return;
    if (regular())
        find_regular(box, on, border, found);
    else
        find_irregular(box, on, border, found);
}

void Grid::find_regular(const Box& box, On on, const Int3& border, std::vector<Meeting>& found) const {
    const Box all = owned_by(shape_.cells, on, border);
    std::array<AxisPatches, 3> found_on_axis;
    bool ordered = true;
    for (std::size_t a = 0; a < 3; ++a) {
        const Axis axis{shape_.cells.lo[a], shape_.cells.hi[a], shape_.patch_cells[a], counts_[a],
                        all.lo[a],          all.hi[a],          shape_.periodic[a]};
        // The loops below give patches in the order of their numbers, each with its shifts in order. Several
        // shifts along x keep that order, since x is the innermost loop. Several along y or z do not.
        if (!axis.meet(box.lo[a], box.hi[a], found_on_axis[a]) && a > 0) ordered = false;
    }
    found.reserve(found_on_axis[0].size() * found_on_axis[1].size() * found_on_axis[2].size());
    // Written in place: to copy a Meeting right after it was written takes as long as all the rest.
    for (const AxisPatch& z : found_on_axis[2])
        for (const AxisPatch& y : found_on_axis[1])
            for (const AxisPatch& x : found_on_axis[0]) {
                Meeting& met = found.emplace_back();
                met.patch = x.number + counts_[0] * (y.number + counts_[1] * z.number);
                met.shift = {x.shift, y.shift, z.shift};
                met.box = common(box, {{x.lo, y.lo, z.lo}, {x.hi, y.hi, z.hi}});
            }
    if (!ordered) std::sort(found.begin(), found.end(), earlier);
}

void Grid::find_irregular(const Box& box, On on, const Int3& border, std::vector<Meeting>& found) const {
    const Box all = owned_by(shape_.cells, on, border);
    // The box may reach into several periods. Each is searched by itself, with indices within the domain.
    Int3 first{}, last{}, length{};
    for (std::size_t a = 0; a < 3; ++a) {
        if (!shape_.periodic[a]) continue;
        length[a] = shape_.cells.extent(static_cast<int>(a));
        first[a] = floor_div(box.lo[a] - shape_.cells.lo[a], length[a]);
        last[a] = floor_div(box.hi[a] - 1 - shape_.cells.lo[a], length[a]);
    }
    Int3 k;
    for (k[2] = first[2]; k[2] <= last[2]; ++k[2])
        for (k[1] = first[1]; k[1] <= last[1]; ++k[1])
            for (k[0] = first[0]; k[0] <= last[0]; ++k[0]) {
                const Int3 shift{k[0] * length[0], k[1] * length[1], k[2] * length[2]};
                const Box asked = common(box.shifted({-shift[0], -shift[1], -shift[2]}), all);
                if (asked.empty()) continue;
                const Box bins = bins_of(asked);
                for (int z = bins.lo[2]; z < bins.hi[2]; ++z)
                    for (int y = bins.lo[1]; y < bins.hi[1]; ++y)
                        for (int x = bins.lo[0]; x < bins.hi[0]; ++x) {
                            const auto bin = static_cast<std::size_t>(
                                x + bins_.counts[0] * (y + std::int64_t{bins_.counts[1]} * z));
                            for (auto i = bins_.first[bin]; i < bins_.first[bin + 1]; ++i) {
                                const int patch = bins_.patches[static_cast<std::size_t>(i)];
                                const Box met = common(asked, owned(patch, on, border));
                                // A patch may lie in several bins. Only the bin in which the intersection
                                // begins counts it.
                                if (!met.empty() && bins_of(met).lo == Int3{x, y, z})
                                    found.push_back({patch, shift, met.shifted(shift)});
                            }
                        }
            }
    std::sort(found.begin(), found.end(), earlier);
}

/// The bins that hold these values. Values beyond the domain belong to the bins at its border.
Box Grid::bins_of(const Box& values) const {
    Box bins;
    for (std::size_t a = 0; a < 3; ++a) {
        const int lo = shape_.cells.lo[a], most = shape_.cells.hi[a] - 1;
        bins.lo[a] = (std::clamp(values.lo[a], lo, most) - lo) / bins_.size[a];
        bins.hi[a] = (std::clamp(values.hi[a] - 1, lo, most) - lo) / bins_.size[a] + 1;
    }
    return bins;
}

void Grid::make_bins() {
    // A bin is as large as a mean patch, so a patch lies in few bins and a bin has few patches. In a domain
    // that is mostly empty bins are larger, so that there are not many more bins than patches.
    const auto patches = static_cast<std::int64_t>(boxes_.size());
    for (std::size_t a = 0; a < 3; ++a) {
        std::int64_t cells = 0;
        for (const Box& box : boxes_) cells += box.extent(static_cast<int>(a));
        bins_.size[a] = static_cast<int>((cells + patches - 1) / patches);
    }
    for (;;) {
        double bins = 1;
        for (std::size_t a = 0; a < 3; ++a) {
            bins_.counts[a] = (shape_.cells.extent(static_cast<int>(a)) - 1) / bins_.size[a] + 1;
            bins *= bins_.counts[a];
        }
        if (bins <= 8.0 * static_cast<double>(patches) + 64) break;
        const auto longest = static_cast<std::size_t>(
            std::max_element(bins_.counts.begin(), bins_.counts.end()) - bins_.counts.begin());
        bins_.size[longest] *= 2;
    }
    const auto all =
        static_cast<std::size_t>(std::int64_t{bins_.counts[0]} * bins_.counts[1] * bins_.counts[2]);
    const auto each_bin = [&](const Box& box, auto&& what) {
        const Box bins = bins_of(box);
        for (int z = bins.lo[2]; z < bins.hi[2]; ++z)
            for (int y = bins.lo[1]; y < bins.hi[1]; ++y)
                for (int x = bins.lo[0]; x < bins.hi[0]; ++x)
                    what(static_cast<std::size_t>(x +
                                                  bins_.counts[0] * (y + std::int64_t{bins_.counts[1]} * z)));
    };
    bins_.first.assign(all + 1, 0);
    for (const Box& box : boxes_) each_bin(box, [&](std::size_t bin) { ++bins_.first[bin + 1]; });
    for (std::size_t bin = 0; bin < all; ++bin) bins_.first[bin + 1] += bins_.first[bin];
    bins_.patches.resize(static_cast<std::size_t>(bins_.first[all]));
    std::vector<std::int32_t> next(bins_.first.begin(), bins_.first.end() - 1);
    for (std::size_t p = 0; p < boxes_.size(); ++p)
        each_bin(boxes_[p], [&](std::size_t bin) {
            bins_.patches[static_cast<std::size_t>(next[bin]++)] = static_cast<std::int32_t>(p);
        });
}

std::vector<int> Grid::order() const {
    std::vector<std::pair<std::uint64_t, int>> places(static_cast<std::size_t>(patches()));
    // Irregular patches are placed by their centres, in eighths of a mean patch. Each direction has 21 bits;
    // where they are not enough the lowest bits are dropped.
    std::array<std::uint64_t, 3> unit{1, 1, 1};
    std::array<int, 3> drop{};
    for (std::size_t a = 0; a < 3; ++a) {
        auto most = static_cast<std::uint64_t>(counts_[a]);
        if (!regular()) {
            unit[a] = static_cast<std::uint64_t>(bins_.size[a]);
            most = static_cast<std::uint64_t>(shape_.cells.extent(static_cast<int>(a))) * 8 / unit[a];
        }
        drop[a] = std::max(0, static_cast<int>(std::bit_width(most)) - 21);
    }
    for (int p = 0; p < patches(); ++p) {
        const Box cells = box(p);
        std::uint64_t number = 0;
        for (std::size_t a = 0; a < 3; ++a) {
            const auto at = regular() ? static_cast<std::uint64_t>(cells.lo[a] - shape_.cells.lo[a]) /
                                            static_cast<std::uint64_t>(shape_.patch_cells[a])
                                      : static_cast<std::uint64_t>(std::int64_t{cells.lo[a]} + cells.hi[a] -
                                                                   2 * std::int64_t{shape_.cells.lo[a]}) *
                                            4 / unit[a];
            number |= spread(at >> drop[a]) << a;
        }
        places[static_cast<std::size_t>(p)] = {number, p};
    }
    std::sort(places.begin(), places.end());
    std::vector<int> order(places.size());
    std::transform(places.begin(), places.end(), order.begin(),
                   [](const auto& number) { return number.second; });
    return order;
}

std::vector<int> Grid::neighbours(int patch) const {
    std::vector<int> near;
    if (regular()) {
        near.reserve(6);
        const Int3 stride{1, counts_[0], counts_[0] * counts_[1]};
        for (std::size_t a = 0; a < 3; ++a) {
            const int at = patch / stride[a] % counts_[a], around = (counts_[a] - 1) * stride[a];
            if (at > 0 || shape_.periodic[a]) near.push_back(at > 0 ? patch - stride[a] : patch + around);
            if (at + 1 < counts_[a] || shape_.periodic[a])
                near.push_back(at + 1 < counts_[a] ? patch + stride[a] : patch - around);
        }
    } else {
        const Box cells = box(patch);
        std::vector<Meeting> met;
        for (std::size_t a = 0; a < 3; ++a) {
            Int3 one{};
            one[a] = 1;
            find_owners(cells.grown(one), On::cells, {}, met);
            for (const Meeting& m : met) near.push_back(m.patch);
        }
    }
    std::sort(near.begin(), near.end());
    near.erase(std::unique(near.begin(), near.end()), near.end());
    near.erase(std::remove(near.begin(), near.end(), patch), near.end());
    return near;
}

}  // namespace strata::graph
