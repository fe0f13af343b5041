// The form of files of images and of particles: Kitware's VTKHDF, laid out by HDF5 with a place for each
// array.
#include <vector>

#include "core/run/output/fields.hpp"
#include "core/run/output/fields_maker.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

/// The direction whose faces an image has; On::cells where it has cells and nodes.
On faces_of(const std::vector<FieldArray>& arrays) {
    const auto by_cells = [](On on) { return on == On::cells || on == On::nodes; };
    const On first = arrays.empty() ? On::cells : arrays[0].on;
    for (const FieldArray& array : arrays)
        if (by_cells(first) ? !by_cells(array.on) : array.on != first)
            throw Error("an image has values on cells and nodes, or on the faces of one direction")
                .given(array.name);
    return by_cells(first) ? On::cells : first;
}

}  // namespace

bool can_write_fields() { return true; }

void FieldFile::create_grid(const fs::path& path, const GridShape& shape,
                            const std::vector<FieldArray>& arrays, double time) {
    const QuietHdf5 quiet;
    check_names(arrays);
    const On faces = faces_of(arrays);
    FieldMaker maker(path, "ImageData", time);
    std::vector<std::int64_t> whole;
    std::vector<double> origin;
    for (std::size_t a = 0; a < 3; ++a) {
        const bool across = on_sides(faces, a);
        whole.push_back(shape.cells.lo[a]);
        whole.push_back(shape.cells.hi[a] + (across ? 1 : 0));
        origin.push_back(shape.origin[a] - (across ? 0.5 * shape.spacing[a] : 0));
    }
    maker.integers("WholeExtent", whole);
    maker.doubles("Origin", origin);
    maker.doubles("Spacing", {shape.spacing.begin(), shape.spacing.end()});
    maker.doubles("Direction", {1, 0, 0, 0, 1, 0, 0, 0, 1});
    maker.group("CellData");
    maker.group("PointData");
    for (const FieldArray& array : arrays) {
        std::vector<hsize_t> extent;
        for (const int axis : {2, 1, 0})
            extent.push_back(static_cast<hsize_t>(shape.cells.extent(axis)) +
                             (on_sides(array.on, static_cast<std::size_t>(axis)) ? 1 : 0));
        maker.array((array.on == On::nodes ? "PointData/" : "CellData/") + array.name, array, extent);
    }
    maker.finish();
}

void FieldFile::create_particles(const fs::path& path, std::int64_t count,
                                 const std::vector<FieldArray>& arrays, double time) {
    std::vector<FieldArray> on_points = arrays;
    for (FieldArray& array : on_points) array.on = On::nodes;
    create_poly_data(path, "Vertices", {count, count, count}, on_points, time);
    // Each particle is a vertex: cell i is point i.
    FieldFile file(path);
    file.write_multiples("Vertices/Offsets", count + 1, 1);
    file.write_multiples("Vertices/Connectivity", count, 1);
    file.close();
}

}  // namespace strata::graph
