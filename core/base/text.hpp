// Texts from people, files and the kernel: their parts, words and numbers. All numbers of texts are read
// here; what one place takes beside the usual form, it says by an option.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace strata {

/// What is read as a number. Without options what std::from_chars() reads: no blanks, '-' the only sign; of
/// whole numbers digits, of real ones a point and an exponent as well, "inf" and "nan".
struct NumberForm {
    /// What becomes of a real number that no T comes near: "1e400", "1e-400".
    enum class Beyond { refused, small_is_zero, zero };

    int base = 10;         // of whole numbers; of 16 without "0x"
    bool plus = false;     // "+1" as well
    bool fortran = false;  // of whole texts: also "+1", "1D0", "1.5-101"; real ones of at most 62 characters
    Beyond beyond = Beyond::refused;
};

/// All of a text as a number; none where it is something else, or beyond those of T: int, long, long long,
/// these without signs, or double.
template <class T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, NumberForm form = {});

/// The same from `least` to `most`; "nan" is in no range.
template <class T>
[[nodiscard]] std::optional<T> parse_number(std::string_view text, T least, T most, NumberForm form = {}) {
    const std::optional<T> value = parse_number<T>(text, form);
    return value && *value >= least && *value <= most ? value : std::nullopt;
}

/// Takes the number off with which a text begins. None where it begins with none, and then the text is left
/// as it was; none also where it is beyond those of T, and then its characters are taken off.
template <class T>
[[nodiscard]] std::optional<T> take_number(std::string_view& text, NumberForm form = {});

/// Takes `beginning` off a text that begins so; false where it does not.
bool take(std::string_view& text, std::string_view beginning);
/// Takes a line off, with its end; returned without.
std::string_view take_line(std::string_view& text);

/// The parts between separators, one more than there are of these: parts may be empty.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// The words of a line, between blanks and tabs, without what follows a '#'.
[[nodiscard]] std::vector<std::string_view> words_of(std::string_view line);
/// A whole word as a finite number, "+1" as well; none where it is something else.
[[nodiscard]] std::optional<double> real_of(std::string_view word);
[[nodiscard]] std::optional<std::int64_t> whole_of(std::string_view word);

}  // namespace strata
