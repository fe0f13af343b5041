#include "core/run/case/array_reader.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"

namespace strata::graph {

namespace {

/// "1 to 1024 tables [[bodies]]".
std::string allowed_tables(const std::string& section, const ArrayAbout& about) {
    const auto [least, most] = about.entries;
    const std::string many = least == most ? fmt::format("{}", least) : fmt::format("{} to {}", least, most);
    return fmt::format("{} {} [[{}]]", many, most == 1 ? "table" : "tables", section);
}

/// What a key joined by dots leads to; nullptr where it leads nowhere.
const toml::node* node_at(const toml::table& table, const std::string& name) {
    const std::size_t dot = name.find('.');
    const toml::node* node = table.get(name.substr(0, dot));
    if (dot == std::string::npos || node == nullptr) return node;
    return node->is_table() ? node_at(*node->as_table(), name.substr(dot + 1)) : nullptr;
}

}  // namespace

CaseSchema& CaseSchema::add(Array array) {
    array.section = full(array.section);
    arrays_.push_back(std::move(array));
    place_ = 2 * arrays_.size();
    return *this;
}

void CaseSchema::declare_entry(std::size_t n, std::size_t i, int line) {
    const Array& array = arrays_[n];
    const std::string name = i == kSample ? array.section + "[]" : fmt::format("{}[{}]", array.section, i);
    const std::size_t first = entries_.size(), place = std::exchange(place_, 2 * n + 1);
    array.declare(EntryKeys(*this, name), i);
    place_ = place;
    bool required = false;
    for (std::size_t e = first; e < entries_.size(); ++e) {
        entries_[e].array = array.section, entries_[e].array_name = name, entries_[e].table_line = line;
        required = required || entries_[e].about.required;
    }
    // Else a checkpoint could not tell a table that says nothing from one that is not there.
    if (!required) throw Error("an array of tables has no required key").given(array.section);
}

void CaseSchema::sort_sections() {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.place < b.place; });
}

std::string CaseSchema::header(const Entry& entry, const std::string& section) const {
    if (entry.array.empty()) return fmt::format("  [{}]\n", spelled(section));
    const auto of = std::find_if(arrays_.begin(), arrays_.end(),
                                 [&](const Array& array) { return array.section == entry.array; });
    return fmt::format("  [[{}]]  {}{}{}\n", spelled(entry.array), allowed_tables(of->section, of->about),
                       of->about.meaning.empty() ? "" : ": ", of->about.meaning);
}

void ArrayReader::open(CaseSchema& schema, const toml::table& table) {
    std::erase_if(schema.entries_, [](const CaseSchema::Entry& entry) { return !entry.array.empty(); });
    for (std::size_t n = 0; n < schema.arrays_.size(); ++n) {
        const CaseSchema::Array& of = schema.arrays_[n];
        const toml::node* node = node_at(table, of.section);
        const toml::array* all = node == nullptr ? nullptr : node->as_array();
        const auto refuse = [&](const std::string& message, const std::string& given) {
            throw Error(message)
                .at(schema.file_, node == nullptr ? 0 : static_cast<int>(node->source().begin.line),
                    schema.spelled(of.section))
                .given(given)
                .allowed(allowed_tables(schema.spelled(of.section), of.about))
                .remedy(schema.command_for_help());
        };
        if (node != nullptr && (all == nullptr || !(all->empty() || all->is_array_of_tables())))
            refuse("a key has a value that it cannot have",
                   node->is_table() ? fmt::format("a table [{}]", schema.spelled(of.section))
                                    : "something that is no array of tables");
        const std::size_t count = all == nullptr ? 0 : all->size();
        if (count < of.about.entries.first || count > of.about.entries.second)
            refuse(count == 0 ? "a key is missing" : "a list has too few or too many tables",
                   count == 0 ? "no such table in the file" : fmt::format("{} tables", count));
        of.resize(count);
        for (std::size_t i = 0; i < count; ++i)
            schema.declare_entry(n, i, static_cast<int>(all->get(i)->source().begin.line));
    }
    schema.sort_sections();
}

bool ArrayReader::is_array(const CaseSchema& schema, const std::string& name) {
    return std::any_of(schema.arrays_.begin(), schema.arrays_.end(),
                       [&](const CaseSchema::Array& array) { return array.section == name; });
}

bool ArrayReader::is_within_array(const CaseSchema& schema, const std::string& key, const std::string& path) {
    return std::any_of(schema.arrays_.begin(), schema.arrays_.end(), [&](const CaseSchema::Array& array) {
        return key.find('[') != std::string::npos && (path + key).starts_with(array.section + '[');
    });
}

}  // namespace strata::graph
