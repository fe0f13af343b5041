// The forms of files of curvilinear blocks, of cells, of polygons and lines, and of tables.
#include "core/run/output/fields.hpp"
#include "core/run/output/fields_maker.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr FieldArray integer(Element element) { return {"", element, 1, "", On::cells}; }

void check_points(const std::vector<FieldArray>& arrays) {
    check_names(arrays);
    if (arrays.empty() || arrays[0].name != "Points" || arrays[0].components != 3)
        throw Error("a file of points begins with the array 'Points', of three components");
}

using Extent = std::vector<hsize_t>;

/// Points, and values on points and cells, in a group ("" or "NAME/").
void add_values(FieldMaker& maker, const std::string& in, const std::vector<FieldArray>& arrays,
                Extent points, const Extent& cells, bool flat = false) {
    if (flat) points.insert(points.begin(), 1);
    maker.array(in + "Points", arrays[0], points);
    if (flat) points.erase(points.begin());
    maker.group(in + "PointData");
    bool any_on_cells = false;
    for (const FieldArray& array : arrays) any_on_cells = any_on_cells || array.on != On::nodes;
    if (any_on_cells) maker.group(in + "CellData");
    for (std::size_t i = 1; i < arrays.size(); ++i) {
        const bool on_points = arrays[i].on == On::nodes;
        maker.array(in + (on_points ? "PointData/" : "CellData/") + arrays[i].name, arrays[i],
                    on_points ? points : cells);
    }
}

/// Slowest first. VTK expects two directions of values in a flat block, and three of its points.
Extent extent_of_box(const Box& box, bool flat) {
    Extent all{static_cast<hsize_t>(box.extent(1)), static_cast<hsize_t>(box.extent(0))};
    if (!flat) all.insert(all.begin(), static_cast<hsize_t>(box.extent(2)));
    return all;
}

}  // namespace

void FieldFile::create_blocks(const fs::path& path, const std::vector<FileBlock>& blocks, double time) {
    const QuietHdf5 quiet;
    for (const FileBlock& block : blocks) {
        check_points(block.arrays);
        check_names({{block.name, Element::f64, 1, "", On::cells}});
    }
    FieldMaker maker(path, "MultiBlockDataSet", time, true);
    for (const FileBlock& block : blocks) {
        maker.block(block.name, "StructuredGrid");
        maker.integers("Dimensions", {block.nodes.extent(0), block.nodes.extent(1), block.nodes.extent(2)},
                       block.name);
        const bool flat = block.nodes.extent(2) == 1;
        add_values(maker, block.name + "/", block.arrays, extent_of_box(block.nodes, flat),
                   extent_of_box(block.cells, flat), flat);
    }
    maker.group("Assembly", true);
    for (const FileBlock& block : blocks) maker.link("Assembly/" + block.name, block.name);
    maker.finish();
}

void FieldFile::create_cells(const fs::path& path, const FieldCounts& counts,
                             const std::vector<FieldArray>& arrays, double time) {
    const QuietHdf5 quiet;
    check_points(arrays);
    FieldMaker maker(path, "UnstructuredGrid", time);
    maker.number("NumberOfPoints", counts.points);
    maker.number("NumberOfCells", counts.cells);
    maker.number("NumberOfConnectivityIds", counts.ids);
    maker.array("Offsets", integer(Element::i64), {static_cast<hsize_t>(counts.cells + 1)});
    maker.array("Connectivity", integer(Element::i64), {static_cast<hsize_t>(counts.ids)});
    maker.array("Types", integer(Element::u8), {static_cast<hsize_t>(counts.cells)});
    add_values(maker, "", arrays, {static_cast<hsize_t>(counts.points)},
               {static_cast<hsize_t>(counts.cells)});
    maker.finish();
}

void FieldFile::create_poly_data(const fs::path& path, const std::string& kind, const FieldCounts& counts,
                                 const std::vector<FieldArray>& arrays, double time) {
    const QuietHdf5 quiet;
    check_points(arrays);
    FieldMaker maker(path, "PolyData", time);
    maker.number("NumberOfPoints", counts.points);
    for (const std::string each : {"Vertices", "Lines", "Polygons", "Strips"}) {
        maker.group(each);
        const FieldCounts own = each == kind ? counts : FieldCounts{};
        maker.number(each + "/NumberOfCells", own.cells);
        maker.number(each + "/NumberOfConnectivityIds", own.ids);
        // The others have the single offset 0, which the hole already reads as.
        maker.array(each + "/Offsets", integer(Element::i64), {static_cast<hsize_t>(own.cells + 1)});
        maker.array(each + "/Connectivity", integer(Element::i64), {static_cast<hsize_t>(own.ids)});
    }
    add_values(maker, "", arrays, {static_cast<hsize_t>(counts.points)},
               {static_cast<hsize_t>(counts.cells)});
    maker.finish();
}

void FieldFile::create_table(const fs::path& path, std::int64_t rows, const std::vector<FieldArray>& arrays,
                             double time) {
    const QuietHdf5 quiet;
    check_names(arrays);
    FieldMaker maker(path, "Table", time);
    maker.number("NumberOfRows", rows);
    maker.group("RowData");
    for (const FieldArray& array : arrays)
        maker.array("RowData/" + array.name, array, {static_cast<hsize_t>(rows)});
    maker.finish();
}

}  // namespace strata::graph
