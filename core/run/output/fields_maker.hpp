// Lays a new field file out by HDF5, in memory: groups, attributes, and a place for each array.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "core/run/output/fields.hpp"
#include "core/run/output/hdf5.hpp"
#include "core/run/output/hdf5_memory.hpp"

namespace strata::graph {

/// Each error names the part that failed. Names of groups and arrays are below the file's group VTKHDF.
class FieldMaker {
  public:
    /// VTKHDF with its type, VTK's word for the kind of data set, and the time of a file without steps.
    /// `ordered`: readers find groups in the order in which they were made.
    FieldMaker(const std::filesystem::path& path, const std::string& type, double time, bool ordered = false);

    void group(const std::string& name, bool ordered = false);
    /// A block of a composite data set: a group that has what a file of its type has.
    void block(const std::string& name, const std::string& type);
    /// A name for the block, in the order of the file's tree.
    void link(const std::string& name, const std::string& block);
    /// Attributes of VTKHDF, or of a group within it.
    void doubles(const char* name, const std::vector<double>& values);
    void integers(const char* name, const std::vector<std::int64_t>& values, const std::string& of = "");
    /// Room for an array; its values are written later, by all processes.
    void array(const std::string& where, const FieldArray& array, std::vector<hsize_t> extent);
    void number(const std::string& where, std::int64_t value);
    /// Writes the layout to the partial file.
    void finish();

  private:
    void attribute(hid_t of, const char* name, hid_t stored, hid_t given, const std::vector<hsize_t>& extent,
                   const void* values);
    void text(hid_t of, const char* name, const std::string& value);

    std::filesystem::path path_;
    MemoryFile memory_;
    Hdf5Handle file_, root_;
};

/// Throws Error where arrays cannot have their names: these become parts of HDF5's paths (no '/'), and VTK
/// refuses dots in them.
void check_names(const std::vector<FieldArray>& arrays);

}  // namespace strata::graph
