// Files that a case names.
#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/run/case/case.hpp"

namespace strata::graph {

namespace fs = std::filesystem;

fs::path CaseSchema::path(const std::string& key, const std::string& name) const {
    std::error_code none;
    const fs::path here = fs::absolute(name, none).lexically_normal();
    const fs::path beside = (fs::absolute(file_, none).parent_path() / name).lexically_normal();
    if (fs::exists(beside, none)) return (fs::path(file_).parent_path() / name).lexically_normal();
    if (fs::exists(here, none)) return name;
    const Entry* of = meant(key);
    Error error("there is no such file");
    error.at(file_, of == nullptr ? 0 : of->line, spelled(full(key))).given(name);
    throw error.allowed(beside == here ? fmt::format("a file; it was looked for at {}", here.string())
                                       : fmt::format("a file beside the case, else in the current "
                                                     "directory; it was looked for at {} and {}",
                                                     beside.string(), here.string()));
}

}  // namespace strata::graph
