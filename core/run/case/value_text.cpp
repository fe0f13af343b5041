#include "core/run/case/value_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace strata::graph {

namespace {

std::string type_of(const CaseSchema::Into& into) {
    constexpr const char* names[] = {"true or false", "whole number",  "number",
                                     "text",          "whole numbers", "list of numbers",
                                     "list of texts", "three numbers", "text"};
    return names[into.index()];
}

bool is_numeric(const CaseSchema::Into& into) {
    return std::visit(Overloaded{[](const bool*) { return false; }, [](const std::string*) { return false; },
                                 [](const std::vector<std::string>*) { return false; },
                                 [](const Choice&) { return false; }, [](const auto*) { return true; }},
                      into);
}

/// The allowed values as text: "0 < x <= 1", "one of "a", "b"", "2 to 3 whole numbers".
std::string range_of(const CaseSchema::Into& into, const KeyAbout& about) {
    std::string text;
    if (!about.choices.empty()) {
        text = fmt::format("one of \"{}\"", fmt::join(about.choices, "\", \""));
    } else if (is_numeric(into)) {
        if (std::isfinite(about.least) && std::isfinite(about.most) && !about.above_least)
            text = fmt::format("{} to {}", about.least, about.most);
        else if (std::isfinite(about.most) && std::isfinite(about.least))
            text = fmt::format("> {}, up to {}", about.least, about.most);
        else if (std::isfinite(about.least))
            text = fmt::format("{} {}", about.above_least ? ">" : ">=", about.least);
        else if (std::isfinite(about.most))
            text = fmt::format("<= {}", about.most);
    }
    if (about.entries.first > 0 || about.entries.second < 1000) {
        const auto [least, most] = about.entries;
        const std::string many =
            least == most ? fmt::format("{} entries", least) : fmt::format("{} to {} entries", least, most);
        text = text.empty() ? many : many + ", each " + text;
    }
    return text;
}

}  // namespace

std::string text_of(const CaseSchema::Into& into) {
    const auto quoted = [](const std::string& text) { return '"' + text + '"'; };
    const auto list = [](const auto& values) { return fmt::format("[{}]", fmt::join(values, ", ")); };
    return std::visit(Overloaded{[](const bool* v) { return std::string(*v ? "true" : "false"); },
                                 [&](const std::string* v) { return quoted(*v); },
                                 [](const auto* v) { return fmt::format("{}", *v); },
                                 [&](const std::vector<std::int64_t>* v) { return list(*v); },
                                 [&](const std::vector<double>* v) { return list(*v); },
                                 [&](const std::vector<std::string>* v) {
                                     std::vector<std::string> all;
                                     for (const std::string& text : *v) all.push_back(quoted(text));
                                     return list(all);
                                 },
                                 [&](const std::array<double, 3>* v) { return list(*v); },
                                 [&](const Choice& v) { return quoted(v.name()); }},
                      into);
}

std::string allowed_text(const CaseSchema::Into& into, const KeyAbout& about) {
    const std::string range = range_of(into, about);
    std::string text = range.empty() ? type_of(into) : type_of(into) + ", " + range;
    if (!about.unit.empty()) text += fmt::format(" (in {})", about.unit);
    return text;
}

}  // namespace strata::graph
