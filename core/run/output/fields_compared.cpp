// Two field files, array by array, bit by bit. HDF5 reads where their arrays lie, in a process of its own: it
// crashes or takes all memory on some damaged files, and a run's folder may be a stranger's.
#include <fmt/ranges.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <vector>

#include "core/base/bits.hpp"
#include "core/base/in_a_child.hpp"
#include "core/run/output/fields.hpp"
#include "core/run/output/hdf5.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

namespace {

constexpr std::size_t kPiece = std::size_t{4} << 20;  // bytes in memory of the values that are compared
constexpr std::size_t kMostMemory = std::size_t{256} << 20;  // that HDF5 may claim for names and places

Error unreadable(const fs::path& path) {
    return Error("the field file cannot be read", kFailure)
        .at(path.string())
        .allowed("an HDF5 file that a run has written")
        .remedy("remove it from the run's fields to replay without it");
}

/// An array: where its bytes lie, which are one after the other.
struct Stored {
    std::vector<std::uint64_t> extent;
    std::uint64_t bytes = 1;  // of a value
    bool floating = false;
    std::uint64_t at = HADDR_UNDEF;  // HADDR_UNDEF: nowhere
    std::uint64_t length = 0;        // of all values
};

using Arrays = std::map<std::string, Stored>;

/// "AT BYTES FLOATING EXTENT ...", for parsed().
std::string described(hid_t file, const std::string& name, const fs::path& path) {
    const Hdf5Handle data(H5Dopen2(file, name.c_str(), H5P_DEFAULT), H5Dclose, name.c_str(), path);
    const Hdf5Handle type(H5Dget_type(data), H5Tclose, name.c_str(), path);
    const Hdf5Handle space(H5Dget_space(data), H5Sclose, name.c_str(), path);
    std::vector<hsize_t> extent(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
    H5Sget_simple_extent_dims(space, extent.data(), nullptr);
    return fmt::format("{} {} {:d} {}", H5Dget_offset(data), H5Tget_size(type),
                       H5Tget_class(type) == H5T_FLOAT, fmt::join(extent, " "));
}

/// The names and descriptions of all arrays, each with a zero at its end.
std::string listed(const fs::path& path) {
    const QuietHdf5 quiet;
    claim_at_most(kMostMemory);
    const Hdf5Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose, "", path);
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
    if (visited < 0) throw unreadable(path);
    std::string text;
    for (const std::string& name : names) text += name + '\0' + described(file, name, path) + '\0';
    return text;
}

/// What listed() said, believed only as far as the file's `size` allows.
Arrays parsed(const std::string& text, std::uint64_t size, const fs::path& path) {
    Arrays arrays;
    std::istringstream in(text);
    for (std::string name, words; std::getline(in, name, '\0') && std::getline(in, words, '\0');) {
        Stored& array = arrays[name];
        std::istringstream cells(words);
        if (!(cells >> array.at >> array.bytes >> array.floating) || array.bytes == 0) throw unreadable(path);
        for (std::uint64_t along = 0; cells >> along;) array.extent.push_back(along);
        if (array.at == HADDR_UNDEF) continue;
        if (array.at > size || array.bytes > kPiece) throw unreadable(path);
        const bool none = std::count(array.extent.begin(), array.extent.end(), 0) > 0;
        if (none) continue;
        std::uint64_t values = 1;
        const std::uint64_t most = (size - array.at) / array.bytes;
        for (const std::uint64_t along : array.extent) {
            if (along > most / values) throw unreadable(path);
            values *= along;
        }
        if (values > most) throw unreadable(path);
        array.length = values * array.bytes;
    }
    return arrays;
}

Arrays arrays_of(const fs::path& path) {
    std::error_code wrong;
    if (!fs::is_regular_file(path, wrong)) throw unreadable(path);
    const std::optional<std::string> text = in_a_child([&] { return listed(path); });
    const std::uint64_t size = fs::file_size(path, wrong);
    if (!text || wrong) throw unreadable(path);
    return parsed(*text, size, path);
}

std::string difference_of(const Stored& a, std::ifstream& one, const Stored& b, std::ifstream& other) {
    if (a.extent != b.extent || a.bytes != b.bytes || a.length != b.length)
        return "they have another number of values";
    if (a.length == 0) return "";  // it lies nowhere
    one.seekg(static_cast<std::streamoff>(a.at));
    other.seekg(static_cast<std::streamoff>(b.at));
    std::vector<std::byte> left, right;
    for (std::uint64_t done = 0; done < a.length; done += left.size()) {
        left.resize(std::min(kPiece - kPiece % a.bytes, a.length - done));
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
    const Arrays ours = arrays_of(one), theirs = arrays_of(other);
    std::ifstream one_bytes(one, std::ios::binary), other_bytes(other, std::ios::binary);
    for (const auto& [name, array] : ours) {
        const auto same = theirs.find(name);
        if (same == theirs.end()) continue;
        const std::string found = difference_of(array, one_bytes, same->second, other_bytes);
        if (!found.empty()) return fmt::format("'{}', {}", name.substr(name.rfind('/') + 1), found);
    }
    return "";
}

}  // namespace strata::graph
