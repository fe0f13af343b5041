#include "core/run/case/former.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "core/base/error.hpp"
#include "core/base/named_file.hpp"
#include "core/run/case/former_reader.hpp"

namespace strata::graph {

namespace {

/// A former key in a file: from which line to which its value goes, and the table that it stands in.
struct Place {
    int first = 0, last = 0;
    const toml::table* table = nullptr;
};

std::optional<Place> place_of(const toml::table& table, const std::string& name) {
    const std::size_t dot = name.find('.');
    const auto found = table.find(name.substr(0, dot));
    if (found == table.end()) return std::nullopt;
    const auto& [key, node] = *found;
    if (dot != std::string::npos)
        return node.is_table() ? place_of(*node.as_table(), name.substr(dot + 1)) : std::nullopt;
    return Place{static_cast<int>(key.source().begin.line), static_cast<int>(node.source().end.line), &table};
}

/// The last line of a table's own values.
int last_line(const toml::table& table) {
    int last = 0;
    for (const auto& [key, node] : table)
        if (!node.is_table() && !node.is_array_of_tables())
            last = std::max(last, static_cast<int>(node.source().end.line));
    return last;
}

std::vector<std::string> lines_of(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
}

bool is_header(const std::string& line) {
    const std::size_t first = line.find_first_not_of(" \t");
    return first != std::string::npos && line[first] == '[';
}

/// Takes the former keys out of a text and puts what is in their place behind what is left of their section,
/// or in its place.
class Rewriting {
  public:
    Rewriting(const std::string& text, const toml::table& table) : lines_(lines_of(text)), table_(table) {}

    void remove(const Place& place) {
        for (int line = place.first; line <= place.last; ++line) removed_.insert(line);
    }
    void put(const Renewed& renewed) {
        const toml::table* section = table_[renewed.section].as_table();
        const int header = section == nullptr ? 0 : static_cast<int>(section->source().begin.line);
        int after = static_cast<int>(lines_.size());
        if (header > 0 && is_header(line(header)))
            after = section_is_left(*section) ? std::max(last_line(*section), header) : header;
        put_[std::min(after, static_cast<int>(lines_.size()))] += "\n" + renewed.text;
    }
    /// Headers of sections of which nothing is left go, too.
    [[nodiscard]] std::string text() {
        for (const auto& [key, node] : table_)
            if (const toml::table* section = node.as_table();
                section != nullptr && !section_is_left(*section))
                if (const int at = static_cast<int>(section->source().begin.line); is_header(line(at)))
                    removed_.insert(at);
        std::vector<std::string> written;
        bool joint = false;  // beside what went or came no two blank lines follow each other
        const auto add = [&](const std::string& each) {
            const bool blank = each.find_first_not_of(" \t\r") == std::string::npos;
            if (blank && joint && (written.empty() || written.back().empty())) return;
            written.push_back(blank ? "" : each);
            joint = joint && blank;
        };
        for (int n = 1; n <= static_cast<int>(lines_.size()); ++n) {
            if (removed_.count(n) == 0)
                add(line(n));
            else
                joint = true;
            if (const auto found = put_.find(n); found != put_.end())
                for (const std::string& each : lines_of(found->second)) joint = true, add(each);
        }
        while (!written.empty() && written.back().empty()) written.pop_back();
        return fmt::format("{}\n", fmt::join(written, "\n"));
    }

  private:
    [[nodiscard]] const std::string& line(int number) const {
        return lines_[static_cast<std::size_t>(number - 1)];
    }
    /// Whether a section has values besides those that go.
    [[nodiscard]] bool section_is_left(const toml::table& section) const {
        return std::any_of(section.begin(), section.end(), [&](const auto& each) {
            return removed_.count(static_cast<int>(each.first.source().begin.line)) == 0;
        });
    }

    std::vector<std::string> lines_;
    const toml::table& table_;
    std::set<int> removed_;
    std::map<int, std::string> put_;  // after which line
};

/// What a text is with all tables of `renewed`, one after the other.
std::string joined(const std::vector<Renewed>& renewed) {
    std::vector<std::string> texts;
    for (const Renewed& each : renewed)
        texts.push_back(each.text.substr(0, each.text.find_last_not_of('\n') + 1));
    return fmt::format("{}", fmt::join(texts, "\n\n"));
}

}  // namespace

std::string case_text(double number) {
    const double thousands = number / 1000;
    if (std::abs(number) >= 1e5 && thousands == std::floor(thousands)) {
        int exponent = 0;
        double left = number;
        while (std::fmod(left, 1000) == 0) left /= 1000, exponent += 3;
        if (left * std::pow(10.0, exponent) == number) return fmt::format("{}e{}", left, exponent);
    }
    std::string text = fmt::format("{}", number);
    return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
}

std::string case_text(const std::string& text) {
    std::string quoted = "\"";
    for (const char c : text) (quoted += c == '"' || c == '\\' ? "\\" : "") += c;
    return quoted + '"';
}

std::string case_text(const std::vector<double>& numbers) {
    std::vector<std::string> texts;
    for (const double number : numbers) texts.push_back(case_text(number));
    return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string rewrite_case(CaseSchema& schema, const std::filesystem::path& file) {
    try {
        schema.read(file);
        return fmt::format("{} has the present form; nothing was written\n", file.string());
    } catch (const FormerCase& former) {
        if (!former.rewritten) throw;
        const std::string before = schema.text(), kept = file.string() + ".old";
        schema.read_text(*former.rewritten, file);
        const int old = ::open(kept.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
        if (old < 0)
            throw system_error("what the case was cannot be kept", errno, kBadInput)
                .at(kept)
                .remedy("move what is there away, or copy the case to a folder where you may write");
        if (const int error = write_and_close(old, before); error != 0)
            throw system_error("what the case was cannot be kept", error).at(kept);
        if (const int error = write_named(file.string(), *former.rewritten); error != 0)
            throw system_error("the case cannot be written", error).at(file.string());
        return fmt::format("{} is in its present form; {} is what it was\n", file.string(), kept);
    }
}

CaseSchema& CaseSchema::former(FormerKeys keys) {
    // Cases of several solvers came later than these keys went.
    if (prefix_.empty()) former_ = std::make_shared<const FormerKeys>(std::move(keys));
    return *this;
}

std::vector<std::string> CaseSchema::former_keys_in(const Values& then) const {
    std::vector<std::string> names;
    if (former_ == nullptr) return names;
    CaseSchema keys(solver_, summary_);
    former_->declare(keys);
    for (const auto& [name, value] : then)
        if (entry(name) == nullptr && keys.entry(name) != nullptr) names.push_back(name);
    return names;
}

void FormerReader::refuse(const CaseSchema& schema, const toml::table& table) {
    if (schema.former_ == nullptr) return;
    CaseSchema keys(schema.solver_, schema.summary_);
    schema.former_->declare(keys);
    keys.file_ = schema.file_;
    std::vector<std::string> names;
    const CaseSchema::Entry* first = nullptr;
    Rewriting rewriting(schema.text_, table);
    bool movable = true;
    FormerReader::read_known(keys, table);
    for (const CaseSchema::Entry& entry : keys.entries_) {
        if (entry.line == 0) continue;
        const std::optional<Place> place = place_of(table, entry.name);
        names.push_back(entry.name);
        movable = movable && place && !place->table->is_inline();  // none: "a.b" in quotes
        if (place) rewriting.remove(*place);
        if (first == nullptr || entry.line < first->line) first = &entry;
    }
    if (first == nullptr) return;
    const std::vector<Renewed> renewed = schema.former_->renew(keys);
    for (const Renewed& each : renewed) rewriting.put(each);
    FormerCase error(fmt::format("a case of {} is written another way now", schema.solver_));
    error.at(schema.file_, first->line, first->name).given(fmt::format("{}", fmt::join(names, ", ")));
    error.allowed("\n" + joined(renewed));
    if (movable) error.rewritten = rewriting.text();
    error.remedy(movable ? fmt::format("strata run {0} --rewrite writes it so, and keeps the file as {0}.old",
                                       schema.file_)
                         : "write it by hand: a program cannot move keys in quotes or within { }");
    throw error;
}

}  // namespace strata::graph
