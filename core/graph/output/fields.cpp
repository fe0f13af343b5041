#include "core/graph/output/fields.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <hdf5.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include "core/base/error.hpp"
#include "core/graph/output/field_names.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

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

/// In the byte order of the machine, since values are written without HDF5; readers know from the file.
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

/// Writes a new file's parts; each call names what failed.
class Maker {
  public:
    explicit Maker(const fs::path& path)
        : path_(partial_field_file(path)),
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
        // Its place in the file is fixed now and nothing is written to it: it stays a hole. Without the time
        // of its making, the same values are the same file.
        const Handle layout(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, where.c_str(), path_);
        if (H5Pset_alloc_time(layout, H5D_ALLOC_TIME_EARLY) < 0 ||
            H5Pset_fill_time(layout, H5D_FILL_TIME_NEVER) < 0 || H5Pset_obj_track_times(layout, 0) < 0)
            fail(where.c_str(), path_);
        const Handle made(
            H5Dcreate2(root_, where.c_str(), in_file(array.element), space, H5P_DEFAULT, layout, H5P_DEFAULT),
            H5Dclose, where.c_str(), path_);
        if (!array.unit.empty()) text(made, "Unit", array.unit);
    }
    /// 0, 1, 2, ... in pieces, since there may be as many as there are particles.
    void counting(const std::string& where, std::int64_t count) {
        constexpr std::int64_t kPiece = 1 << 17;
        array(where, {where, Element::i64, 1, "", On::cells}, {static_cast<hsize_t>(count)});
        const Handle made(H5Dopen2(root_, where.c_str(), H5P_DEFAULT), H5Dclose, where.c_str(), path_);
        const Handle space(H5Dget_space(made), H5Sclose, where.c_str(), path_);
        std::vector<std::int64_t> values;
        for (std::int64_t from = 0; from < count; from += kPiece) {
            values.resize(static_cast<std::size_t>(std::min(kPiece, count - from)));
            std::iota(values.begin(), values.end(), from);
            const hsize_t at = static_cast<hsize_t>(from), many = values.size();
            const Handle memory(H5Screate_simple(1, &many, nullptr), H5Sclose, where.c_str(), path_);
            if (H5Sselect_hyperslab(space, H5S_SELECT_SET, &at, nullptr, &many, nullptr) < 0 ||
                H5Dwrite(made, H5T_NATIVE_INT64, memory, space, H5P_DEFAULT, values.data()) < 0)
                fail(where.c_str(), path_);
        }
    }
    void number(const std::string& where, std::int64_t value) {
        array(where, {where, Element::i64, 1, "", On::cells}, {1});
        const Handle made(H5Dopen2(root_, where.c_str(), H5P_DEFAULT), H5Dclose, where.c_str(), path_);
        if (H5Dwrite(made, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT, &value) < 0)
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
    maker.number("NumberOfPoints", count);
    maker.array("Points", arrays[0], {static_cast<hsize_t>(count)});
    for (const std::string kind : {"Vertices", "Lines", "Polygons", "Strips"}) {
        maker.group(kind.c_str());
        // Each particle is a vertex: its cell is its point.
        const std::int64_t cells = kind == "Vertices" ? count : 0;
        maker.number(kind + "/NumberOfCells", cells);
        maker.number(kind + "/NumberOfConnectivityIds", cells);
        maker.counting(kind + "/Offsets", cells + 1);
        maker.counting(kind + "/Connectivity", cells);
    }
    maker.group("PointData");
    for (std::size_t i = 1; i < arrays.size(); ++i)
        maker.array("PointData/" + arrays[i].name, arrays[i], {static_cast<hsize_t>(count)});
}

namespace {

constexpr std::size_t kPiece = 1 << 20;  // packed and written while it is in the cache

/// Where an array's values lie in the file; rank and extent without the direction of components.
struct Place {
    std::uint64_t at = 0;
    std::size_t bytes = 0, components = 1;  // of one component
    std::vector<std::int64_t> extent;       // slowest first
};

void write_all(int file, std::span<const std::byte> bytes, std::uint64_t at, const fs::path& path) {
    while (!bytes.empty()) {
        const ssize_t done = ::pwrite(file, bytes.data(), bytes.size(), static_cast<off_t>(at));
        if (done < 0 && errno == EINTR) continue;
        if (done <= 0)
            throw system_error("the field file could not be written", done < 0 ? errno : ENOSPC)
                .at(path.string())
                .remedy("make room, or write elsewhere; files of earlier steps are as they were");
        bytes = bytes.subspan(static_cast<std::size_t>(done));
        at += static_cast<std::uint64_t>(done);
    }
}

/// Copies values with their components side by side, as files have them.
void interleave(const std::byte* from, std::size_t count, const Place& place, std::ptrdiff_t component,
                std::byte* to) {
    if (place.components == 1) {
        std::memcpy(to, from, count * place.bytes);
        return;
    }
    const auto apart = component * static_cast<std::ptrdiff_t>(place.bytes);
    for (std::size_t i = 0; i < count; ++i)
        for (std::size_t c = 0; c < place.components; ++c, to += place.bytes)
            std::memcpy(to, from + i * place.bytes + static_cast<std::ptrdiff_t>(c) * apart, place.bytes);
}

}  // namespace

struct FieldFile::Open {
    Open(hid_t laid_out, int opened, fs::path where) : form(laid_out), file(opened), path(std::move(where)) {}
    const Place& place(const std::string& array);
    /// Writes what is packed where the run of bytes begins that it belongs to.
    void flush() {
        write_all(file, packed, from, path);
        packed.clear();
    }
    /// Room for a run of bytes at `at`, joined with the one before where it follows on.
    std::byte* room(std::uint64_t at, std::size_t bytes) {
        if (!packed.empty() && (at != from + packed.size() || packed.size() + bytes > kPiece)) flush();
        if (packed.empty()) from = at;
        packed.resize(packed.size() + bytes);
        return packed.data() + packed.size() - bytes;
    }

    hid_t form;  // what HDF5 knows of the file
    int file;
    fs::path path;
    std::array<std::int64_t, 6> limits{};  // of a grid's cells
    std::map<std::string, Place> places;
    std::vector<std::byte> packed;
    std::uint64_t from = 0;
};

const Place& FieldFile::Open::place(const std::string& array) {
    const auto known = places.find(array);
    if (known != places.end()) return known->second;
    hid_t found = -1;
    for (const char* where : {"/VTKHDF/CellData/", "/VTKHDF/PointData/", "/VTKHDF/"})
        if (found < 0) found = H5Dopen2(form, (where + array).c_str(), H5P_DEFAULT);
    const Handle data(found, H5Dclose, array.c_str(), path);
    const Handle type(H5Dget_type(data), H5Tclose, array.c_str(), path);
    const Handle space(H5Dget_space(data), H5Sclose, array.c_str(), path);
    std::vector<hsize_t> extent(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    const haddr_t at = H5Dget_offset(data);
    const bool empty = std::find(extent.begin(), extent.end(), 0U) != extent.end();
    if (at == HADDR_UNDEF && !empty) fail("its arrays have no place", path);
    Place place{at, H5Tget_size(type), 1, {extent.begin(), extent.end()}};
    const std::size_t directions = limits[1] > limits[0] ? 3 : 1;
    if (extent.size() > directions) {
        place.components = static_cast<std::size_t>(extent.back());
        place.extent.pop_back();
    }
    return places.emplace(array, std::move(place)).first->second;
}

FieldFile::FieldFile(const fs::path& path) {
    const Quiet quiet;
    const fs::path partial = partial_field_file(path);
    const hid_t form = H5Fopen(partial.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (form < 0) fail("it cannot be opened", path);
    const int file = ::open(partial.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        const int error_number = errno;
        H5Fclose(form);
        throw system_error("the field file cannot be opened", error_number).at(path.string());
    }
    open_ = std::make_unique<Open>(form, file, path);
    if (H5Aexists_by_name(form, "/VTKHDF", "WholeExtent", H5P_DEFAULT) <= 0) return;
    const Handle whole(H5Aopen_by_name(form, "/VTKHDF", "WholeExtent", H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                       "WholeExtent", path);
    if (H5Aread(whole, H5T_NATIVE_INT64, open_->limits.data()) < 0) fail("WholeExtent", path);
}

FieldFile::~FieldFile() {
    const Quiet quiet;
    if (open_->file >= 0) ::close(open_->file);
    if (open_->form >= 0) H5Fclose(open_->form);
}

void FieldFile::close() {
    const Quiet quiet;
    if (open_->file < 0) return;
    const int file = std::exchange(open_->file, -1);
    const int error_number = ::close(file) == 0 ? 0 : errno;
    H5Fclose(std::exchange(open_->form, -1));
    if (error_number != 0)
        throw system_error("the field file could not be written", error_number).at(open_->path.string());
}

void FieldFile::write(const std::string& array, const Box& box, const void* first, std::ptrdiff_t y,
                      std::ptrdiff_t z, std::ptrdiff_t component) {
    const Quiet quiet;
    if (box.empty()) return;
    const Place& place = open_->place(array);
    if (place.extent.size() != 3) throw Error("an array of particles has no box", kFailure).given(array);
    std::array<std::int64_t, 3> at{};
    for (std::size_t a = 0; a < 3; ++a) {
        at[a] = box.lo[a] - open_->limits[2 * a];
        if (at[a] < 0 || at[a] + box.extent(static_cast<int>(a)) > place.extent[2 - a])
            throw Error(fmt::format("what is written lies outside the array '{}'", array), kFailure)
                .at(open_->path.string());
    }
    const std::size_t value = place.bytes * place.components;
    const auto row = static_cast<std::size_t>(box.extent(0));
    for (int k = 0; k < box.extent(2); ++k)
        for (int j = 0; j < box.extent(1); ++j) {
            const std::int64_t index = ((at[2] + k) * place.extent[1] + at[1] + j) * place.extent[2] + at[0];
            interleave(static_cast<const std::byte*>(first) +
                           (j * y + k * z) * static_cast<std::ptrdiff_t>(place.bytes),
                       row, place, component,
                       open_->room(place.at + static_cast<std::uint64_t>(index) * value, row * value));
        }
    open_->flush();
}

void FieldFile::write(const std::string& array, std::int64_t from, std::int64_t count, const void* values,
                      std::ptrdiff_t component) {
    const Quiet quiet;
    if (count == 0) return;
    const Place& place = open_->place(array);
    if (place.extent.size() != 1 || from < 0 || from + count > place.extent[0])
        throw Error(fmt::format("what is written lies outside the array '{}'", array), kFailure)
            .at(open_->path.string());
    const std::size_t value = place.bytes * place.components;
    const auto piece = static_cast<std::int64_t>(std::max<std::size_t>(1, kPiece / value));
    for (std::int64_t i = 0; i < count; i += piece) {
        const auto many = static_cast<std::size_t>(std::min(piece, count - i));
        interleave(static_cast<const std::byte*>(values) + static_cast<std::size_t>(i) * place.bytes, many,
                   place, component,
                   open_->room(place.at + static_cast<std::uint64_t>(from + i) * value, many * value));
    }
    open_->flush();
}

}  // namespace strata::graph
