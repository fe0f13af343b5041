// Field files read back with HDF5's own functions.
#pragma once

#include <hdf5.h>

#include <filesystem>
#include <string>
#include <vector>

#include "tests/catch.hpp"

namespace strata::tests {

/// A file that is read; everything stays open until the end of the process, which is enough here.
class Read {
  public:
    explicit Read(const std::filesystem::path& path)
        : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
        REQUIRE(file_ >= 0);
    }
    ~Read() { H5Fclose(file_); }
    [[nodiscard]] std::string text(const char* object, const char* name) const {
        const hid_t attribute = H5Aopen_by_name(file_, object, name, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t type = H5Aget_type(attribute);
        REQUIRE(H5Tis_variable_str(type) == 0);
        CHECK(H5Tget_cset(type) == H5T_CSET_ASCII);
        std::string value(H5Tget_size(type), '\0');
        H5Aread(attribute, type, value.data());
        H5Tclose(type), H5Aclose(attribute);
        return value;
    }
    template <class T>
    [[nodiscard]] std::vector<T> attribute(const char* name, hid_t type, std::size_t count) const {
        const hid_t attribute = H5Aopen_by_name(file_, "/VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
        REQUIRE(attribute >= 0);
        const hid_t space = H5Aget_space(attribute);
        REQUIRE(H5Sget_simple_extent_npoints(space) == static_cast<hssize_t>(count));
        std::vector<T> values(count);
        H5Aread(attribute, type, values.data());
        H5Sclose(space), H5Aclose(attribute);
        return values;
    }
    template <class T>
    [[nodiscard]] std::vector<T> array(const std::string& name, hid_t type, std::vector<hsize_t> extent,
                                       std::size_t stored_bytes) const {
        const hid_t data = H5Dopen2(file_, ("/VTKHDF/" + name).c_str(), H5P_DEFAULT);
        REQUIRE(data >= 0);
        const hid_t space = H5Dget_space(data), stored = H5Dget_type(data);
        std::vector<hsize_t> found(static_cast<std::size_t>(H5Sget_simple_extent_ndims(space)));
        H5Sget_simple_extent_dims(space, found.data(), nullptr);
        CHECK(found == extent);
        CHECK(H5Tget_size(stored) == stored_bytes);
        std::vector<T> values(static_cast<std::size_t>(H5Sget_simple_extent_npoints(space)));
        H5Dread(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Tclose(stored), H5Sclose(space), H5Dclose(data);
        return values;
    }

  private:
    hid_t file_;
};

}  // namespace strata::tests
