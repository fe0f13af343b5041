#include "core/run/output/fields.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <map>
#include <span>
#include <utility>

#include "core/run/output/field_names.hpp"
#include "core/run/output/hdf5.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPiece = 1 << 20;     // bytes packed and written while they are in the cache
constexpr std::int64_t kNumbers = 1 << 17;  // that are held at once

/// The place of an array's values in the file; extent without the direction of components.
struct ArrayPlace {
    std::uint64_t at = 0;
    std::size_t bytes = 0, components = 1;  // of one component
    std::vector<std::int64_t> extent;       // slowest first
    Int3 lo{};                              // the first indices, where there are three
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

/// Copies values with the components of each side by side, as in files.
void interleave(const std::byte* from, std::size_t count, const ArrayPlace& place, std::ptrdiff_t component,
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
    ArrayPlace& place(const std::string& array);
    /// Writes the packed bytes to their place in the file.
    void flush() {
        write_all(file, packed, from, path);
        packed.clear();
    }
    /// Returns room for bytes that belong at `at`. They are joined with the packed bytes where they follow
    /// these directly.
    std::byte* room(std::uint64_t at, std::size_t bytes) {
        if (!packed.empty() && (at != from + packed.size() || packed.size() + bytes > kPiece)) flush();
        if (packed.empty()) from = at;
        packed.resize(packed.size() + bytes);
        return packed.data() + packed.size() - bytes;
    }

    hid_t form;  // HDF5's handle of the file
    int file;
    fs::path path;
    std::array<std::int64_t, 6> limits{};  // of an image's cells
    std::map<std::string, ArrayPlace> places;
    std::vector<std::byte> packed;
    std::uint64_t from = 0;
};

ArrayPlace& FieldFile::Open::place(const std::string& array) {
    const auto known = places.find(array);
    if (known != places.end()) return known->second;
    hid_t found = -1;
    for (const char* where : {"/VTKHDF/CellData/", "/VTKHDF/PointData/", "/VTKHDF/"})
        if (found < 0) found = H5Dopen2(form, (where + array).c_str(), H5P_DEFAULT);
    const Hdf5Handle data(found, H5Dclose, array.c_str(), path);
    const Hdf5Handle type(H5Dget_type(data), H5Tclose, array.c_str(), path);
    const Hdf5Handle space(H5Dget_space(data), H5Sclose, array.c_str(), path);
    std::vector<hsize_t> extent(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    const haddr_t at = H5Dget_offset(data);
    const bool empty = std::find(extent.begin(), extent.end(), 0U) != extent.end();
    if (at == HADDR_UNDEF && !empty) fail_field_file("its arrays have no place", path);
    ArrayPlace place{at, H5Tget_size(type), 1, {extent.begin(), extent.end()}};
    const std::size_t directions = extent.size() >= 3 ? 3 : 1;  // of a grid; of a list
    if (extent.size() > directions) {
        place.components = static_cast<std::size_t>(extent.back());
        place.extent.pop_back();
    }
    for (std::size_t a = 0; a < 3; ++a) place.lo[a] = static_cast<int>(limits[2 * a]);
    return places.emplace(array, std::move(place)).first->second;
}

FieldFile::FieldFile(const fs::path& path) {
    const QuietHdf5 quiet;
    const fs::path partial = partial_field_file(path);
    const hid_t form = H5Fopen(partial.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (form < 0) fail_field_file("it cannot be opened", path);
    const int file = ::open(partial.c_str(), O_WRONLY | O_CLOEXEC);
    if (file < 0) {
        const int error_number = errno;
        H5Fclose(form);
        throw system_error("the field file cannot be opened", error_number).at(path.string());
    }
    open_ = std::make_unique<Open>(form, file, path);
    if (H5Aexists_by_name(form, "/VTKHDF", "WholeExtent", H5P_DEFAULT) <= 0) return;
    const Hdf5Handle whole(H5Aopen_by_name(form, "/VTKHDF", "WholeExtent", H5P_DEFAULT, H5P_DEFAULT),
                           H5Aclose, "WholeExtent", path);
    if (H5Aread(whole, H5T_NATIVE_INT64, open_->limits.data()) < 0) fail_field_file("WholeExtent", path);
}

FieldFile::~FieldFile() {
    const QuietHdf5 quiet;
    if (open_->file >= 0) ::close(open_->file);
    if (open_->form >= 0) H5Fclose(open_->form);
}

void FieldFile::close() {
    const QuietHdf5 quiet;
    if (open_->file < 0) return;
    const int file = std::exchange(open_->file, -1);
    const int error_number = ::close(file) == 0 ? 0 : errno;
    H5Fclose(std::exchange(open_->form, -1));
    if (error_number != 0)
        throw system_error("the field file could not be written", error_number).at(open_->path.string());
}

void FieldFile::write(const std::string& array, std::span<const Part> parts) {
    const QuietHdf5 quiet;
    if (parts.empty()) return;
    const ArrayPlace& place = open_->place(array);
    if (place.extent.size() != 3) throw Error("an array of particles has no box", kFailure).given(array);
    const Box& first = parts[0].box;
    for (const Part& part : parts)
        for (std::size_t a = 0; a < 3; ++a) {
            const int axis = static_cast<int>(a);
            const std::int64_t from = std::int64_t{part.box.lo[a]} - place.lo[a];
            if (from < 0 || from + part.box.extent(axis) > place.extent[2 - a] ||
                (a > 0 && part.box.extent(axis) != first.extent(axis)))
                throw Error(fmt::format("what is written lies outside the array '{}'", array), kFailure)
                    .at(open_->path.string());
        }
    const std::size_t value = place.bytes * place.components;
    for (int k = 0; k < first.extent(2); ++k)
        for (int j = 0; j < first.extent(1); ++j)
            for (const Part& part : parts) {
                const std::int64_t x = part.box.lo[0] - place.lo[0], y = part.box.lo[1] - place.lo[1] + j,
                                   z = part.box.lo[2] - place.lo[2] + k;
                const auto index =
                    static_cast<std::uint64_t>((z * place.extent[1] + y) * place.extent[2] + x);
                const auto row = static_cast<std::size_t>(part.box.extent(0));
                interleave(static_cast<const std::byte*>(part.first) +
                               (j * part.y + k * part.z) * static_cast<std::ptrdiff_t>(place.bytes),
                           row, place, part.component, open_->room(place.at + index * value, row * value));
            }
    open_->flush();
}

void FieldFile::write(const std::string& array, std::int64_t from, std::int64_t count, const void* values,
                      std::ptrdiff_t component) {
    const QuietHdf5 quiet;
    if (count == 0) return;
    const ArrayPlace& place = open_->place(array);
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

void FieldFile::frame(const std::string& array, const Box& indices, int components) {
    const QuietHdf5 quiet;
    ArrayPlace& place = open_->place(array);
    std::int64_t values = static_cast<std::int64_t>(place.components);
    for (const std::int64_t along : place.extent) values *= along;
    if (values != indices.volume() * components)
        throw Error(fmt::format("the array '{}' has another number of values", array), kFailure)
            .at(open_->path.string());
    place.extent = {indices.extent(2), indices.extent(1), indices.extent(0)};
    place.components = static_cast<std::size_t>(components);
    place.lo = indices.lo;
}

void FieldFile::write_multiples(const std::string& array, std::int64_t count, std::int64_t step) {
    std::vector<std::int64_t> numbers;
    for (std::int64_t from = 0; from < count; from += kNumbers) {
        numbers.resize(static_cast<std::size_t>(std::min(kNumbers, count - from)));
        for (std::size_t i = 0; i < numbers.size(); ++i)
            numbers[i] = (from + static_cast<std::int64_t>(i)) * step;
        write(array, from, static_cast<std::int64_t>(numbers.size()), numbers.data());
    }
}

}  // namespace strata::graph
