// Names of field files, and the list of them that ParaView opens: the parts that need no HDF5.
#pragma once

#include <filesystem>

namespace strata::graph {

/// The name of a file while it is written.
[[nodiscard]] std::filesystem::path partial_field_file(const std::filesystem::path& path);

}  // namespace strata::graph
