// Keys that case files had once, and what stands in their place now. A case with former keys is refused, and
// the error has the text to write; `strata run CASE --rewrite` writes it.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "core/run/case/case.hpp"

namespace strata::graph {

/// TOML that takes the place of the former keys of [section]: tables with their headers.
struct Renewed {
    std::string section, text;
};

/// Former keys of a solver, which are read as others are, and what they are now.
struct FormerKeys {
    /// Declares them; called once for each reading of a case that has some of them.
    std::function<void(CaseSchema& keys)> declare;
    /// Of the values read last. Throws Error (CaseSchema::refuse) where they contradict each other.
    std::function<std::vector<Renewed>(const CaseSchema& keys)> renew;
};

/// Numbers and texts as one would write them in a case: 200e9, [0.0, 0.5, 1.0], "box".
[[nodiscard]] std::string case_text(double number);
[[nodiscard]] std::string case_text(const std::string& text);
[[nodiscard]] std::string case_text(const std::vector<double>& numbers);

/// Writes the case in its present form where it has former keys, and keeps what it was as FILE.old. Comments
/// stay but those on the lines of former keys. Returns what was done, a line of text. Throws Error: for what
/// CaseSchema::read() refuses, where FILE.old exists, and where a file cannot be written.
[[nodiscard]] std::string rewrite_case(CaseSchema& schema, const std::filesystem::path& file);

}  // namespace strata::graph
