#include "core/base/text_file.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/named_file.hpp"
#include "core/base/text.hpp"

namespace strata {

TextFile::TextFile(const std::filesystem::path& path, const std::string& what)
    : file_(path.string()), text_(read_named(path, what)) {}

bool TextFile::next_line() {
    if (at_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', at_), text_.size());
    line_ = std::string_view(text_).substr(at_, end - at_);
    at_ = end + 1;
    ++number_;
    return true;
}

bool TextFile::next() {
    if (!next_line()) return false;
    words_ = words_of(line_);
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

Error TextFile::wrong(const std::string& message, const std::string& key) const {
    Error error(message);
    error.at(file_, number_, key);
    return error;
}

}  // namespace strata
