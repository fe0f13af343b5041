// The form of a field file: Kitware's VTKHDF, laid out by HDF5 with a place for each array.
#include <algorithm>
#include <numeric>
#include <vector>

#include "core/run/output/field_names.hpp"
#include "core/run/output/fields.hpp"
#include "core/run/output/hdf5.hpp"
#include "core/run/output/hdf5_memory.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kPiece = 1 << 17;  // numbers that are held at once

/// In the machine's byte order, since values are written without HDF5; the file tells readers the order.
hid_t in_file(Element element) {
    switch (element) {
        case Element::f64:
            return H5T_NATIVE_DOUBLE;
        case Element::f32:
            return H5T_NATIVE_FLOAT;
        case Element::i64:
            return H5T_NATIVE_INT64;
        case Element::i32:
            return H5T_NATIVE_INT32;
        case Element::u8:
            return H5T_NATIVE_UINT8;
        case Element::bytes:
            break;
    }
    throw Error("a label of bytes has no form in a field file");
}

/// Lays a new file out in memory; each error names the part that failed.
class Maker {
  public:
    explicit Maker(const fs::path& path)
        : path_(path),
          file_(H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, memory_.access()), H5Fclose,
                "HDF5 cannot lay it out", path),
          root_(H5Gcreate2(file_, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "VTKHDF",
                path) {}

    void attribute(hid_t of, const char* name, hid_t stored, hid_t given, const std::vector<hsize_t>& extent,
                   const void* values) {
        const Hdf5Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                               H5Sclose, name, path_);
        const Hdf5Handle attribute(H5Acreate2(of, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                                   name, path_);
        if (H5Awrite(attribute, given, values) < 0) fail_field_file(name, path_);
    }
    void doubles(const char* name, const std::vector<double>& values) {
        attribute(root_, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {values.size()}, values.data());
    }
    void integers(const char* name, const std::vector<std::int64_t>& values) {
        attribute(root_, name, H5T_STD_I64LE, H5T_NATIVE_INT64, {values.size()}, values.data());
    }
    /// Fixed length, ASCII, as VTK's reader expects.
    void text(hid_t of, const char* name, const std::string& value) {
        const Hdf5Handle type(H5Tcopy(H5T_C_S1), H5Tclose, name, path_);
        if (H5Tset_size(type, std::max<std::size_t>(1, value.size())) < 0 ||
            H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
            fail_field_file(name, path_);
        const Hdf5Handle space(H5Screate(H5S_SCALAR), H5Sclose, name, path_);
        const Hdf5Handle attribute(H5Acreate2(of, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                                   name, path_);
        if (H5Awrite(attribute, type, value.c_str()) < 0) fail_field_file(name, path_);
    }
    void group(const std::string& name) {
        const Hdf5Handle made(H5Gcreate2(root_, name.c_str(), H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                              H5Gclose, name.c_str(), path_);
    }
    void array(const std::string& where, const FieldArray& array, std::vector<hsize_t> extent) {
        if (array.components > 1) extent.push_back(static_cast<hsize_t>(array.components));
        const Hdf5Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                               H5Sclose, where.c_str(), path_);
        // The array's place in the file is fixed now, but nothing is written: the place stays a hole. No time
        // stamp is stored, so the same values give the same file.
        const Hdf5Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where.c_str(), path_);
        if (H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY) < 0 ||
            H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER) < 0 || H5Pset_obj_track_times(layout, 0) < 0)
            fail_field_file(where.c_str(), path_);
        const Hdf5Handle made(
            H5Dcreate2(root_, where.c_str(), in_file(array.element), space, H5P_DEFAULT, layout, H5P_DEFAULT),
            H5Dclose, where.c_str(), path_);
        if (!array.unit.empty()) text(made, "Unit", array.unit);
    }
    void number(const std::string& where, std::int64_t value) {
        array(where, {where, Element::i64, 1, "", On::cells}, {1});
        const Hdf5Handle made(H5Dopen2(root_, where.c_str(), H5P_DEFAULT), H5Dclose, where.c_str(), path_);
        if (H5Dwrite(made, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0)
            fail_field_file(where.c_str(), path_);
    }
    void begin(const char* type, double time) {
        integers("Version", {2, 0});
        text(root_, "Type", type);
        // VTK's form of a time in a file without steps.
        group("FieldData");
        array("FieldData/TimeValue", {"TimeValue", Element::f64, 1, "", On::cells}, {1});
        const Hdf5Handle made(H5Dopen2(root_, "FieldData/TimeValue", H5P_DEFAULT), H5Dclose, "TimeValue",
                              path_);
        if (H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &time) < 0)
            fail_field_file("TimeValue", path_);
    }
    void finish() {
        root_.close();
        if (!file_.close()) fail_field_file("HDF5 cannot lay it out", path_);
        memory_.write_to(partial_field_file(path_), path_);
    }

  private:
    fs::path path_;
    MemoryFile memory_;
    Hdf5Handle file_, root_;
};

/// Names become parts of HDF5's paths (no '/'), and VTK refuses dots in them.
void check_names(const std::vector<FieldArray>& arrays) {
    for (const FieldArray& array : arrays)
        if (array.name.empty() || array.name.find_first_of("/.") != std::string::npos)
            throw Error("an array of a field file cannot have this name")
                .given(array.name)
                .allowed("no '/' or '.'");
}

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
    Maker maker(path);
    maker.begin("ImageData", time);
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
    const QuietHdf5 quiet;
    check_names(arrays);
    if (arrays.empty() || arrays[0].name != "Points" || arrays[0].components != 3)
        throw Error("a file of particles begins with the array 'Points', of three components");
    const FieldArray integer{"", Element::i64, 1, "", On::cells};
    Maker maker(path);
    maker.begin("PolyData", time);
    maker.number("NumberOfPoints", count);
    maker.array("Points", arrays[0], {static_cast<hsize_t>(count)});
    for (const std::string kind : {"Vertices", "Lines", "Polygons", "Strips"}) {
        maker.group(kind);
        // Each particle is a vertex: cell i is point i.
        const std::int64_t cells = kind == "Vertices" ? count : 0;
        maker.number(kind + "/NumberOfCells", cells);
        maker.number(kind + "/NumberOfConnectivityIds", cells);
        maker.array(kind + "/Offsets", integer, {static_cast<hsize_t>(cells + 1)});
        maker.array(kind + "/Connectivity", integer, {static_cast<hsize_t>(cells)});
    }
    maker.group("PointData");
    for (std::size_t i = 1; i < arrays.size(); ++i)
        maker.array("PointData/" + arrays[i].name, arrays[i], {static_cast<hsize_t>(count)});
    maker.finish();
    // Lines, polygons and strips have the single offset 0, which the hole already reads as.
    FieldFile file(path);
    std::vector<std::int64_t> numbers;
    for (std::int64_t from = 0; from <= count; from += kPiece) {
        numbers.resize(static_cast<std::size_t>(std::min(kPiece, count + 1 - from)));
        std::iota(numbers.begin(), numbers.end(), from);
        const auto many = static_cast<std::int64_t>(numbers.size());
        file.write("Vertices/Offsets", from, many, numbers.data());
        file.write("Vertices/Connectivity", from, std::min(many, count - from), numbers.data());
    }
    file.close();
}

}  // namespace strata::graph
