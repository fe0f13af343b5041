// Tables from users: comma-separated, a line of column names first, lines with '#' are comments.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"
#include "core/base/options.hpp"
#include "core/base/text.hpp"

namespace strata::balance {

/// Reads a table line by line. Errors name the file, the line and, where there is one, the column.
class Csv {
  public:
    /// Opens the file and reads its column names, all of which must be in `known`. Throws Error.
    Csv(const std::string& path, const std::vector<std::string>& known)
        : path_(path), in_(read_named(path, "the table")) {
        if (!split_line())
            throw Error("the table is empty")
                .at(path)
                .allowed(fmt::format("a line of column names first: {}", fmt::join(known, ",")));
        columns_ = fields_;
        for (const std::string& name : columns_) {
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                const std::string near = nearest(name, known);
                Error unknown("the first line names an unknown column");
                unknown.at(path, line_).given(name).allowed(fmt::format("{}", fmt::join(known, ", ")));
                if (!near.empty()) unknown.remedy("did you mean " + near + "?");
                throw unknown;
            }
            if (std::count(columns_.begin(), columns_.end(), name) > 1)
                throw Error("a column is named twice").at(path, line_).given(name);
        }
    }

    /// Reads the next row; false at the end. Throws Error where it has too few or too many fields.
    bool next() {
        if (!split_line()) return false;
        if (fields_.size() != columns_.size())
            throw Error("a row has another number of fields than the first line")
                .at(path_, line_)
                .given(fmt::format("{} fields", fields_.size()))
                .allowed(fmt::format("{}: {}", columns_.size(), fmt::join(columns_, ",")));
        return true;
    }

    [[nodiscard]] bool has(const std::string& column) const {
        return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
    }
    void require(const std::string& column) const {
        if (!has(column)) throw Error("a column is missing").at(path_, 0, column);
    }
    [[nodiscard]] const std::string& text(const std::string& column) const {
        return fields_[static_cast<size_t>(std::find(columns_.begin(), columns_.end(), column) -
                                           columns_.begin())];
    }
    [[nodiscard]] double number(const std::string& column, double least, double most) const {
        const std::string& field = text(column);
        if (const auto value = parse_number<double>(field, least, most)) return *value;
        throw error(column, "a number is expected").allowed(fmt::format("{:g} to {:g}", least, most));
    }
    /// An error about this field of the current row.
    [[nodiscard]] Error error(const std::string& column, const std::string& message) const {
        Error wrong(message);
        wrong.at(path_, line_, column).given(text(column).empty() ? "nothing" : text(column));
        return wrong;
    }
    [[nodiscard]] int line() const { return line_; }

  private:
    bool split_line() {
        for (std::string line; std::getline(in_, line);) {
            ++line_;
            if (!line.empty() && line.back() == '\r') line.pop_back();
            if (line.find_first_not_of(" \t") == std::string::npos || line.front() == '#') continue;
            fields_.clear();
            for (size_t begin = 0; begin <= line.size();) {
                const size_t end = std::min(line.find(',', begin), line.size());
                const size_t first = line.find_first_not_of(" \t", begin);
                std::string field = first >= end ? "" : line.substr(first, end - first);
                field.erase(field.find_last_not_of(" \t") + 1);
                fields_.push_back(std::move(field));
                begin = end + 1;
            }
            return true;
        }
        return false;
    }

    std::string path_;
    std::istringstream in_;
    int line_ = 0;
    std::vector<std::string> columns_, fields_;
};

}  // namespace strata::balance
