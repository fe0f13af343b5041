#include "core/run/driver/grid_values.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <tuple>

#include "core/graph/expand/plan.hpp"

namespace strata::graph {

namespace {

constexpr std::size_t kRow = std::size_t{8} << 20;  // bytes of patches that are written together

/// Patches of a zone (places in `mine`) that lie side by side in x. Their rows are joined, which makes fewer
/// writes.
std::vector<std::vector<std::size_t>> rows_of(const Grid& grid, int zone, const std::vector<int>& mine,
                                              std::size_t bytes_of_value) {
    const auto box = [&](std::size_t i) { return grid.box(mine[i]); };
    const auto key = [](const Box& b) { return std::tuple(b.lo[2], b.hi[2], b.lo[1], b.hi[1], b.lo[0]); };
    std::vector<std::size_t> order;
    for (std::size_t i = 0; i < mine.size(); ++i)
        if (grid.zone_of(mine[i]) == zone) order.push_back(i);
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return key(box(a)) < key(box(b)); });
    std::vector<std::vector<std::size_t>> rows;
    std::size_t bytes = 0;
    Box last;
    for (const std::size_t i : order) {
        const Box next = box(i);
        const bool beside = !rows.empty() && last.hi[0] == next.lo[0] && last.lo[1] == next.lo[1] &&
                            last.hi[1] == next.hi[1] && last.lo[2] == next.lo[2] && last.hi[2] == next.hi[2];
        const std::size_t own = static_cast<std::size_t>(next.volume()) * bytes_of_value;
        if (!beside || bytes + own > kRow) {
            rows.emplace_back();
            bytes = 0;
        }
        rows.back().push_back(i);
        bytes += own;
        last = next;
    }
    return rows;
}

/// The part of a patch's values in `box`; `values` holds the label's whole patch, in a type of so many bytes.
FieldFile::Part part_of(const Grid& grid, const LabelInfo& label, int patch, const Box& box,
                        const std::vector<std::byte>& values, std::size_t bytes) {
    const Box all = grid.owned(patch, label.on, label.border);
    const std::ptrdiff_t y = all.extent(0), z = y * all.extent(1);
    const std::ptrdiff_t first =
        (box.lo[0] - all.lo[0]) + (box.lo[1] - all.lo[1]) * y + (box.lo[2] - all.lo[2]) * z;
    return {box, values.data() + first * static_cast<std::ptrdiff_t>(bytes), y, z,
            static_cast<std::ptrdiff_t>(all.volume())};
}

/// Nodes and faces on a periodic border are the same as on the opposite border, so they are written there,
/// too.
void write_images(FieldFile& file, const GridArray& array, const Grid& grid, const LabelInfo& label,
                  int patch, const std::vector<std::byte>& values) {
    if (label.on == On::cells) return;
    const Box own = grid.owned(patch, label.on);
    const Box& domain = grid.shape().cells;
    for (int images = 1; images < 8; ++images) {
        Box from = own, to = own;
        bool there = true;
        for (std::size_t a = 0; a < 3; ++a) {
            if (((images >> a) & 1) == 0) continue;
            there = there && on_sides(label.on, a) && grid.shape().periodic[a] && own.lo[a] == domain.lo[a];
            from.hi[a] = from.lo[a] + 1;
            to.lo[a] = domain.hi[a];
            to.hi[a] = domain.hi[a] + 1;
        }
        if (!there) continue;
        const Int3 shift{to.lo[0] - from.lo[0], to.lo[1] - from.lo[1], to.lo[2] - from.lo[2]};
        to = common(to, array.limits);
        if (to.empty()) continue;
        from = to.shifted({-shift[0], -shift[1], -shift[2]});
        FieldFile::Part part = part_of(grid, label, patch, from, values, label.bytes);
        part.box = to;
        file.write(array.name, {&part, 1});
    }
}

bool is_zero(Element element, const std::byte* at) {
    const auto value = [&]<class T>(T number) {
        std::memcpy(&number, at, sizeof number);
        return number == T{};
    };
    switch (element) {
        case Element::f64:
            return value(double{});
        case Element::f32:
            return value(float{});
        case Element::i64:
            return value(std::int64_t{});
        case Element::i32:
            return value(std::int32_t{});
        default:
            return value(std::uint8_t{});
    }
}

}  // namespace

const LabelInfo& ValuesNow::label(LabelId id) const { return run_.plan().graph().labels()[id]; }

const std::vector<int>& ValuesNow::patches(const Family& family) const {
    return run_.plan().memory().patches()[number_of(run_.plan().graph(), family)];
}

void ValuesNow::read(const std::vector<LabelId>& labels, int local, int components,
                     std::vector<std::byte>& into) {
    into.clear();
    std::size_t all = 0;
    for (const LabelId id : labels)
        for (const Kept& kept : kept_) {
            if (kept.back != 0 || kept.label != id) continue;
            std::vector<std::byte>& to = into.empty() ? into : one_;
            read_values(run_.plan(), kept, local, run_.rounds(kept), to);
            if (&to == &one_) into.insert(into.end(), one_.begin(), one_.end());
            if (all == 0)
                all = into.size() / static_cast<std::size_t>(label(id).components) *
                      static_cast<std::size_t>(components);
        }
    into.resize(all);
}

void ValuesNow::read_hidden(LabelId blank, int local, std::vector<std::byte>& into) {
    read({blank}, local, 1, into);
    const LabelInfo& info = label(blank);
    const std::size_t count = into.size() / info.bytes;
    for (std::size_t i = 0; i < count; ++i)
        into[i] = is_zero(info.element, into.data() + i * info.bytes) ? std::byte{kHidden} : std::byte{0};
    into.resize(count);
}

void write_grid_array(FieldFile& file, const GridArray& array, const Grid& grid, ValuesNow& now) {
    const std::vector<int>& mine = now.patches(grid);
    const LabelInfo& label = now.label(array.labels[0]);
    const std::size_t bytes = array.hides ? 1 : label.bytes;
    std::vector<std::vector<std::byte>> values;
    for (const std::vector<std::size_t>& row :
         rows_of(grid, array.zone, mine, label.bytes * static_cast<std::size_t>(array.components))) {
        values.resize(std::max(values.size(), row.size()));
        std::vector<FieldFile::Part> parts;
        for (std::size_t n = 0; n < row.size(); ++n) {
            const int patch = mine[row[n]], local = static_cast<int>(row[n]);
            if (array.hides)
                now.read_hidden(array.labels[0], local, values[n]);
            else
                now.read(array.labels, local, array.components, values[n]);
            const Box box = common(grid.owned(patch, label.on), array.limits);
            if (!box.empty()) parts.push_back(part_of(grid, label, patch, box, values[n], bytes));
        }
        file.write(array.name, parts);
        for (std::size_t n = 0; n < row.size(); ++n)
            write_images(file, array, grid, label, mine[row[n]], values[n]);
    }
}

void hide_all(FieldFile& file, const std::string& array, const Box& cells) {
    const std::vector<std::uint8_t> hidden(
        static_cast<std::size_t>(cells.extent(0)) * static_cast<std::size_t>(cells.extent(1)), kHidden);
    for (int k = cells.lo[2]; k < cells.hi[2]; ++k) {
        FieldFile::Part plane{cells, hidden.data(), cells.extent(0), 0, 0};
        plane.box.lo[2] = k;
        plane.box.hi[2] = k + 1;
        file.write(array, {&plane, 1});
    }
}

void uncover(FieldFile& file, const std::string& array, const Grid& grid, On on,
             const std::vector<int>& patches) {
    for (const int patch : patches) {
        const Box box = grid.owned(patch, on);
        const std::vector<std::uint8_t> drawn(static_cast<std::size_t>(box.volume()), 0);
        const std::ptrdiff_t y = box.extent(0);
        const FieldFile::Part part{box, drawn.data(), y, y * box.extent(1), 0};
        file.write(array, {&part, 1});
    }
}

}  // namespace strata::graph
