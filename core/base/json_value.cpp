#include "core/base/json_value.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace strata {

/// Reads one document by descent. Depth and number of values are bounded, since text may come from a socket
/// or a stranger's file.
class JsonReader {
  public:
    JsonReader(std::string_view text, const std::string& file, std::size_t most)
        : text_(text), file_(std::make_shared<const std::string>(file)), left_(most + text.size() / 64) {}

    JsonValue document() {
        JsonValue value = read(0);
        blank();
        if (at_ < text_.size()) fail("something follows the end of the document");
        return value;
    }

  private:
    static constexpr int kDeepest = 64;

    [[noreturn]] void fail(const std::string& why) const {
        const auto line =
            1 + std::count(text_.begin(), text_.begin() + static_cast<std::ptrdiff_t>(at_), '\n');
        constexpr std::size_t shown = 40;
        const std::string_view rest = text_.substr(std::min(at_, text_.size()), shown);
        throw Error("this is not JSON: " + why)
            .at(*file_, static_cast<int>(line))
            .given(rest.empty() ? "the end of the text"
                                : std::string(rest.substr(0, rest.find('\n'))) + " ...")
            .allowed("one JSON document (RFC 8259)");
    }
    void blank() {
        while (at_ < text_.size() && std::string_view(" \t\r\n").find(text_[at_]) != std::string_view::npos)
            ++at_;
    }
    [[nodiscard]] char next() const { return at_ < text_.size() ? text_[at_] : '\0'; }
    bool take(char c) {
        blank();
        if (next() != c || at_ >= text_.size()) return false;
        ++at_;
        return true;
    }
    void word(std::string_view expected) {
        if (text_.substr(at_, expected.size()) != expected) fail("a value was expected");
        at_ += expected.size();
    }

    JsonValue read(int depth) {
        if (depth > kDeepest) fail("it is nested too deep");
        if (left_-- == 0) fail("it has too many values");
        blank();
        JsonValue value;
        value.where_ = file_;
        switch (next()) {
            case '{':
                ++at_;
                value.type_ = JsonValue::Type::object;
                if (take('}')) break;
                do {
                    blank();
                    std::string name = quoted();
                    if (!take(':')) fail("a ':' was expected");
                    value.members_.emplace_back(std::move(name), read(depth + 1));
                } while (take(','));
                if (!take('}')) fail("a ',' or '}' was expected");
                break;
            case '[':
                ++at_;
                value.type_ = JsonValue::Type::array;
                if (take(']')) break;
                do value.items_.push_back(read(depth + 1));
                while (take(','));
                if (!take(']')) fail("a ',' or ']' was expected");
                break;
            case '"':
                value.type_ = JsonValue::Type::string;
                value.text_ = quoted();
                break;
            case 't':
                word("true");
                value.type_ = JsonValue::Type::boolean;
                value.truth_ = true;
                break;
            case 'f':
                word("false");
                value.type_ = JsonValue::Type::boolean;
                break;
            case 'n':
                word("null");
                break;
            default:
                read_number(value);
        }
        return value;
    }

    void digits() {
        if (next() < '0' || next() > '9') fail("a value was expected");
        while (next() >= '0' && next() <= '9') ++at_;
    }
    void read_number(JsonValue& value) {
        const std::size_t from = at_;
        if (next() == '-') ++at_;
        const bool zero = next() == '0';
        const std::size_t first = at_;
        digits();
        if (zero && at_ > first + 1) fail("a number begins with 0");
        if (next() == '.') ++at_, digits();
        if (next() == 'e' || next() == 'E') {
            ++at_;
            if (next() == '+' || next() == '-') ++at_;
            digits();
        }
        value.type_ = JsonValue::Type::number;
        value.text_ = std::string(text_.substr(from, at_ - from));
        const auto number = parse_number<double>(value.text_);
        if (!number) fail("a number is beyond those of 64 bits");
        value.number_ = *number;
    }

    unsigned hexadecimal() {
        const std::string_view four = text_.substr(at_, 4);
        const auto code = parse_number<unsigned>(four, {.base = 16});
        if (!code || four.size() < 4) fail("\\u needs four hexadecimal digits");
        at_ += 4;
        return *code;
    }
    static void append_utf8(std::string& out, unsigned code) {
        const auto byte = [&](unsigned b) { out += static_cast<char>(b); };
        if (code < 0x80) {
            byte(code);
        } else if (code < 0x800) {
            byte(0xC0 | code >> 6), byte(0x80 | (code & 0x3F));
        } else if (code < 0x10000) {
            byte(0xE0 | code >> 12), byte(0x80 | (code >> 6 & 0x3F)), byte(0x80 | (code & 0x3F));
        } else {
            byte(0xF0 | code >> 18), byte(0x80 | (code >> 12 & 0x3F)), byte(0x80 | (code >> 6 & 0x3F));
            byte(0x80 | (code & 0x3F));
        }
    }
    std::string quoted() {
        if (next() != '"') fail("a '\"' was expected");
        ++at_;
        std::string out;
        for (;;) {
            if (at_ >= text_.size()) fail("a string does not end");
            const char c = text_[at_++];
            if (c == '"') return out;
            if (static_cast<unsigned char>(c) < 0x20) fail("a control character in a string");
            if (c != '\\') {
                out += c;
                continue;
            }
            const char escape = next();
            if (at_ < text_.size()) ++at_;
            constexpr std::string_view from = "\"\\/bfnrt", to = "\"\\/\b\f\n\r\t";
            if (const auto known = from.find(escape); known != std::string_view::npos && escape != '\0') {
                out += to[known];
            } else if (escape == 'u') {
                unsigned code = hexadecimal();
                if (code >= 0xD800 && code < 0xDC00 && text_.substr(at_, 2) == "\\u") {
                    at_ += 2;
                    const unsigned low = hexadecimal();
                    code = low >= 0xDC00 && low < 0xE000 ? 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00)
                                                         : 0xD800;
                }
                append_utf8(out, code >= 0xD800 && code < 0xE000 ? 0xFFFD : code);
            } else {
                fail("an unknown escape in a string");
            }
        }
    }

    std::string_view text_;
    std::shared_ptr<const std::string> file_;
    std::size_t at_ = 0, left_;
};

JsonValue JsonValue::parse(std::string_view text, const std::string& file, std::size_t most) {
    return JsonReader(text, file, most).document();
}

const JsonValue& JsonValue::expect(Type type, const char* what) const {
    if (type_ != type) throw Error(fmt::format("{} was expected here", what)).at(where()).given(text_);
    return *this;
}

bool JsonValue::boolean() const { return expect(Type::boolean, "true or false").truth_; }
double JsonValue::number() const { return expect(Type::number, "a number").number_; }
const std::string& JsonValue::string() const { return expect(Type::string, "a string").text_; }
const std::vector<JsonValue>& JsonValue::items() const { return expect(Type::array, "a list").items_; }
const std::vector<std::pair<std::string, JsonValue>>& JsonValue::members() const {
    return expect(Type::object, "an object").members_;
}

long long JsonValue::integer() const {
    const std::string& text = expect(Type::number, "an integer").text_;
    if (const auto value = parse_number<long long>(text)) return *value;
    throw Error("an integer was expected here").at(where()).given(text);
}

const JsonValue* JsonValue::find(std::string_view name) const {
    for (const auto& [key, value] : members())
        if (key == name) return &value;
    return nullptr;
}

const JsonValue& JsonValue::member(std::string_view name) const {
    if (const JsonValue* found = find(name)) return *found;
    throw Error(fmt::format("'{}' is missing", name)).at(where());
}

}  // namespace strata
