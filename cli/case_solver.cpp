#include "cli/case_solver.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>
#include <vector>

#include "cli/python.hpp"
#include "core/base/error.hpp"
#include "core/base/json_value.hpp"

namespace strata::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMostBytes = 1 << 20;  // of a case file, as solvers have it (core/run/case)
constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr std::string_view kBlanks = " \t";
constexpr std::string_view kBareKey = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// KEY = VALUE that is over on its line.
struct Statement {
    std::string_view key, value;
    bool is_text = false;
};

/// Takes a text in quotes from the front of a line. Nothing for one that needs a parser: over several lines,
/// with escapes, or without an end.
std::optional<std::string_view> take_text(std::string_view& line) {
    const char quote = line.front();
    if (line.size() > 2 && line[1] == quote && line[2] == quote) return std::nullopt;
    const std::size_t end = line.find(quote, 1);
    if (end == std::string_view::npos) return std::nullopt;
    const std::string_view text = line.substr(1, end - 1);
    if (quote == '"' && text.find('\\') != std::string_view::npos) return std::nullopt;
    line.remove_prefix(end + 1);
    return text;
}

/// Takes a bare word of these characters. Nothing where there is none.
std::optional<std::string_view> take_word(std::string_view& line, const std::string& of) {
    const std::string_view word = line.substr(0, line.find_first_not_of(of));
    line.remove_prefix(word.size());
    return word.empty() ? std::nullopt : std::optional(word);
}

void skip_blanks(std::string_view& line) {
    line.remove_prefix(std::min(line.find_first_not_of(kBlanks), line.size()));
}

bool is_quote(std::string_view line) { return line.starts_with('"') || line.starts_with('\''); }

/// The statement of a line; nothing for one that needs a parser.
std::optional<Statement> statement_of(std::string_view line) {
    skip_blanks(line);
    const auto key = is_quote(line) ? take_text(line) : take_word(line, std::string(kBareKey));
    skip_blanks(line);
    if (!key || !line.starts_with('=')) return std::nullopt;
    line.remove_prefix(1);
    skip_blanks(line);
    const bool is_text = is_quote(line);
    const auto value = is_text ? take_text(line) : take_word(line, std::string(kBareKey) + "+.:");
    skip_blanks(line);
    if (!value || !(line.empty() || line.starts_with('#'))) return std::nullopt;
    return Statement{*key, *value, is_text};
}

/// The solver, where no parser is needed to find it.
std::optional<CaseSolver> plainly_named(std::string_view text) {
    if (text.starts_with(kByteOrderMark)) text.remove_prefix(kByteOrderMark.size());
    for (int number = 1; !text.empty(); ++number) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::size_t first = line.find_first_not_of(kBlanks);
        if (first == std::string_view::npos || line[first] == '#') continue;
        const std::optional<Statement> said = statement_of(line);
        if (!said) return std::nullopt;
        if (said->key != "solver") continue;
        if (!said->is_text) return std::nullopt;
        return CaseSolver{std::string(said->value), number};
    }
    return std::nullopt;
}

Error no_solver(const std::string& file, const std::string& given) {
    Error error("a case says which solver runs it");
    error.at(file, 0, "solver").given(given);
    return error.allowed("solver = \"transport\" before the first [section]");
}

/// What a command prints, up to the bytes that are asked for; nothing where it fails.
std::optional<std::string> printed_by(std::vector<std::string> command, std::size_t most) {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) throw system_error("the case file cannot be read", errno);
    const pid_t child = fork();
    if (child == 0) {
        std::vector<char*> argv;
        for (std::string& word : command) argv.push_back(word.data());
        argv.push_back(nullptr);
        forget_modules_here(true);
        if (dup2(ends[1], STDOUT_FILENO) >= 0) execv(argv.front(), argv.data());
        _exit(127);
    }
    const int failure = errno;
    close(ends[1]);
    std::string said;
    char piece[4096];
    for (ssize_t n = 0; child > 0 && said.size() < most;) {
        n = read(ends[0], piece, sizeof piece);
        if (n < 0 && errno == EINTR) continue;
        if (n <= 0) break;
        said.append(piece, static_cast<std::size_t>(n));
    }
    close(ends[0]);
    if (child < 0) throw system_error("the case file cannot be read", failure);
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) return std::nullopt;
    return said;
}

/// What python/strata/run/solver_of_case.py says of the file.
CaseSolver parsed_by_python(const std::string& file) {
    const std::optional<std::string> python = find_python();
    if (!python)
        throw no_solver(file,
                        "no plain line solver = \"NAME\" above the first line that only Python's parser can "
                        "read, and Strata's Python side is not set up")
            .remedy("write solver = \"NAME\" on the first line");
    const auto said =
        printed_by({*python, "-P", "-m", "strata.run.solver_of_case", file}, std::size_t{4} << 20U);
    if (!said)  // it has said why on standard error
        throw Error("the case file cannot be read by Strata's Python side", kFailure)
            .at(file)
            .remedy("strata doctor; or write solver = \"NAME\" on the first line");
    const JsonValue found = JsonValue::parse(*said, "solver_of_case.py");
    if (found.find("solver") != nullptr)
        return {found.member("solver").string(), static_cast<int>(found.member("line").integer())};
    const auto part = [&found](const char* name) {
        const JsonValue* text = found.find(name);
        return text == nullptr ? std::string() : text->string();
    };
    throw Error(part("message"))
        .at(part("at"))
        .given(part("given"))
        .allowed(part("allowed"))
        .remedy(part("try"));
}

}  // namespace

CaseSolver solver_named_in(const std::string& file) {
    std::error_code none;
    if (fs::exists(file, none) && !fs::is_regular_file(file, none))
        throw Error("a case is a file")
            .given(file + (fs::is_directory(file, none) ? ", which is a folder" : ", which is none"))
            .allowed("a TOML file");
    errno = 0;
    std::ifstream in(file, std::ios::binary);
    if (!in && errno != ENOENT && errno != 0)
        throw system_error("the case file cannot be read", errno, kBadInput).at(file);
    if (!in)
        throw Error("there is no such case file")
            .given(file)
            .allowed("a TOML file; it was looked for at " + fs::absolute(file, none).string())
            .remedy("strata run --help");
    std::string text(kMostBytes + 1, '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(in.gcount()));
    if (const auto named = plainly_named(text)) return *named;
    if (text.size() > kMostBytes)
        throw no_solver(file,
                        fmt::format("a file of more than {} bytes without it at its beginning", kMostBytes));
    return parsed_by_python(file);
}

}  // namespace strata::cli
