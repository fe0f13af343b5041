#include "core/run/driver/shown_values.hpp"

#include <algorithm>
#include <span>
#include <tuple>

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr const char* kGhosts = "vtkGhostType";  // VTK's name: cells with a value other than 0 are not drawn
constexpr std::uint8_t kHidden = 32;             // vtkDataSetAttributes::HIDDENCELL
constexpr std::size_t kRow = std::size_t{8} << 20;  // bytes of patches that are written together

const LabelInfo& label_of(const Graph& graph, LabelId id) { return graph.labels()[id]; }

const std::vector<int>& patches_of(const ShownFile& shown, const Simulation& run) {
    return run.plan().memory().patches()[number_of(run.plan().graph(), *shown.grid)];
}

/// Patches (places in `mine`) that lie side by side in x. Their rows are joined, which makes fewer writes.
std::vector<std::vector<std::size_t>> rows_of(const Grid& grid, const std::vector<int>& mine,
                                              std::size_t bytes_of_value) {
    const auto box = [&](std::size_t i) { return grid.box(mine[i]); };
    const auto key = [](const Box& b) { return std::tuple(b.lo[2], b.hi[2], b.lo[1], b.hi[1], b.lo[0]); };
    std::vector<std::size_t> order(mine.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
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

/// The part of a patch's values in `box`; `values` holds the label's whole patch.
FieldFile::Part part_of(const Grid& grid, const LabelInfo& label, int patch, const Box& box,
                        const std::vector<std::byte>& values) {
    const Box all = grid.owned(patch, label.on, label.border);
    const std::ptrdiff_t y = all.extent(0), z = y * all.extent(1);
    const std::ptrdiff_t first =
        (box.lo[0] - all.lo[0]) + (box.lo[1] - all.lo[1]) * y + (box.lo[2] - all.lo[2]) * z;
    return {box, values.data() + first * static_cast<std::ptrdiff_t>(label.bytes), y, z,
            static_cast<std::ptrdiff_t>(all.volume())};
}

/// Nodes and faces on a periodic border are the same as on the opposite border, so they are written there,
/// too.
void write_images(FieldFile& file, const std::string& array, const Grid& grid, const LabelInfo& label,
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
        FieldFile::Part part = part_of(grid, label, patch, from, values);
        part.box = to;
        file.write(array, {&part, 1});
    }
}

void write_field(FieldFile& file, const std::string& array, const Grid& grid, const Simulation& run,
                 const Kept& kept, const std::vector<int>& mine) {
    const LabelInfo& label = label_of(run.plan().graph(), kept.label);
    const std::size_t value = label.bytes * static_cast<std::size_t>(label.components);
    std::vector<std::vector<std::byte>> values;
    for (const std::vector<std::size_t>& row : rows_of(grid, mine, value)) {
        values.resize(std::max(values.size(), row.size()));
        std::vector<FieldFile::Part> parts;
        for (std::size_t n = 0; n < row.size(); ++n) {
            const int patch = mine[row[n]];
            read_values(run.plan(), kept, static_cast<int>(row[n]), run.rounds(kept), values[n]);
            parts.push_back(part_of(grid, label, patch, grid.owned(patch, label.on), values[n]));
        }
        file.write(array, parts);
        for (std::size_t n = 0; n < row.size(); ++n)
            write_images(file, array, grid, label, mine[row[n]], values[n]);
    }
}

void write_particles(FieldFile& file, const FieldArray& array, const Simulation& run, const Kept& kept,
                     const std::vector<int>& mine, const std::vector<std::int64_t>& first) {
    const LabelInfo& label = label_of(run.plan().graph(), kept.label);
    const std::size_t each = label.bytes * static_cast<std::size_t>(label.components);
    std::vector<std::byte> values;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        read_values(run.plan(), kept, static_cast<int>(i), run.rounds(kept), values);
        const auto count = static_cast<std::int64_t>(values.size() / each);
        // Points have three coordinates, also in a plane.
        values.resize(static_cast<std::size_t>(count * array.components) * label.bytes);
        file.write(array.name, first[static_cast<std::size_t>(mine[i])], count, values.data(), count);
    }
}

/// Marks the cells of this member's patches as drawn.
void uncover(FieldFile& file, const Grid& grid, On on, const std::vector<int>& mine) {
    for (const int patch : mine) {
        const Box box = grid.owned(patch, on);
        const std::vector<std::uint8_t> drawn(static_cast<std::size_t>(box.volume()), 0);
        const std::ptrdiff_t y = box.extent(0);
        const FieldFile::Part part{box, drawn.data(), y, y * box.extent(1), 0};
        file.write(kGhosts, {&part, 1});
    }
}

}  // namespace

std::vector<std::int64_t> first_particles(const ShownFile& shown, const Simulation& run, team::Team& team) {
    const std::vector<int>& mine = patches_of(shown, run);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(shown.grid->patches()), 0);
    for (std::size_t i = 0; i < mine.size(); ++i)
        counts[static_cast<std::size_t>(mine[i])] =
            run.plan().memory().populations().own(shown.set, static_cast<int>(i)).count;
    team.together().reduce(std::span(counts), [](std::int64_t a, std::int64_t b) { return a + b; });
    std::vector<std::int64_t> first{0};
    for (const std::int64_t count : counts) first.push_back(first.back() + count);
    return first;
}

void write_values(const ShownFile& shown, const fs::path& path, const Simulation& run,
                  const std::vector<std::int64_t>& first) {
    const std::vector<int>& mine = patches_of(shown, run);
    FieldFile file(path);
    if (leaves_some_out(shown)) uncover(file, *shown.grid, shown.on, mine);
    for (const Kept& kept : kept_versions(run.plan()))
        for (const ShownFile::Array& array : shown.arrays) {
            if (kept.back != 0 || array.label != kept.label) continue;
            if (!shown.set)
                write_field(file, array.form.name, *shown.grid, run, kept, mine);
            else
                write_particles(file, array.form, run, kept, mine, first);
        }
    file.close();
}

bool leaves_some_out(const ShownFile& shown) { return !shown.set && !shown.grid->regular(); }

FieldArray ghosts_array(const ShownFile& shown) { return {kGhosts, Element::u8, 1, "", shown.on}; }

void hide_all(const ShownFile& shown, const fs::path& path) {
    Box all = shown.grid->shape().cells;
    for (std::size_t a = 0; a < 3; ++a) all.hi[a] += on_sides(shown.on, a) ? 1 : 0;
    FieldFile file(path);
    const std::vector<std::uint8_t> hidden(
        static_cast<std::size_t>(all.extent(0)) * static_cast<std::size_t>(all.extent(1)), kHidden);
    for (int k = all.lo[2]; k < all.hi[2]; ++k) {
        FieldFile::Part plane{all, hidden.data(), all.extent(0), 0, 0};
        plane.box.lo[2] = k;
        plane.box.hi[2] = k + 1;
        file.write(kGhosts, {&plane, 1});
    }
    file.close();
}

}  // namespace strata::graph
