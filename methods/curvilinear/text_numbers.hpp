// The numbers of a text as Fortran writes and reads lists of them: separated by blanks, commas and ends of
// lines, `3*0.5` for three of them, exponents with E or D or with nothing but their sign.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "methods/curvilinear/bytes.hpp"

namespace strata::flow {

class TextNumbers {
  public:
    /// Goes through all of the text once. Throws Error with the line where something is no number, or where
    /// repeats make more numbers than any file has.
    TextNumbers(const Bytes& bytes, std::string name);

    [[nodiscard]] std::int64_t count() const { return count_; }
    /// `count` numbers from number `first` on. Throws Error with the line for what is no finite number.
    void read(std::int64_t first, std::int64_t count, double* to) const;
    /// The same of whole numbers; false where one is none.
    [[nodiscard]] bool read_whole_numbers(std::int64_t first, std::int64_t count, std::int64_t* to) const;

  private:
    class Reader;
    /// A place from which reading can begin: the word at `offset` is number `number`, and maybe more. A word
    /// has one mark at most, so that a repeat of 1e12 takes no more memory than its text.
    struct Mark {
        std::int64_t number, offset;
    };
    [[nodiscard]] Reader reader_at(std::int64_t number) const;
    [[noreturn]] void refuse(std::int64_t offset, std::string_view word, const std::string& why) const;

    const Bytes& bytes_;
    std::string name_;
    std::int64_t count_ = 0;
    std::vector<Mark> marks_;
};

}  // namespace strata::flow
