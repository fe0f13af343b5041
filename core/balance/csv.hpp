// Tables from users: comma-separated, a line of column names first, lines with '#' are comments.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/base/text.hpp"
#include "core/base/text_file.hpp"

namespace strata::balance {

/// Reads a table line by line. Errors name the file, the line and, where there is one, the column.
class Csv {
  public:
    /// Opens the file and reads its column names, all of which must be in `known`. Throws Error.
    Csv(const std::string& path, const std::vector<std::string>& known)
        : path_(path), file_(path, "the table") {
        if (!split_line())
            throw Error("the table is empty")
                .at(path)
                .allowed(fmt::format("a line of column names first: {}", fmt::join(known, ",")));
        columns_ = fields_;
        for (const std::string& name : columns_) {
            if (std::find(known.begin(), known.end(), name) == known.end()) {
                const std::string near = nearest(name, known);
                Error unknown = file_.wrong("the first line names an unknown column");
                unknown.given(name).allowed(fmt::format("{}", fmt::join(known, ", ")));
                if (!near.empty()) unknown.remedy("did you mean " + near + "?");
                throw unknown;
            }
            if (std::count(columns_.begin(), columns_.end(), name) > 1)
                throw file_.wrong("a column is named twice").given(name);
        }
    }

    /// Reads the next row; false at the end. Throws Error where it has too few or too many fields.
    bool next() {
        if (!split_line()) return false;
        if (fields_.size() != columns_.size())
            throw file_.wrong("a row has another number of fields than the first line")
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
        return file_.wrong(message, column).given(text(column).empty() ? "nothing" : text(column));
    }
    [[nodiscard]] int line() const { return file_.number(); }

  private:
    bool split_line() {
        while (file_.next_line()) {
            std::string_view line = file_.line();
            if (line.ends_with('\r')) line.remove_suffix(1);
            if (without_blanks(line).empty() || line.front() == '#') continue;
            fields_.clear();
            for (const std::string_view field : split(line, ',')) fields_.emplace_back(without_blanks(field));
            return true;
        }
        return false;
    }
    static std::string_view without_blanks(std::string_view text) {
        text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
        return text.substr(0, text.find_last_not_of(" \t") + 1);
    }

    std::string path_;
    TextFile file_;
    std::vector<std::string> columns_, fields_;
};

}  // namespace strata::balance
