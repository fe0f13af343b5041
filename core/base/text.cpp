#include "core/base/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <type_traits>

namespace strata {

namespace {

constexpr std::size_t kRoom = 64;

/// A real number of Fortran's in the form of std::from_chars(), put into `room`; "" where it has none.
inline std::string_view without_fortran(std::string_view word, char* room) {
    if (word.empty() || word.size() >= kRoom - 1) return {};
    std::size_t n = 0;
    bool exponent = false;
    for (std::size_t i = word[0] == '+' ? 1 : 0; i < word.size(); ++i) {
        char c = word[i];
        if (c == 'd' || c == 'D' || c == 'E') c = 'e';
        if ((c == '+' || c == '-') && n > 0 && room[n - 1] != 'e') {
            if (exponent) return {};
            room[n++] = 'e';
            exponent = true;
        }
        if (c == 'e') exponent = true;
        if (c == '+') continue;
        if (n + 2 >= kRoom) return {};
        room[n++] = c;
    }
    return {room, n};
}

bool is_small(std::string_view beyond) {
    const std::size_t e = beyond.find_first_of("eE");
    return e != std::string_view::npos && e + 1 < beyond.size() && beyond[e + 1] == '-';
}

bool is_space(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }

/// Reads the number at the beginning of a text; where it ends, null where the text begins with none. False:
/// it is beyond those of T, and not 0 all the same.
template <class T>
inline bool read(std::string_view text, const NumberForm& form, T& value, const char*& end) {
    const char *begin = text.data(), *const last = begin + text.size();
    if (form.plus && text.size() > 1 && begin[0] == '+' && begin[1] != '-') ++begin;
    std::from_chars_result found;
    if constexpr (std::is_floating_point_v<T>)
        found = std::from_chars(begin, last, value);
    else
        found = std::from_chars(begin, last, value, form.base);
    end = found.ptr;
    if (found.ec == std::errc()) [[likely]]
        return true;
    if (found.ec == std::errc::invalid_argument) end = nullptr;
    if (!std::is_floating_point_v<T> || end == nullptr) return false;
    using Beyond = NumberForm::Beyond;
    value = T{};
    return form.beyond == Beyond::zero || (form.beyond == Beyond::small_is_zero && is_small({begin, end}));
}

/// The same of all of a text.
template <class T>
inline std::optional<T> read_whole(std::string_view text, const NumberForm& form) {
    T value{};
    const char* end = nullptr;
    if (read(text, form, value, end) && end == text.data() + text.size()) [[likely]]
        return value;
    return std::nullopt;
}

}  // namespace

template <class T>
std::optional<T> take_number(std::string_view& text, NumberForm form) {
    T value{};
    const char* end = nullptr;
    const bool is_one = read(text, form, value, end);
    if (end != nullptr) text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    return is_one ? std::optional<T>(value) : std::nullopt;
}

template <class T>
std::optional<T> parse_number(std::string_view text, NumberForm form) {
    if (!form.fortran) return read_whole<T>(text, form);
    if constexpr (std::is_floating_point_v<T>) {
        char room[kRoom];
        return read_whole<T>(without_fortran(text, room), form);
    } else {
        (void)take(text, "+");
        return read_whole<T>(text, form);
    }
}

#define STRATA_NUMBERS_OF(T)                                                        \
    template std::optional<T> parse_number(std::string_view text, NumberForm form); \
    template std::optional<T> take_number(std::string_view& text, NumberForm form);
STRATA_NUMBERS_OF(int)
STRATA_NUMBERS_OF(long)
STRATA_NUMBERS_OF(long long)
STRATA_NUMBERS_OF(unsigned)
STRATA_NUMBERS_OF(unsigned long)
STRATA_NUMBERS_OF(unsigned long long)
STRATA_NUMBERS_OF(double)
#undef STRATA_NUMBERS_OF

bool take(std::string_view& text, std::string_view beginning) {
    if (!text.starts_with(beginning)) return false;
    text.remove_prefix(beginning.size());
    return true;
}

std::string_view take_line(std::string_view& text) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return line;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
    std::vector<std::string_view> parts;
    for (;;) {
        const std::size_t at = text.find(separator);
        parts.push_back(text.substr(0, at));
        if (at == std::string_view::npos) return parts;
        text.remove_prefix(at + 1);
    }
}

std::vector<std::string_view> words_of(std::string_view line) {
    line = line.substr(0, line.find('#'));
    std::vector<std::string_view> words;
    for (std::size_t i = 0; i < line.size();) {
        while (i < line.size() && is_space(line[i])) ++i;
        const std::size_t from = i;
        while (i < line.size() && !is_space(line[i])) ++i;
        if (i > from) words.push_back(line.substr(from, i - from));
    }
    return words;
}

std::optional<double> real_of(std::string_view word) {
    const std::optional<double> value = read_whole<double>(word, {.plus = true});
    return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<std::int64_t> whole_of(std::string_view word) {
    return read_whole<std::int64_t>(word, {.plus = true});
}

}  // namespace strata
