// How former keys are found in a case.
#pragma once

#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "core/run/case/former.hpp"
#include "core/run/case/toml.hpp"

namespace strata::graph {

/// The error of a case with former keys.
struct FormerCase : Error {
    using Error::Error;
    std::optional<std::string> rewritten;  // all of the case in its present form; nothing: only by hand
};

struct FormerReader {
    /// Throws FormerCase where the case has former keys, and Error where it cannot be said what they are now.
    static void refuse(const CaseSchema& schema, const toml::table& table);
    /// Reads the keys that are declared, and passes over others.
    static void read_known(CaseSchema& keys, const toml::table& table);
};

}  // namespace strata::graph
