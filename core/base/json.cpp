#include "core/base/json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "core/base/utf8.hpp"

namespace strata {

size_t utf8_length(std::string_view text) {
    const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
    const auto follows = [&](size_t i) { return (byte(i) & 0xC0U) == 0x80U; };
    const unsigned first = byte(0), second = byte(1);
    if (first < 0x80) return 1;
    if (first >= 0xC2 && first <= 0xDF) return follows(1) ? 2 : 0;
    if (first >= 0xE0 && first <= 0xEF) {
        const bool overlong = first == 0xE0 && second < 0xA0, surrogate = first == 0xED && second > 0x9F;
        return follows(1) && follows(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xF0 && first <= 0xF4) {
        const bool overlong = first == 0xF0 && second < 0x90, beyond = first == 0xF4 && second > 0x8F;
        return follows(1) && follows(2) && follows(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

void Json::before_value() {
    if (after_key_) {
        after_key_ = false;
        return;
    }
    if (levels_.empty()) return;
    if (!levels_.back().first) out_ << ',';
    levels_.back().first = false;
}

void Json::open(char bracket, char closing) {
    before_value();
    out_ << bracket;
    levels_.push_back({closing});
}

Json& Json::object() {
    open('{', '}');
    return *this;
}

Json& Json::array() {
    open('[', ']');
    return *this;
}

Json& Json::end() {
    out_ << levels_.back().closing;
    levels_.pop_back();
    if (levels_.empty()) out_ << '\n';
    return *this;
}

Json& Json::key(std::string_view name) {
    before_value();
    quoted(name);
    out_ << ':';
    after_key_ = true;
    return *this;
}

Json& Json::value(std::string_view text) {
    before_value();
    quoted(text);
    return *this;
}

Json& Json::value(bool truth) {
    before_value();
    out_ << (truth ? "true" : "false");
    return *this;
}

Json& Json::value(double number) {
    if (!std::isfinite(number)) return null();
    before_value();
    out_ << fmt::format("{}", number);
    return *this;
}

Json& Json::integer(long long number) {
    before_value();
    out_ << number;
    return *this;
}

Json& Json::natural(unsigned long long number) {
    before_value();
    out_ << number;
    return *this;
}

Json& Json::null() {
    before_value();
    out_ << "null";
    return *this;
}

void Json::quoted(std::string_view text) {
    out_ << '"';
    while (!text.empty()) {
        const char c = text.front();
        const size_t length = utf8_length(text);
        if (length == 0) {
            // A file name or a BIOS string may hold anything; a document with it must still be read.
            out_ << "\\ufffd";
        } else if (c == '"' || c == '\\') {
            out_ << '\\' << c;
        } else if (c == '\n') {
            out_ << "\\n";
        } else if (c == '\t') {
            out_ << "\\t";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            out_ << fmt::format("\\u{:04x}", static_cast<unsigned>(c));
        } else {
            out_ << text.substr(0, length);
        }
        text.remove_prefix(std::max<size_t>(1, length));
    }
    out_ << '"';
}

}  // namespace strata
