#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace strata {

class Error;

/// What the user typed, checked against the declared options; values are read with their type and range, and
/// an error names the option, what was given and what is allowed.
class Parsed {
  public:
    /// Whether a flag was given, or an option was given a value (its default does not count).
    [[nodiscard]] bool has(std::string_view name) const;
    /// The value given, or the default; empty where there is neither.
    [[nodiscard]] std::string text(std::string_view name) const;
    [[nodiscard]] std::optional<std::string> maybe(std::string_view name) const;
    [[nodiscard]] long integer(std::string_view name, long least, long most) const;
    [[nodiscard]] double number(std::string_view name, double least, double most) const;
    [[nodiscard]] std::uint64_t size(std::string_view name) const;
    [[nodiscard]] double seconds(std::string_view name) const;
    /// One of the choices.
    [[nodiscard]] std::string choice(std::string_view name, const std::vector<std::string>& choices) const;

    [[nodiscard]] const std::vector<std::string>& positionals() const { return positionals_; }
    /// Everything after "--".
    [[nodiscard]] const std::vector<std::string>& rest() const { return rest_; }
    /// The user asked for help: it has been printed, and there is nothing more to do.
    [[nodiscard]] bool help() const { return help_; }

  private:
    friend class Options;
    std::map<std::string, std::string, std::less<>> given_, defaults_;
    std::vector<std::string> positionals_, rest_;
    bool help_ = false;
};

/// The declared options of one command: makes the check, the error messages and --help.
class Options {
  public:
    Options(std::string command, std::string summary);

    Options& flag(std::string name, std::string meaning);
    /// `value` is how the value is shown ("PxT"); an empty default means none.
    Options& option(std::string name, std::string value, std::string default_value, std::string meaning);
    /// An option whose value may be left out, and else follows after "=": --name, --name=value. Given without
    /// one it has `value_left_out`.
    Options& optional(std::string name, std::string value, std::string value_left_out, std::string meaning);
    /// A word without dashes. Optional ones come last; `many` takes all that remain.
    Options& positional(std::string name, std::string meaning, bool required = true, bool many = false);
    /// The command takes `-- command args`.
    Options& rest(std::string name, std::string meaning);
    Options& example(std::string command, std::string what);
    /// Takes an option but leaves it out of --help: for what Strata's own parts say to each other.
    Options& hidden(std::string name, bool takes_value);

    /// Reads argv[first..). Prints --help on standard output when asked. Throws Error on bad input.
    [[nodiscard]] Parsed parse(int argc, char** argv, int first = 1) const;
    [[nodiscard]] Parsed parse(const std::vector<std::string>& words) const;
    [[nodiscard]] std::string help() const;

  private:
    struct Option {
        std::string name, value, default_value, meaning;
        bool is_hidden = false;
        std::optional<std::string> value_left_out = {};
    };
    struct Word {
        std::string name, meaning;
        bool required, many;
    };
    struct Example {
        std::string command, what;
    };
    [[nodiscard]] const Option* find(std::string_view name) const;
    [[nodiscard]] Error unknown_option(std::string_view name) const;

    std::string command_, summary_, rest_name_, rest_meaning_;
    std::vector<Option> options_;
    std::vector<Word> positionals_;
    std::vector<Example> examples_;
};

/// The candidate nearest to a misspelt word by edit distance, or an empty text when none is near.
[[nodiscard]] std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace strata
