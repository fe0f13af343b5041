#include "core/run/case/case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "core/base/crc32c.hpp"
#include "core/base/error.hpp"
#include "core/base/options.hpp"
#include "core/run/case/array_reader.hpp"
#include "core/run/case/former_reader.hpp"
#include "core/run/case/key_text.hpp"
#include "core/run/case/toml.hpp"
#include "core/run/case/value_text.hpp"

namespace strata::graph {

namespace {

std::string line_of(const std::string& text, std::size_t number) {
    std::istringstream in(text);
    std::string line;
    for (std::size_t n = 0; n < number; ++n) std::getline(in, line);
    return line;
}

constexpr std::size_t kMostBytes = 1 << 20;  // of a case file: toml++ takes up to fifty times as many
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr int kDeepest = 32;  // parts of a key

Error too_long(const std::filesystem::path& file, std::uintmax_t bytes) {
    Error error("a case file is longer than any case");
    error.at(file.string()).given(fmt::format("{} bytes", bytes));
    error.allowed(fmt::format("up to {} bytes of TOML", kMostBytes));
    return error.remedy("a case names grids, atoms and tables by their files");
}

/// The place after a text in quotes that begins here, '"', or three of them for one over several lines; its
/// line's end where it has no end.
std::size_t after_quotes(std::string_view text, std::size_t from) {
    const char quote = text[from];
    const bool lines = text.substr(from, 3) == std::string(3, quote);
    const std::string end(lines ? 3 : 1, quote);
    for (std::size_t i = from + end.size(); i < text.size(); ++i) {
        if (text.substr(i, end.size()) == end) return i + end.size();
        if (!lines && text[i] == '\n') return i;
        if (quote == '"' && text[i] == '\\') ++i;
    }
    return text.size();
}

/// Throws Error for what TOML has not, or no case, and toml++ does not survive: outside of quotes and
/// comments characters beyond ASCII, and keys such as a.b.c of many parts. It makes a table in a table for
/// each part, and takes them apart by descent.
void refuse_strange_keys(std::string_view text, const std::string& file) {
    int parts = 0;
    const auto refuse = [&](std::size_t at, const std::string& message) {
        const auto line = 1 + std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(at), '\n');
        Error error(message);
        error.at(file, static_cast<int>(line));
        return error;
    };
    for (std::size_t i = text.starts_with(kByteOrderMark) ? kByteOrderMark.size() : 0; i < text.size(); ++i) {
        const char c = text[i];
        if (c == '"' || c == '\'') {
            const std::size_t end = after_quotes(text, i);
            for (; i < end; ++i) {
                if (c != '"' || text[i] != '\\') continue;
                // toml++ asks of what follows, also on the next line, whether it is a blank.
                const std::size_t next = std::min(text.find_first_not_of(" \t\r\n", i + 1), text.size());
                if (next < end && (text[next] & 0x80) != 0)
                    throw refuse(next, "a character beyond ASCII behind a backslash")
                        .allowed("it without the backslash");
                if (next == i + 1) ++i;
            }
            --i;
        } else if (c == '#') {
            i = std::min(text.find('\n', i), text.size()) - 1;
        } else if (static_cast<unsigned char>(c) > 127) {
            throw refuse(i, "a character beyond ASCII outside of quotes")
                .given(fmt::format("byte {:#04x}", static_cast<unsigned char>(c)))
                .allowed("letters, digits, '-' and '_'; others in quotes and comments");
        } else if (c == '.' && ++parts >= kDeepest) {
            throw refuse(i, "a key has too many parts").allowed(fmt::format("up to {}", kDeepest));
        } else if (std::string_view(",=[]{}\n").find(c) != std::string_view::npos) {
            parts = 0;
        }
    }
}

/// The text with two hexadecimal digits in place of each byte beyond ASCII, so that unlike keys stay unlike.
std::string in_ascii(std::string_view text) {
    std::string plain;
    for (const char c : text)
        if ((c & 0x80) == 0)
            plain += c;
        else
            plain += fmt::format("{:02x}", static_cast<unsigned char>(c));
    return plain;
}

/// As TOML has it. toml++ prints numbers with 17 digits, 0.9 as 0.90000000000000002: here they are the
/// shortest text that reads back.
std::string given_text(const toml::node& node) {
    if (const auto* number = node.as_floating_point()) {
        std::string text = fmt::format("{}", number->get());
        // 1.0 is not 1: a whole number may be what is asked for.
        return text.find_first_not_of("-0123456789") == std::string::npos ? text + ".0" : text;
    }
    if (const toml::array* array = node.as_array()) {
        std::vector<std::string> texts;
        for (const toml::node& entry : *array) texts.push_back(given_text(entry));
        return texts.empty() ? "[]" : fmt::format("[ {} ]", fmt::join(texts, ", "));
    }
    std::ostringstream out;
    node.visit([&](const auto& v) { out << v; });
    return out.str();
}

/// Whether a number, or one of a list, is inf or nan, which TOML has and no case.
bool has_infinite(const toml::node& node) {
    if (const auto* number = node.as_floating_point()) return !std::isfinite(number->get());
    const toml::array* array = node.as_array();
    return array != nullptr && std::any_of(array->begin(), array->end(),
                                           [](const toml::node& entry) { return has_infinite(entry); });
}

}  // namespace

/// Reads one value from a node. Returns false for another type, or a value outside its range.
struct CaseReader {
    const KeyAbout& about;

    [[nodiscard]] bool in_range(double value) const {
        return std::isfinite(value) && (about.above_least ? value > about.least : value >= about.least) &&
               value <= about.most;
    }
    bool take(const toml::node& node, bool& into) const {
        if (!node.is_boolean()) return false;
        into = node.as_boolean()->get();
        return true;
    }
    bool take(const toml::node& node, std::int64_t& into) const {
        if (!node.is_integer() || !in_range(static_cast<double>(node.as_integer()->get()))) return false;
        into = node.as_integer()->get();
        return true;
    }
    /// A whole number is allowed, too.
    bool take(const toml::node& node, double& into) const {
        if (!node.is_number()) return false;
        const double value = *node.value<double>();
        if (!in_range(value)) return false;
        into = value;
        return true;
    }
    bool take(const toml::node& node, std::string& into) const {
        if (!node.is_string()) return false;
        const std::string& value = node.as_string()->get();
        if (!about.choices.empty() &&
            std::find(about.choices.begin(), about.choices.end(), value) == about.choices.end())
            return false;
        into = value;
        return true;
    }
    bool take(const toml::node& node, std::array<double, 3>& into) const {
        const toml::array* array = node.as_array();
        std::array<double, 3> values{};
        if (array == nullptr || array->size() != values.size()) return false;
        for (std::size_t i = 0; i < values.size(); ++i)
            if (!take(*array->get(i), values[i])) return false;
        into = values;
        return true;
    }
    bool take(const toml::node& node, const Choice& into) const {
        for (std::size_t i = 0; node.is_string() && i < into.size(); ++i)
            if (node.as_string()->get() == into.name(i)) {
                into.set(i);
                return true;
            }
        return false;
    }
    template <class T>
    bool take(const toml::node& node, std::vector<T>& into) const {
        if (!node.is_array()) return false;
        const toml::array& array = *node.as_array();
        if (array.size() < about.entries.first || array.size() > about.entries.second) return false;
        std::vector<T> values(array.size());
        for (std::size_t i = 0; i < array.size(); ++i)
            if (!take(*array.get(i), values[i])) return false;
        into = std::move(values);
        return true;
    }

    /// Reads all keys of a table and of the tables in it. `solver`: receives the value of the key of that
    /// name. `path`: of the table, and as the file spells it; both end with a dot where they are not empty.
    static void table(CaseSchema& schema, const toml::table& table, const std::string& path,
                      const std::string& path_text) {
        for (const auto& [key, node] : table) {
            const std::string name = path + std::string(key.str());
            const std::string name_text = path_text + key_text(key.str());
            const auto line = static_cast<int>(key.source().begin.line);
            if (ArrayReader::is_array(schema, name)) {
                const toml::array& all = *node.as_array();  // of tables: ArrayReader::open()
                for (std::size_t i = 0; i < all.size(); ++i) {
                    const std::string each = fmt::format("[{}].", i);
                    CaseReader::table(schema, *all.get(i)->as_table(), name + each, name_text + each);
                }
                continue;
            }
            if (ArrayReader::is_within_array(schema, std::string(key.str()), path))
                unknown(schema, name, name_text, line, node);
            const auto entry = std::find_if(schema.entries_.begin(), schema.entries_.end(),
                                            [&](const CaseSchema::Entry& e) { return e.name == name; });
            if (entry == schema.entries_.end()) {
                const bool section =
                    std::any_of(schema.entries_.begin(), schema.entries_.end(),
                                [&](const CaseSchema::Entry& e) { return e.name.starts_with(name + '.'); });
                if (section && node.is_table()) {
                    CaseReader::table(schema, *node.as_table(), name + '.', name_text + '.');
                    continue;
                }
                if (schema.passes_over_unknown_) continue;
                unknown(schema, name, name_text, line, node);
            }
            entry->line = line;
            const auto take = Overloaded{
                [&, &value = node](const Choice& into) { return CaseReader{entry->about}.take(value, into); },
                [&, &value = node](auto* into) { return CaseReader{entry->about}.take(value, *into); }};
            const bool good = std::visit(take, entry->into);
            for (const CaseSchema::Into& into : entry->also)
                if (good) std::visit(take, into);
            if (!good)
                throw Error("a key has a value that it cannot have")
                    .at(schema.file_, line, name_text)
                    .given(given_text(node))
                    .allowed((has_infinite(node) ? "a finite " : "") +
                             allowed_text(entry->into, entry->about))
                    .remedy(schema.command_for_help());
        }
    }

    [[noreturn]] static void unknown(const CaseSchema& schema, const std::string& name,
                                     const std::string& name_text, int line, const toml::node& node) {
        std::vector<std::string> names, spelled;
        for (const CaseSchema::Entry& e : schema.entries_) {
            if (!e.array.empty() && !name.starts_with(e.array_name + '.')) continue;
            names.push_back(e.name);
            spelled.push_back(schema.spelled(e.name));
        }
        for (const CaseSchema::Array& array : schema.arrays_)
            if (!name.starts_with(array.section + '[')) {
                names.push_back(array.section);
                spelled.push_back("[[" + array.section + "]]");
            }
        const std::string near = nearest(name, names);
        Error error(fmt::format("a case of {} has no such key", schema.solver_));
        error.at(schema.file_, line, name_text).given(node.is_table() ? "a table" : given_text(node));
        error.allowed(fmt::format("{}", fmt::join(spelled, ", ")));
        throw error.remedy(near.empty() ? schema.command_for_help() : schema.spelled(near) + "?");
    }
};

void FormerReader::read_known(CaseSchema& keys, const toml::table& table) {
    keys.passes_over_unknown_ = true;
    CaseReader::table(keys, table, "", "");
}

CaseSchema::CaseSchema(std::string solver, std::string summary)
    : solver_(std::move(solver)), summary_(std::move(summary)) {}

CaseSchema& CaseSchema::key(std::string name, Into into, KeyAbout about) {
    name = full(name);
    if (entry(name) != nullptr) throw Error("a key was declared before").given(name);
    if (!about.same_with.first.empty()) about.same_with.first = full(about.same_with.first);
    std::string text = about.required ? "" : text_of(into);
    if (const Choice* choice = std::get_if<Choice>(&into))
        for (std::size_t i = 0; i < choice->size(); ++i) about.choices.emplace_back(choice->name(i));
    entries_.push_back({std::move(name), into, std::move(about), std::move(text), 0, place_});
    return *this;
}

CaseSchema& CaseSchema::common_key(const std::string& name, Into into, KeyAbout about) {
    if (!about.same_with.first.empty()) about.same_with.first = full(about.same_with.first);
    const auto known = std::find_if(entries_.begin(), entries_.end(),
                                    [&](const Entry& e) { return e.common && e.name == name; });
    if (known != entries_.end() && !prefix_.empty()) {
        known->also.push_back(into);
        if (known->about.same_with.first.empty()) known->about.same_with = std::move(about.same_with);
        return *this;
    }
    const Under none = under("");
    key(name, into, std::move(about));
    entries_.back().common = true;
    return *this;
}

CaseSchema& CaseSchema::tables(std::string section, DeclareTable declare) {
    tables_.push_back({prefix_, std::move(section), std::move(declare), {}});
    return *this;
}

void CaseSchema::read(const std::filesystem::path& file) {
    std::error_code none;
    if (!std::filesystem::exists(file, none))
        throw Error("there is no such case file")
            .given(file.string())
            .allowed("a TOML file; it was looked for at " + std::filesystem::absolute(file, none).string());
    if (!std::filesystem::is_regular_file(file))
        throw Error("a case is a file").given(file.string() + ", which is none").allowed("a TOML file");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw system_error("the case file cannot be read", errno).at(file.string());
    if (const auto bytes = std::filesystem::file_size(file); bytes > kMostBytes) throw too_long(file, bytes);
    read_text({std::istreambuf_iterator<char>(in), {}}, file);
}

void CaseSchema::read_text(const std::string& text, const std::filesystem::path& file) {
    file_ = file.string();
    if (text.size() > kMostBytes) throw too_long(file, text.size());
    refuse_strange_keys(text, file_);
    text_ = text;
    for (Entry& entry : entries_) entry.line = 0;
    toml::table table;
    try {
        // Where toml++ says what is wrong with a text it does not survive all characters beyond ASCII: so it
        // says it of a text without them.
        const std::string_view marked = text_.starts_with(kByteOrderMark) ? kByteOrderMark : "";
        static_cast<void>(toml::parse(in_ascii(text_.substr(marked.size())), file_));
        table = toml::parse(text_, file_);
    } catch (const toml::parse_error& error) {
        throw Error(fmt::format("this is no TOML: {}", error.description()))
            .at(file_, static_cast<int>(error.source().begin.line))
            .given(line_of(text_, error.source().begin.line));
    } catch (const std::logic_error& error) {
        throw Error("this is no TOML").at(file_).given(error.what());
    }
    const toml::node* solver = table.get("solver");
    // "PATH/NAME" is where `strata run` finds a solver of one's own.
    if (solver == nullptr || !solver->is_string() ||
        std::filesystem::path(solver->as_string()->get()).filename() != solver_)
        throw Error("a case says which solver runs it")
            .at(file_, solver == nullptr ? 0 : static_cast<int>(solver->source().begin.line), "solver")
            .given(solver == nullptr ? "no key solver before the first [section]" : given_text(*solver))
            .allowed(fmt::format("solver = \"{}\"", solver_));
    table.erase("solver");
    for (Tables& of : tables_) {
        const Under own = under(of.prefix);
        if (const toml::table* all = table.at_path(full(of.section)).as_table())
            for (const auto& [key, node] : *all)
                if (const std::string name(key.str()); node.is_table() && of.names.insert(name).second)
                    of.declare(*this, name);
    }
    FormerReader::refuse(*this, table);
    ArrayReader::open(*this, table);
    CaseReader::table(*this, table, "", "");
    for (const Entry& entry : entries_)
        if (entry.about.required && entry.line == 0)
            throw Error("a key is missing")
                .at(file_, entry.table_line, spelled(entry.name))
                .given(entry.array.empty() ? "no such key in the file" : "no such key in this table")
                .allowed(allowed_text(entry.into, entry.about))
                .remedy(command_for_help());
}

std::string CaseSchema::command_for_help() const {
    const char* of_case = std::getenv("STRATA_SOLVER_OF");
    return "strata run " + (of_case == nullptr ? solver_ : of_case) + " --help";
}

std::string CaseSchema::help() const {
    CaseSchema all = *this;
    for (const Tables& of : tables_)
        if (of.names.empty()) {
            const Under own = all.under(of.prefix);
            of.declare(all, "NAME");
        }
    std::erase_if(all.entries_, [](const Entry& entry) { return !entry.array.empty(); });
    for (std::size_t n = 0; n < arrays_.size(); ++n) all.declare_entry(n, kSample, 0);
    all.sort_sections();
    std::string text, section = "?";
    for (const Entry& entry : all.entries_) {
        const std::size_t dot = entry.name.rfind('.');
        const std::string of = dot == std::string::npos ? "" : entry.name.substr(0, dot);
        if (of != section) text += of.empty() ? "" : all.header(entry, of);
        section = of;
        const std::string name = dot == std::string::npos ? entry.name : entry.name.substr(dot + 1);
        text += fmt::format("  {:<18} {}", name, entry.about.meaning);
        text += fmt::format("\n  {:<18} {}", "", allowed_text(entry.into, entry.about));
        text += entry.about.required ? "; required" : fmt::format("; default {}", entry.default_text);
        text += all.restart_words(entry) + '\n';
    }
    return text;
}

CaseSchema::Values CaseSchema::values() const {
    Values all;
    for (const Entry& entry : entries_) all.emplace_back(entry.name, text_of(entry.into));
    return all;
}

std::string CaseSchema::decisive_text() const {
    std::string text;
    for (const Entry& entry : entries_)
        if (entry.about.decides) text += fmt::format("{} = {}\n", entry.name, text_of(entry.into));
    return text;
}

std::string CaseSchema::hash() const {
    const std::string text = decisive_text();
    return fmt::format("{:08x}", crc32c(std::as_bytes(std::span(text.data(), text.size()))));
}

void CaseSchema::refuse(const std::string& key, const std::string& message,
                        const std::string& allowed) const {
    if (const Entry* of = meant(key))
        throw Error(message)
            .at(file_, of->line == 0 ? of->table_line : of->line, spelled(of->name))
            .given(text_of(of->into))
            .allowed(allowed)
            .remedy(command_for_help());
    throw Error(message).at(file_, 0, spelled(full(key))).allowed(allowed).remedy(command_for_help());
}

}  // namespace strata::graph
