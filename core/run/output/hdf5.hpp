// Helpers for code that calls HDF5: handles that close themselves, and one form of error.
#pragma once

#include <fmt/format.h>
#include <hdf5.h>

#include <filesystem>
#include <utility>

#include "core/base/error.hpp"

namespace strata::graph {

[[noreturn]] inline void fail_field_file(const char* what, const std::filesystem::path& path) {
    throw Error(fmt::format("the field file could not be written: {}", what), kFailure)
        .at(path.string())
        .remedy("is there room on the disk?");
}

/// An HDF5 handle that is closed with its scope.
class Hdf5Handle {
  public:
    Hdf5Handle(hid_t id, herr_t (*close)(hid_t), const char* what, const std::filesystem::path& path)
        : id_(id), close_(close) {
        if (id < 0) fail_field_file(what, path);
    }
    ~Hdf5Handle() { close(); }
    Hdf5Handle(const Hdf5Handle&) = delete;
    Hdf5Handle& operator=(const Hdf5Handle&) = delete;
    /// Returns whether HDF5 succeeded.
    bool close() { return id_ < 0 || close_(std::exchange(id_, -1)) >= 0; }
    operator hid_t() const { return id_; }  // NOLINT(google-explicit-constructor)

  private:
    hid_t id_;
    herr_t (*close_)(hid_t);
};

/// Stops HDF5 from printing its errors: an Error reports them.
class QuietHdf5 {
  public:
    QuietHdf5() {
        H5Eget_auto2(H5E_DEFAULT, &call_, &data_);
        H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr);
    }
    ~QuietHdf5() { H5Eset_auto2(H5E_DEFAULT, call_, data_); }
    QuietHdf5(const QuietHdf5&) = delete;
    QuietHdf5& operator=(const QuietHdf5&) = delete;

  private:
    H5E_auto2_t call_ = nullptr;
    void* data_ = nullptr;
};

}  // namespace strata::graph
