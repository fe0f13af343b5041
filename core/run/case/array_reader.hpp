// How arrays of tables are read: what they have, before their keys are.
#pragma once

#include <string>

#include "core/run/case/case.hpp"
#include "core/run/case/toml.hpp"

namespace strata::graph {

struct ArrayReader {
    /// Declares the keys of all tables of arrays that a case has. Throws Error with file and line where an
    /// array is something else, or too long or too short.
    static void open(CaseSchema& schema, const toml::table& table);
    /// Whether a key is an array of the schema.
    static bool is_array(const CaseSchema& schema, const std::string& name);
    /// Whether a key, which stands in the table `path`, only looks like a table of an array: `"bodies[0]"`.
    static bool is_within_array(const CaseSchema& schema, const std::string& key, const std::string& path);
};

}  // namespace strata::graph
