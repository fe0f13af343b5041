// Text files that fit in memory, line by line; errors name file and line.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"

namespace strata {

/// A text file that a user has named: tables, potentials.
class TextFile {
  public:
    /// Throws Error where it cannot be read; `what` for messages, e.g. "the table".
    TextFile(const std::filesystem::path& path, const std::string& what);
    TextFile(const TextFile&) = delete;  // lines and words are views of its text
    TextFile& operator=(const TextFile&) = delete;

    /// Goes to the next line, without its words; false at the end.
    bool next_line();
    /// Goes to the next line and its words.
    bool next();
    /// Goes to the next line that has words.
    bool next_words();
    /// Throws Error where there is no further line; `wanted` says what should be there.
    void need_words(const std::string& wanted);
    [[nodiscard]] std::string_view line() const { return line_; }
    [[nodiscard]] const std::vector<std::string_view>& words() const { return words_; }
    [[nodiscard]] int number() const { return number_; }

    /// The next `count` numbers, on as many lines as they take.
    [[nodiscard]] std::vector<double> numbers(std::size_t count, const std::string& wanted);
    /// The k-th word of the line as a number, from 0.
    [[nodiscard]] double real(std::size_t k, const std::string& wanted) const;
    [[nodiscard]] std::int64_t whole(std::size_t k, std::int64_t least, std::int64_t most,
                                     const std::string& wanted) const;
    /// An error about this line; `key`: the column, for instance.
    [[nodiscard]] Error wrong(const std::string& message, const std::string& key = {}) const;

  private:
    std::string file_, text_;
    std::size_t at_ = 0;
    std::string_view line_;
    std::vector<std::string_view> words_;
    int number_ = 0;
};

}  // namespace strata
