#include "core/graph/output/fields.hpp"

#include <fmt/format.h>
#include <hdf5.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <fstream>

#include "core/base/error.hpp"
#include "core/base/json.hpp"
#include "core/base/json_value.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

fs::path partial_of(const fs::path& path) {
    return path.parent_path() / fmt::format(".{}.partial", path.filename().string());
}

[[noreturn]] void fail(const char* what, const fs::path& path) {
    throw Error(fmt::format("the field file could not be written: {}", what), kFailure)
        .at(path.string())
        .remedy("is there room on the disk?");
}

/// An HDF5 handle that is closed with its scope.
class Handle {
  public:
    Handle(hid_t id, herr_t (*close)(hid_t), const char* what, const fs::path& path)
        : id_(id), close_(close) {
        if (id < 0) fail(what, path);
    }
    ~Handle() { close_(id_); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;
    operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)

  private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

/// HDF5 prints its errors by itself unless told not to; ours say enough.
class Quiet {
  public:
    Quiet() {
        H5Eget_auto2(H5E_DEFAULT, &call_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~Quiet() { H5Eset_auto2(H5E_DEFAULT, call_, data_); }
    Quiet(const Quiet&) = delete;
    Quiet& operator=(const Quiet&) = delete;

  private:
    H5E_auto2_t call_ = nullptr;
    void* data_ = nullptr;
};

hid_t in_file(Element element) {
    switch (element) {
        case Element::f64:
            return H5T_IEEE_F64LE;
        case Element::f32:
            return H5T_IEEE_F32LE;
        case Element::i64:
            return H5T_STD_I64LE;
        case Element::i32:
            return H5T_STD_I32LE;
        case Element::u8:
            return H5T_STD_U8LE;
        case Element::bytes:
            break;
    }
    throw Error("a label of bytes has no form in a field file");
}

/// Writes a new file's parts; each call names what failed.
class Maker {
  public:
    explicit Maker(const fs::path& path)
        : path_(partial_of(path)),
          file_(H5Fcreate(path_.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT), H5Fclose,
                "it cannot be made", path),
          root_(H5Gcreate2(file_, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "VTKHDF",
                path) {}

    void attribute(hid_t of, const char* name, hid_t stored, hid_t given, const std::vector<hsize_t>& extent,
                   const void* values) {
        const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                           H5Sclose, name, path_);
        const Handle attribute(H5Acreate2(of, name, stored, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name,
                               path_);
        if (H5Awrite(attribute, given, values) < 0) fail(name, path_);
    }
    void doubles(const char* name, const std::vector<double>& values) {
        attribute(root_, name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE, {values.size()}, values.data());
    }
    void integers(const char* name, const std::vector<std::int64_t>& values) {
        attribute(root_, name, H5T_STD_I64LE, H5T_NATIVE_INT64, {values.size()}, values.data());
    }
    /// Fixed length, ASCII, as VTK's reader expects.
    void text(hid_t of, const char* name, const std::string& value) {
        const Handle type(H5Tcopy(H5T_C_S1), H5Tclose, name, path_);
        if (H5Tset_size(type, std::max<std::size_t>(1, value.size())) < 0 ||
            H5Tset_strpad(type, H5T_STR_NULLPAD) < 0)
            fail(name, path_);
        const Handle space(H5Screate(H5S_SCALAR), H5Sclose, name, path_);
        const Handle attribute(H5Acreate2(of, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose, name,
                               path_);
        if (H5Awrite(attribute, type, value.c_str()) < 0) fail(name, path_);
    }
    void group(const char* name) {
        const Handle made(H5Gcreate2(root_, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, name,
                          path_);
    }
    void array(const std::string& where, const FieldArray& array, std::vector<hsize_t> extent) {
        if (array.components > 1) extent.push_back(static_cast<hsize_t>(array.components));
        const Handle space(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr),
                           H5Sclose, where.c_str(), path_);
        const Handle made(H5Dcreate2(root_, where.c_str(), in_file(array.element), space, H5P_DEFAULT,
                                     H5P_DEFAULT, H5P_DEFAULT),
                          H5Dclose, where.c_str(), path_);
        if (!array.unit.empty()) text(made, "Unit", array.unit);
    }
    void list(const std::string& where, const std::vector<std::int64_t>& values) {
        array(where, {where, Element::i64, 1, "", On::cells}, {values.size()});
        if (values.empty()) return;
        const Handle made(H5Dopen2(root_, where.c_str(), H5P_DEFAULT), H5Dclose, where.c_str(), path_);
        if (H5Dwrite(made, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()) < 0)
            fail(where.c_str(), path_);
    }
    void begin(const char* type, double time) {
        integers("Version", {2, 0});
        text(root_, "Type", type);
        // As VTK writes a time into a file without steps.
        group("FieldData");
        array("FieldData/TimeValue", {"TimeValue", Element::f64, 1, "", On::cells}, {1});
        const Handle made(H5Dopen2(root_, "FieldData/TimeValue", H5P_DEFAULT), H5Dclose, "TimeValue", path_);
        if (H5Dwrite(made, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, &time) < 0)
            fail("TimeValue", path_);
    }

  private:
    fs::path path_;
    Handle file_, root_;
};

/// Names become parts of HDF5's paths, and VTK refuses dots in them.
void check_names(const std::vector<FieldArray>& arrays) {
    for (const FieldArray& array : arrays)
        if (array.name.empty() || array.name.find_first_of("/.") != std::string::npos)
            throw Error("an array of a field file cannot have this name")
                .given(array.name)
                .allowed("no '/' or '.'");
}

}  // namespace

struct FieldFile::Open {
    Open(hid_t opened, fs::path where) : file(opened), path(std::move(where)) {}
    hid_t file;
    fs::path path;
};

bool can_write_fields() { return true; }

void FieldFile::create_grid(const fs::path& path, const GridShape& shape,
                            const std::vector<FieldArray>& arrays, double time) {
    const Quiet quiet;
    check_names(arrays);
    Maker maker(path);
    maker.begin("ImageData", time);
    std::vector<std::int64_t> whole;
    for (std::size_t a = 0; a < 3; ++a) {
        whole.push_back(shape.cells.lo[a]);
        whole.push_back(shape.cells.hi[a]);
    }
    maker.integers("WholeExtent", whole);
    maker.doubles("Origin", {shape.origin.begin(), shape.origin.end()});
    maker.doubles("Spacing", {shape.spacing.begin(), shape.spacing.end()});
    maker.doubles("Direction", {1, 0, 0, 0, 1, 0, 0, 0, 1});
    maker.group("CellData");
    maker.group("PointData");
    for (const FieldArray& array : arrays) {
        if (array.on != On::cells && array.on != On::nodes)
            throw Error("an image has values on cells and on nodes").given(array.name);
        const hsize_t more = array.on == On::nodes ? 1 : 0;
        std::vector<hsize_t> extent;
        for (const int axis : {2, 1, 0})
            extent.push_back(static_cast<hsize_t>(shape.cells.extent(axis)) + more);
        maker.array((array.on == On::nodes ? "PointData/" : "CellData/") + array.name, array, extent);
    }
}

void FieldFile::create_particles(const fs::path& path, std::int64_t count,
                                 const std::vector<FieldArray>& arrays, double time) {
    const Quiet quiet;
    check_names(arrays);
    if (arrays.empty() || arrays[0].name != "Points" || arrays[0].components != 3)
        throw Error("a file of particles begins with the array 'Points', of three components");
    Maker maker(path);
    maker.begin("PolyData", time);
    maker.list("NumberOfPoints", {count});
    maker.array("Points", arrays[0], {static_cast<hsize_t>(count)});
    for (const std::string kind : {"Vertices", "Lines", "Polygons", "Strips"}) {
        maker.group(kind.c_str());
        // Each particle is a vertex: its cell is its point.
        const std::int64_t cells = kind == "Vertices" ? count : 0;
        std::vector<std::int64_t> offsets, points;
        for (std::int64_t i = 0; i <= cells; ++i) offsets.push_back(i);
        for (std::int64_t i = 0; i < cells; ++i) points.push_back(i);
        maker.list(kind + "/NumberOfCells", {cells});
        maker.list(kind + "/NumberOfConnectivityIds", {cells});
        maker.list(kind + "/Offsets", offsets);
        maker.list(kind + "/Connectivity", points);
    }
    maker.group("PointData");
    for (std::size_t i = 1; i < arrays.size(); ++i)
        maker.array("PointData/" + arrays[i].name, arrays[i], {static_cast<hsize_t>(count)});
}

FieldFile::FieldFile(const fs::path& path) {
    const Quiet quiet;
    const hid_t file = H5Fopen(partial_of(path).c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    if (file < 0) fail("it cannot be opened", path);
    open_ = std::make_unique<Open>(file, path);
}

FieldFile::~FieldFile() {
    const Quiet quiet;
    if (open_->file >= 0) H5Fclose(open_->file);
}

void FieldFile::close() {
    const Quiet quiet;
    if (open_->file < 0) return;
    const bool written = H5Fflush(open_->file, H5F_SCOPE_GLOBAL) >= 0;
    const bool closed = H5Fclose(open_->file) >= 0;
    open_->file = -1;
    if (!written || !closed) fail("writing failed", open_->path);
}

namespace {

/// The dataset of an array, wherever it lies in the file.
hid_t find_array(hid_t file, const std::string& name) {
    for (const char* where : {"/VTKHDF/CellData/", "/VTKHDF/PointData/", "/VTKHDF/"}) {
        const hid_t found = H5Dopen2(file, (where + name).c_str(), H5P_DEFAULT);
        if (found >= 0) return found;
    }
    return -1;
}

/// Writes a packed part of an array; `at` and `extent` without the direction of components.
void write_part(hid_t array, const std::string& name, int component, std::vector<hsize_t> at,
                std::vector<hsize_t> extent, const void* values, hid_t type, const fs::path& path) {
    const Handle space(H5Dget_space(array), H5Sclose, name.c_str(), path);
    const Handle memory(H5Screate_simple(static_cast<int>(extent.size()), extent.data(), nullptr), H5Sclose,
                        name.c_str(), path);
    if (H5Sget_simple_extent_ndims(space) == static_cast<int>(at.size()) + 1) {
        at.push_back(static_cast<hsize_t>(component));
        extent.push_back(1);
    }
    if (H5Sselect_hyperslab(space, H5S_SELECT_SET, at.data(), nullptr, extent.data(), nullptr) < 0 ||
        H5Sselect_valid(space) <= 0)
        throw Error(fmt::format("what is written lies outside the array '{}'", name), kFailure)
            .at(path.string());
    if (H5Dwrite(array, type, memory, space, H5P_DEFAULT, values) < 0) fail("writing failed", path);
}

}  // namespace

void FieldFile::write(const std::string& array, int component, const Box& box, const void* first,
                      std::ptrdiff_t y, std::ptrdiff_t z) {
    const Quiet quiet;
    if (box.empty()) return;
    const Handle data(find_array(open_->file, array), H5Dclose, array.c_str(), open_->path);
    const Handle stored(H5Dget_type(data), H5Tclose, array.c_str(), open_->path);
    const Handle type(H5Tget_native_type(stored, H5T_DIR_ASCEND), H5Tclose, array.c_str(), open_->path);
    const std::size_t bytes = H5Tget_size(type), row = bytes * static_cast<std::size_t>(box.extent(0));
    std::vector<std::byte> packed(bytes * static_cast<std::size_t>(box.volume()));
    std::byte* to = packed.data();
    for (int k = 0; k < box.extent(2); ++k)
        for (int j = 0; j < box.extent(1); ++j, to += row)
            std::memcpy(
                to,
                static_cast<const std::byte*>(first) + (j * y + k * z) * static_cast<std::ptrdiff_t>(bytes),
                row);
    const Handle root(H5Gopen2(open_->file, "VTKHDF", H5P_DEFAULT), H5Gclose, "VTKHDF", open_->path);
    const Handle whole(H5Aopen(root, "WholeExtent", H5P_DEFAULT), H5Aclose, "WholeExtent", open_->path);
    std::array<std::int64_t, 6> limits{};
    if (H5Aread(whole, H5T_NATIVE_INT64, limits.data()) < 0) fail("WholeExtent", open_->path);
    std::vector<hsize_t> at, extent;
    for (const std::size_t axis : {2UL, 1UL, 0UL}) {
        const std::int64_t from = box.lo[axis] - limits[2 * axis];
        if (from < 0)
            throw Error(fmt::format("what is written lies outside the array '{}'", array), kFailure);
        at.push_back(static_cast<hsize_t>(from));
        extent.push_back(static_cast<hsize_t>(box.extent(static_cast<int>(axis))));
    }
    write_part(data, array, component, at, extent, packed.data(), type, open_->path);
}

void FieldFile::write(const std::string& array, int component, std::int64_t from, std::int64_t count,
                      const void* values) {
    const Quiet quiet;
    if (count == 0) return;
    const Handle data(find_array(open_->file, array), H5Dclose, array.c_str(), open_->path);
    const Handle stored(H5Dget_type(data), H5Tclose, array.c_str(), open_->path);
    const Handle type(H5Tget_native_type(stored, H5T_DIR_ASCEND), H5Tclose, array.c_str(), open_->path);
    write_part(data, array, component, {static_cast<hsize_t>(from)}, {static_cast<hsize_t>(count)}, values,
               type, open_->path);
}

void FieldFile::abandon(const fs::path& path) noexcept {
    std::error_code none;
    fs::remove(partial_of(path), none);
}

void FieldFile::finish(const fs::path& path, const fs::path& series, double time) {
    fs::rename(partial_of(path), path);
    if (series.empty()) return;
    std::vector<std::pair<std::string, double>> files;
    if (fs::exists(series)) {
        std::ifstream in(series, std::ios::binary);
        const std::string text((std::istreambuf_iterator<char>(in)), {});
        const JsonValue document = JsonValue::parse(text, series.string());
        for (const JsonValue& file : document.member("files").items())
            if (file.member("time").number() < time)
                files.emplace_back(file.member("name").string(), file.member("time").number());
    }
    files.emplace_back(path.filename().string(), time);
    const fs::path partial = partial_of(series);
    {
        std::ofstream out(partial, std::ios::binary | std::ios::trunc);
        Json j(out);
        j.object().member("file-series-version", "1.0").key("files").array();
        for (const auto& [name, at] : files) j.object().member("name", name).member("time", at).end();
        j.end().end();
        out.close();
        if (!out) fail("its list of steps", series);
    }
    fs::rename(partial, series);
}

}  // namespace strata::graph
