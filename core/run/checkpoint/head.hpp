// The head of a checkpoint, and the paths of its parts. docs/run-output.md describes the files.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "core/graph/declare/label.hpp"

namespace strata::graph {

/// Description of a state, independent of the layout: families with their patches, labels, step and time, and
/// the parameters that a user may have changed.
struct CheckpointHead {
    struct Family {
        std::string name;
        int patches = 0;
        friend bool operator==(const Family&, const Family&) = default;
    };
    /// A label whose values are kept from step to step. `family` is empty for scalars: patch 0 has them.
    struct Label {
        std::string name, family;
        Element element = Element::f64;
        std::size_t bytes = sizeof(double);  // of one component of one value
        int components = 1;
        int generations = 1;  // 1 + the history that is kept
        friend bool operator==(const Label&, const Label&) = default;
    };

    /// Of the files: 2. In those of format 1 the maker of an object is a number (makers.hpp).
    int format = 2;
    std::string case_name;
    std::string case_hash;  // of the keys that decide the values: any text; "" where none is known
    /// Names of the case's keys that a restart needs to know, with their values as text. None in checkpoints
    /// of earlier versions.
    std::vector<std::pair<std::string, std::string>> keys;
    /// What other cases need to know that begin with this state, e.g. the box: numbers by name.
    std::vector<std::pair<std::string, std::vector<double>>> facts;
    bool ended = false;  // the run had come to the end of its case
    std::int64_t step = 0;
    double time = 0;  // in the case's unit
    std::vector<Family> families;
    std::vector<Label> labels;
    std::vector<std::pair<std::string, double>> parameters;  // values of Graph::parameter at this step

    /// The value of a key, or a fact; nullptr where there is none of this name.
    [[nodiscard]] const std::string* key(const std::string& name) const;
    [[nodiscard]] const std::vector<double>* fact(const std::string& name) const;
    /// The number of a label in `labels`. Throws Error where there is none of this name.
    [[nodiscard]] int label(const std::string& name) const;
};

/// "f64", "i32", ...: the type's name in files.
[[nodiscard]] const char* name_of(Element element);
/// The reverse. Throws Error with the names allowed.
[[nodiscard]] Element element_named(const std::string& name, const std::string& file);

/// <folder>/checkpoint-000500, the path of the complete checkpoint; and the path while it is written.
[[nodiscard]] std::filesystem::path checkpoint_path(const std::filesystem::path& folder, std::int64_t step);
[[nodiscard]] std::filesystem::path partial_path(const std::filesystem::path& folder, std::int64_t step);
/// Steps of the complete checkpoints in a folder, ascending; none where there is no folder.
[[nodiscard]] std::vector<std::int64_t> checkpoint_steps(const std::filesystem::path& folder);

/// The text of checkpoint.json. It ends with the checksum of the text before.
[[nodiscard]] std::string head_text(const CheckpointHead& head, int parts);
/// Reads it. Throws Error where it is damaged, of another program or of a later version.
[[nodiscard]] CheckpointHead read_head(const std::filesystem::path& file, int& parts);

/// part-0003.data and part-0003.index.
[[nodiscard]] std::string part_name(int part, const char* what);

}  // namespace strata::graph
