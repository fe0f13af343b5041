#include "core/base/json.hpp"

#include <fmt/format.h>

#include <ostream>

namespace strata {

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
    for (const char c : text) {
        switch (c) {
            case '"':
                out_ << "\\\"";
                break;
            case '\\':
                out_ << "\\\\";
                break;
            case '\n':
                out_ << "\\n";
                break;
            case '\t':
                out_ << "\\t";
                break;
            case '\r':
                out_ << "\\r";
                break;
            default:
                if (static_cast<unsigned char>(c) < 0x20) {
                    out_ << fmt::format("\\u{:04x}", static_cast<unsigned>(c));
                } else {
                    out_ << c;
                }
        }
    }
    out_ << '"';
}

}  // namespace strata
