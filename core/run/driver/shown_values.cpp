#include "core/run/driver/shown_values.hpp"

#include <cstring>
#include <span>

#include "core/graph/expand/plan.hpp"
#include "core/run/driver/grid_values.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

/// The indices of a grid's values at such a place; -y, -x and -z faces have one more along their direction.
Box indices(const Grid& grid, On on) {
    Box all = grid.shape().cells;
    for (std::size_t a = 0; a < 3; ++a) all.hi[a] += on_sides(on, a) ? 1 : 0;
    return all;
}

/// Places in the measure in which they are shown.
void scale_places(std::vector<std::byte>& values, double scale) {
    for (std::size_t at = 0; at < values.size(); at += sizeof(double)) {
        double x = 0;
        std::memcpy(&x, values.data() + at, sizeof x);
        x *= scale;
        std::memcpy(values.data() + at, &x, sizeof x);
    }
}

void write_particles(FieldFile& file, const ShownFile& shown, const ShownFile::Array& array,
                     const std::vector<int>& mine, const std::vector<std::int64_t>& first,
                     const Simulation& run, ValuesNow& now) {
    const LabelInfo& label = now.label(array.label);
    const std::size_t each = label.bytes * static_cast<std::size_t>(array.form.components);
    std::vector<std::byte> values;
    for (std::size_t i = 0; i < mine.size(); ++i) {
        // Points have three coordinates, also in a plane.
        now.read({array.label}, static_cast<int>(i), array.form.components, values);
        const auto count = static_cast<std::int64_t>(values.size() / each);
        if (shown.scale && array.label == shown.position) scale_places(values, run.value(shown.scale->scale));
        file.write(array.form.name, first[static_cast<std::size_t>(mine[i])], count, values.data(), count);
    }
}

}  // namespace

std::vector<std::int64_t> first_particles(const ShownFile& shown, const Simulation& run, team::Team& team) {
    const std::vector<int>& mine = ValuesNow(run).patches(*shown.grid);
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
    ValuesNow now(run);
    const std::vector<int>& mine = now.patches(*shown.grid);
    FieldFile file(path);
    if (leaves_some_out(shown)) uncover(file, kGhosts, *shown.grid, shown.on, mine);
    for (const ShownFile::Array& array : shown.arrays)
        if (shown.set)
            write_particles(file, shown, array, mine, first, run, now);
        else
            write_grid_array(
                file,
                {array.form.name, {array.label}, array.form.components, indices(*shown.grid, array.form.on)},
                *shown.grid, now);
    file.close();
}

bool leaves_some_out(const ShownFile& shown) { return !shown.set && !shown.grid->regular(); }

FieldArray ghosts_array(const ShownFile& shown) { return {kGhosts, Element::u8, 1, "", shown.on}; }

void hide_all(const ShownFile& shown, const fs::path& path) {
    FieldFile file(path);
    hide_all(file, kGhosts, indices(*shown.grid, shown.on));
    file.close();
}

}  // namespace strata::graph
