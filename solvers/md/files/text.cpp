#include "solvers/md/files/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <regex>

#include "core/base/named_file.hpp"

namespace strata::md {

std::string said_units(const std::filesystem::path& path) {
    std::string text(4096, '\0');
    std::ifstream in(path, std::ios::binary);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, in.gcount())));
    std::size_t end = 0;
    for (int line = 0; line < 3 && end < text.size(); ++line)
        end = std::min(text.find('\n', end), text.size() - 1) + 1;
    text.resize(end);
    static const std::regex said("\\bunits\\s*[:=]?\\s*(lj|real|metal|si|cgs|electron|micro|nano)\\b",
                                 std::regex::icase);
    std::smatch found;
    if (!std::regex_search(text, found, said)) return "";
    std::string name = found[1];
    std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
    return name;
}

TextFile::TextFile(const std::filesystem::path& path, const std::string& what)
    : file_(path.string()), text_(read_named(path, what)) {}

bool TextFile::next() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = std::string_view(text_).substr(at_, end - at_);
    words_ = words_of(line_);
    at_ = end + 1;
    ++number_;
    return true;
}

bool TextFile::next_words() {
    while (next())
        if (!words_.empty()) return true;
    return false;
}

void TextFile::need_words(const std::string& wanted) {
    if (!next_words()) throw wrong("the file ends too early").given("its end").allowed(wanted);
}

std::vector<double> TextFile::numbers(std::size_t count, const std::string& wanted) {
    std::vector<double> values;
    values.reserve(std::min(count, (text_.size() - std::min(at_, text_.size())) / 2 + 1));
    while (values.size() < count) {
        if (!next_words())
            throw wrong("the file ends too early")
                .given(fmt::format("{} numbers", values.size()))
                .allowed(fmt::format("{}: {} numbers", wanted, count));
        if (values.size() + words_.size() > count)
            throw wrong("the line has more numbers than are left")
                .given(fmt::format("{} numbers after {}", words_.size(), values.size()))
                .allowed(fmt::format("{}: {} numbers, ending with a line", wanted, count));
        for (std::size_t k = 0; k < words_.size(); ++k) values.push_back(real(k, wanted));
    }
    return values;
}

double TextFile::real(std::size_t k, const std::string& wanted) const {
    const std::optional<double> value = k < words_.size() ? real_of(words_[k]) : std::nullopt;
    if (value) return *value;
    throw wrong("a number is expected")
        .given(k < words_.size() ? std::string(words_[k]) : "the end of the line")
        .allowed(wanted);
}

std::int64_t TextFile::whole(std::size_t k, std::int64_t least, std::int64_t most,
                             const std::string& wanted) const {
    const std::optional<std::int64_t> value = k < words_.size() ? whole_of(words_[k]) : std::nullopt;
    if (value && *value >= least && *value <= most) return *value;
    throw wrong("a whole number is expected")
        .given(k < words_.size() ? std::string(words_[k]) : "the end of the line")
        .allowed(fmt::format("{}, {} to {}", wanted, least, most));
}

Error TextFile::wrong(const std::string& message) const {
    Error error(message);
    error.at(file_, number_);
    return error;
}

}  // namespace strata::md
