// Names of field files, and the list of them that ParaView opens: what needs no HDF5.
#pragma once

#include <filesystem>

namespace strata::graph {

/// What a file is called while it is written.
[[nodiscard]] std::filesystem::path partial_field_file(const std::filesystem::path& path);

}  // namespace strata::graph
