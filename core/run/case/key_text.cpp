#include "core/run/case/key_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "core/run/case/case.hpp"

namespace strata::graph {

namespace {

/// Not std::isalnum: that asks the locale.
bool is_bare(char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
}

}  // namespace

std::string key_text(std::string_view part) {
    if (!part.empty() && std::all_of(part.begin(), part.end(), is_bare)) return std::string(part);
    std::string text = "\"";
    for (const char c : part)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f)
            text += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        else
            (text += c == '"' || c == '\\' ? "\\" : "") += c;
    return text + '"';
}

std::string key_path_text(std::string_view name) {
    std::string text;
    for (std::size_t at = 0;;) {
        const std::size_t dot = name.find('.', at);
        text += key_text(name.substr(at, dot - at));
        if (dot == std::string_view::npos) return text;
        text += '.';
        at = dot + 1;
    }
}

std::string CaseSchema::spelled(const std::string& name) const {
    const std::string* section = nullptr;
    const std::string* table = nullptr;  // the longest that fits: "a" and "a.b" may both be there
    for (const Tables& of : tables_) {
        if (!name.starts_with(of.section + '.')) continue;
        const std::string_view rest = std::string_view(name).substr(of.section.size() + 1);
        for (const std::string& each : of.names)
            if ((rest == each || rest.starts_with(each + '.')) &&
                (table == nullptr || each.size() > table->size()))
                section = &of.section, table = &each;
    }
    for (const Array& array : arrays_) {
        const std::size_t close = name.find(']');
        if (!name.starts_with(array.section + '[') || close == std::string::npos) continue;
        const std::string head = key_path_text(array.section) +
                                 name.substr(array.section.size(), close + 1 - array.section.size());
        return close + 1 == name.size()
                   ? head
                   : head + '.' + key_path_text(std::string_view(name).substr(close + 2));
    }
    if (table == nullptr) return key_path_text(name);
    const std::string head = key_path_text(*section) + '.' + key_text(*table);
    const std::size_t end = section->size() + 1 + table->size();
    return end == name.size() ? head : head + '.' + key_path_text(std::string_view(name).substr(end + 1));
}

}  // namespace strata::graph
