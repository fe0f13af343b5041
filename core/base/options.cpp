#include "core/base/options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <numeric>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"
#include "core/base/units.hpp"

namespace strata {
namespace {

template <class T>
T read_in_range(std::string_view name, const std::string& text, T least, T most) {
    if (const auto value = parse_number<T>(text, least, most)) return *value;
    throw Error("a value is out of range")
        .given(fmt::format("{} {}", name, text.empty() ? "\"\"" : text))
        .allowed(fmt::format("{} to {}", least, most));
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
    return fmt::format("{}", fmt::join(words, separator));
}

std::string row(const std::string& name, const std::string& meaning, size_t width) {
    return fmt::format("  {:<{}}  {}\n", name, width, meaning);
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
    std::string best;
    size_t best_distance = 1 + std::max<size_t>(1, word.size() / 3);
    for (const std::string& candidate : candidates) {
        std::vector<size_t> previous(candidate.size() + 1), current(candidate.size() + 1);
        std::iota(previous.begin(), previous.end(), size_t{0});
        for (size_t i = 0; i < word.size(); ++i) {
            current[0] = i + 1;
            for (size_t j = 0; j < candidate.size(); ++j) {
                current[j + 1] =
                    std::min({current[j] + 1, previous[j + 1] + 1, previous[j] + (word[i] != candidate[j])});
            }
            std::swap(previous, current);
        }
        if (previous.back() < best_distance) {
            best_distance = previous.back();
            best = candidate;
        }
    }
    return best;
}

bool Parsed::has(std::string_view name) const { return given_.find(name) != given_.end(); }

std::string Parsed::text(std::string_view name) const { return maybe(name).value_or(std::string()); }

std::optional<std::string> Parsed::maybe(std::string_view name) const {
    if (const auto found = given_.find(name); found != given_.end()) return found->second;
    if (const auto found = defaults_.find(name); found != defaults_.end()) return found->second;
    return std::nullopt;
}

long Parsed::integer(std::string_view name, long least, long most) const {
    return read_in_range<long>(name, text(name), least, most);
}

double Parsed::number(std::string_view name, double least, double most) const {
    return read_in_range<double>(name, text(name), least, most);
}

std::uint64_t Parsed::size(std::string_view name) const {
    try {
        return parse_size(text(name));
    } catch (Error& error) {
        throw error.given(fmt::format("{} {}", name, text(name)));
    }
}

double Parsed::seconds(std::string_view name) const {
    try {
        return parse_seconds(text(name));
    } catch (Error& error) {
        throw error.given(fmt::format("{} {}", name, text(name)));
    }
}

std::string Parsed::choice(std::string_view name, const std::vector<std::string>& choices) const {
    std::string value = text(name);
    if (std::find(choices.begin(), choices.end(), value) != choices.end()) return value;
    Error error("unknown value of an option");
    error.given(fmt::format("{} {}", name, value)).allowed(join(choices, ", "));
    if (const std::string near = nearest(value, choices); !near.empty())
        error.remedy(fmt::format("{} {}", name, near));
    throw error;
}

Options::Options(std::string command, std::string summary)
    : command_(std::move(command)), summary_(std::move(summary)) {}

Options& Options::flag(std::string name, std::string meaning) {
    options_.push_back({std::move(name), {}, {}, std::move(meaning)});
    return *this;
}

Options& Options::option(std::string name, std::string value, std::string default_value,
                         std::string meaning) {
    options_.push_back({std::move(name), std::move(value), std::move(default_value), std::move(meaning)});
    return *this;
}

Options& Options::optional(std::string name, std::string value, std::string value_left_out,
                           std::string meaning) {
    options_.push_back(
        {std::move(name), std::move(value), {}, std::move(meaning), false, std::move(value_left_out)});
    return *this;
}

Options& Options::positional(std::string name, std::string meaning, bool required, bool many) {
    positionals_.push_back({std::move(name), std::move(meaning), required, many});
    return *this;
}

Options& Options::rest(std::string name, std::string meaning) {
    rest_name_ = std::move(name);
    rest_meaning_ = std::move(meaning);
    return *this;
}

Options& Options::example(std::string command, std::string what) {
    examples_.push_back({std::move(command), std::move(what)});
    return *this;
}

Options& Options::hidden(std::string name, bool takes_value) {
    options_.push_back({std::move(name), takes_value ? "VALUE" : "", {}, {}, true});
    return *this;
}

const Options::Option* Options::find(std::string_view name) const {
    const auto found =
        std::find_if(options_.begin(), options_.end(), [&](const Option& o) { return o.name == name; });
    return found == options_.end() ? nullptr : &*found;
}

Error Options::unknown_option(std::string_view name) const {
    std::vector<std::string> names;
    for (const Option& o : options_)
        if (!o.is_hidden) names.push_back(o.name);
    Error error("unknown option");
    error.given(std::string(name)).allowed(names.empty() ? "no options" : join(names, ", "));
    const std::string near = nearest(name, names);
    return error.remedy(near.empty() ? fmt::format("{} --help", command_) : near);
}

Parsed Options::parse(int argc, char** argv, int first) const {
    return parse(std::vector<std::string>(argv + std::min(first, argc), argv + argc));
}

Parsed Options::parse(const std::vector<std::string>& words) const {
    Parsed parsed;
    for (const Option& o : options_)
        if (!o.default_value.empty()) parsed.defaults_[o.name] = o.default_value;
    for (size_t i = 0; i < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") {
            if (rest_name_.empty()) throw unknown_option("--");
            parsed.rest_.assign(words.begin() + static_cast<std::ptrdiff_t>(i) + 1, words.end());
            break;
        }
        if (word == "--help" || word == "-h") {
            std::fputs(help().c_str(), stdout);
            parsed.help_ = true;
            return parsed;
        }
        if (word.size() < 2 || word[0] != '-') {
            const bool more = !positionals_.empty() && positionals_.back().many;
            if (parsed.positionals_.size() >= positionals_.size() && !more) {
                throw Error("unexpected word")
                    .given(word)
                    .allowed(rest_name_.empty() ? "options only" : fmt::format("-- before {}", rest_name_))
                    .remedy(fmt::format("{} --help", command_));
            }
            parsed.positionals_.push_back(word);
            continue;
        }
        const size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const Option* option = find(name);
        if (option == nullptr) throw unknown_option(name);
        if (option->value.empty()) {
            if (equals != std::string::npos)
                throw Error("this option takes no value").given(word).allowed(name);
            parsed.given_[name] = "yes";
        } else if (equals != std::string::npos) {
            parsed.given_[name] = word.substr(equals + 1);
        } else if (option->value_left_out) {
            parsed.given_[name] = *option->value_left_out;
        } else if (i + 1 < words.size()) {
            parsed.given_[name] = words[++i];
        } else {
            throw Error("an option lacks its value")
                .given(name)
                .allowed(fmt::format("{} {}", name, option->value));
        }
    }
    for (size_t i = parsed.positionals_.size(); i < positionals_.size(); ++i) {
        if (!positionals_[i].required) break;
        throw Error(fmt::format("{} is missing", positionals_[i].name))
            .allowed(positionals_[i].meaning)
            .remedy(fmt::format("{} --help", command_));
    }
    return parsed;
}

std::string Options::help() const {
    std::string usage = fmt::format("usage: {}", command_);
    if (std::any_of(options_.begin(), options_.end(), [](const Option& o) { return !o.is_hidden; })) {
        usage += " [options]";
    }
    for (const Word& word : positionals_) {
        const std::string name = word.name + (word.many ? "..." : "");
        usage += word.required ? " " + name : " [" + name + "]";
    }
    if (!rest_name_.empty()) usage += " -- " + rest_name_;
    std::string text = fmt::format("{}\n\n{}\n", usage, summary_);

    std::vector<std::pair<std::string, std::string>> rows;
    for (const Word& word : positionals_) rows.emplace_back(word.name, word.meaning);
    if (!rest_name_.empty()) rows.emplace_back(rest_name_, rest_meaning_);
    const size_t words = rows.size();
    for (const Option& o : options_) {
        if (o.is_hidden) continue;
        rows.emplace_back(
            o.value.empty()    ? o.name
            : o.value_left_out ? fmt::format("{}[={}]", o.name, o.value)
                               : o.name + " " + o.value,
            o.default_value.empty() ? o.meaning : fmt::format("{} (default {})", o.meaning, o.default_value));
    }
    rows.emplace_back("--help", "this text");
    size_t width = 0;
    for (const auto& [name, meaning] : rows) width = std::max(width, name.size());
    width = std::min<size_t>(width, 34);
    if (words > 0) text += '\n';
    for (size_t i = 0; i < rows.size(); ++i) {
        if (i == words) text += "\noptions:\n";
        text += row(rows[i].first, rows[i].second, width);
    }
    if (!examples_.empty()) text += "\nexamples:\n";
    for (const Example& example : examples_)
        text += fmt::format("  {}\n      {}\n", example.command, example.what);
    return text;
}

}  // namespace strata
