// Two field files, array by array, bit by bit.
#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <fstream>

#include "core/base/bits.hpp"
#include "core/run/output/fields.hpp"
#include "core/run/output/hdf5.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;  // bytes in memory, a multiple of any value's

hid_t opened(const fs::path& path) {
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    if (file < 0) throw Error("the field file cannot be read", kFailure).at(path.string());
    return file;
}

std::vector<std::string> arrays_of(hid_t file, const fs::path& path) {
    std::vector<std::string> names;
    const auto add = [](hid_t, const char* name, const H5O_info_t* info, void* into) -> herr_t {
        if (info->type == H5O_TYPE_DATASET) static_cast<std::vector<std::string>*>(into)->emplace_back(name);
        return 0;
    };
#if H5_VERSION_GE(1, 12, 0)
    const herr_t visited = H5Ovisit3(file, H5_INDEX_NAME, H5_ITER_NATIVE, add, &names, H5O_INFO_BASIC);
#else
    const herr_t visited = H5Ovisit(file, H5_INDEX_NAME, H5_ITER_NATIVE, add, &names);
#endif
    if (visited < 0) throw Error("the field file cannot be read", kFailure).at(path.string());
    return names;
}

/// An array: where its bytes lie, which are one after the other.
struct Stored {
    std::vector<hsize_t> extent;
    std::size_t bytes = 1;  // of a value
    bool floating = false;
    haddr_t at = HADDR_UNDEF;

    Stored(hid_t file, const std::string& name, const fs::path& path) {
        const Hdf5Handle data(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, name.c_str(), path);
        const Hdf5Handle type(H5Dget_type(data), H5Tclose, name.c_str(), path);
        const Hdf5Handle space(H5Dget_space(data), H5Sclose, name.c_str(), path);
        extent.resize(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
        H5Sget_simple_extent_dims(space, extent.data(), nullptr);
        bytes = H5Tget_size(type);
        floating = H5Tget_class(type) == H5T_FLOAT;
        at = H5Dget_offset(data);
    }
    [[nodiscard]] std::size_t length() const {
        std::size_t all = bytes;
        for (const hsize_t along : extent) all *= along;
        return at == HADDR_UNDEF ? 0 : all;
    }
};

std::string difference_of(const Stored& a, std::ifstream& one, const Stored& b, std::ifstream& other) {
    if (a.extent != b.extent || a.bytes != b.bytes || a.length() != b.length())
        return "they have another number of values";
    if (a.length() == 0) return "";  // it lies nowhere
    one.seekg(static_cast<std::streamoff>(a.at));
    other.seekg(static_cast<std::streamoff>(b.at));
    std::vector<std::byte> left, right;
    for (std::size_t done = 0; done < a.length(); done += left.size()) {
        left.resize(std::min(kPiece, a.length() - done));
        right.resize(left.size());
        if (!one.read(reinterpret_cast<char*>(left.data()), static_cast<std::streamsize>(left.size())) ||
            !other.read(reinterpret_cast<char*>(right.data()), static_cast<std::streamsize>(right.size())))
            return "a file was cut short";
        const std::string found =
            first_difference(left.data(), right.data(), left.size(), a.bytes, a.floating, done / a.bytes);
        if (!found.empty()) return found;
    }
    return "";
}

}  // namespace

std::string fields_difference(const fs::path& one, const fs::path& other) {
    const QuietHdf5 quiet;
    const Hdf5Handle first(opened(one), H5Fclose, "it cannot be read", one);
    const Hdf5Handle second(opened(other), H5Fclose, "it cannot be read", other);
    std::ifstream one_bytes(one, std::ios::binary), other_bytes(other, std::ios::binary);
    const std::vector<std::string> theirs = arrays_of(second, other);
    for (const std::string& name : arrays_of(first, one)) {
        if (std::count(theirs.begin(), theirs.end(), name) == 0) continue;
        const std::string found =
            difference_of({first, name, one}, one_bytes, {second, name, other}, other_bytes);
        if (!found.empty()) return fmt::format("'{}', {}", name.substr(name.rfind('/') + 1), found);
    }
    return "";
}

}  // namespace strata::graph
