#pragma once

#include <exception>
#include <iosfwd>
#include <string>

namespace strata {

/// How a Strata command ends. A launched program's own status is passed on instead.
enum ExitCode : int { kSuccess = 0, kFailure = 1, kBadInput = 2, kNotFound = 127 };

/// The one error of Strata: what is wrong, where, what was given, what is allowed and what to do next.
/// Thrown where the fault is seen, printed once by the command. Example:
///   throw Error("a thread count must be positive").at("case.toml", 12,
///   "threads").given("0").allowed("1..64");
class Error : public std::exception {
  public:
    explicit Error(std::string message, int exit_code = kBadInput);

    Error& at(std::string file, int line = 0, std::string key = {});
    Error& given(std::string value);
    Error& allowed(std::string values);
    Error& remedy(std::string advice);
    Error& exit_code(int code);
    /// Says in what it happened, for those who pass an error on: "WHAT: " before the message.
    Error& within(const std::string& what);

    [[nodiscard]] int exit_code() const { return exit_code_; }
    [[nodiscard]] const std::string& message() const { return message_; }
    [[nodiscard]] const std::string& given() const { return given_; }
    [[nodiscard]] const std::string& allowed() const { return allowed_; }
    [[nodiscard]] const std::string& remedy() const { return remedy_; }
    [[nodiscard]] const char* what() const noexcept override { return message_.c_str(); }
    /// All of it, one line for each part that is known.
    [[nodiscard]] std::string text() const;
    /// The same for programs: a line of JSON, strata.error/1 (docs/formats.md).
    [[nodiscard]] std::string json() const;

  private:
    std::string message_, place_, given_, allowed_, remedy_;
    int exit_code_;
};

/// Adds what the system said of its last failure (errno), for errors that a system call caused.
[[nodiscard]] Error system_error(std::string message, int error_number, int exit_code = kFailure);

}  // namespace strata
