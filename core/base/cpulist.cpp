#include "core/base/cpulist.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace strata {
namespace {

/// Linux numbers CPUs below 2^16 on every architecture; a larger number is a slip, and "0-4000000000" must
/// not fill memory.
constexpr int kLargest = (1 << 16) - 1;

[[noreturn]] void refuse(std::string_view text) {
    throw Error("not a list of CPU numbers")
        .given(fmt::format("\"{}\"", text))
        .allowed("numbers and ranges separated by commas, such as 0-3,8 or 0-15:4");
}

int read_number(std::string_view part, std::string_view whole) {
    const auto value = parse_number<int>(part, 0, kLargest);
    if (!value) refuse(whole);
    return *value;
}

}  // namespace

std::vector<int> parse_cpulist(std::string_view text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
    std::vector<int> numbers;
    std::string_view rest = text;
    while (!rest.empty()) {
        const size_t comma = rest.find(',');
        std::string_view part = rest.substr(0, comma);
        if (comma != std::string_view::npos && comma + 1 == rest.size()) refuse(text);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        int step = 1;
        if (const size_t colon = part.find(':'); colon != std::string_view::npos) {
            step = read_number(part.substr(colon + 1), text);
            part = part.substr(0, colon);
            if (step < 1) refuse(text);
        }
        const size_t dash = part.find('-');
        const int first = read_number(part.substr(0, dash), text);
        const int last = dash == std::string_view::npos ? first : read_number(part.substr(dash + 1), text);
        if (last < first) refuse(text);
        for (int n = first; n <= last; n += step) numbers.push_back(n);
    }
    std::sort(numbers.begin(), numbers.end());
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
    return numbers;
}

std::string print_cpulist(std::span<const int> numbers) {
    std::vector<int> sorted(numbers.begin(), numbers.end());
    std::sort(sorted.begin(), sorted.end());
    sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
    std::string text;
    for (size_t i = 0; i < sorted.size();) {
        size_t j = i;
        while (j + 1 < sorted.size() && sorted[j + 1] == sorted[j] + 1) ++j;
        if (!text.empty()) text += ',';
        text += j == i ? fmt::format("{}", sorted[i]) : fmt::format("{}-{}", sorted[i], sorted[j]);
        i = j + 1;
    }
    return text;
}

}  // namespace strata
