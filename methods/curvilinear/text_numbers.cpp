#include "methods/curvilinear/text_numbers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/text.hpp"

namespace strata::flow {

namespace {

/// Numbers from one mark to the next. Few: lines of coarser grids are read one by one.
constexpr std::int64_t kEvery = 128;
constexpr std::int64_t kBuffer = 1 << 16;
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 52;

bool between_numbers(char c) { return c == ' ' || c == '\n' || c == ',' || c == '\r' || c == '\t'; }

constexpr NumberForm kForm{.fortran = true, .beyond = NumberForm::Beyond::small_is_zero};

}  // namespace

/// Goes from word to word.
class TextNumbers::Reader {
  public:
    Reader(const TextNumbers& text, const Mark& mark) : text_(text), number_(mark.number), at_(mark.offset) {}
    /// The next word without its count; false at the end. `left()`: how often it counts from here on.
    bool next() {
        char c = 0;
        while (peek(c) && between_numbers(c)) ++at_;
        start_ = at_;
        word_.clear();
        while (peek(c) && !between_numbers(c)) {
            word_.push_back(c), ++at_;
            if (word_.size() > 200) text_.refuse(start_, word_.substr(0, 60), "a word is no number");
        }
        if (word_.empty()) return false;
        left_ = 1;
        if (const std::size_t star = word_.find('*'); star != std::string::npos) {
            const std::string_view times = std::string_view(word_).substr(0, star);
            left_ = parse_number<std::int64_t>(times, kForm).value_or(0);
            if (left_ < 1) text_.refuse(start_, word_, "a word is no number");
            word_.erase(0, star + 1);
        }
        return true;
    }
    [[nodiscard]] const std::string& word() const { return word_; }
    [[nodiscard]] std::int64_t start() const { return start_; }
    [[nodiscard]] std::int64_t left() const { return left_; }
    [[nodiscard]] std::int64_t number() const { return number_; }
    void use(std::int64_t count) { number_ += count, left_ -= count; }

  private:
    bool peek(char& c) {
        if (at_ >= begin_ + static_cast<std::int64_t>(buffer_.size()) || at_ < begin_) {
            const std::int64_t count = std::min(kBuffer, text_.bytes_.size() - at_);
            if (count <= 0) return false;
            buffer_.resize(static_cast<std::size_t>(count));
            text_.bytes_.read(at_, count, buffer_.data());
            begin_ = at_;
        }
        c = buffer_[static_cast<std::size_t>(at_ - begin_)];
        return true;
    }
    const TextNumbers& text_;
    std::int64_t number_, at_, start_ = 0, left_ = 0, begin_ = 0;
    std::string buffer_, word_;
};

TextNumbers::TextNumbers(const Bytes& bytes, std::string name) : bytes_(bytes), name_(std::move(name)) {
    Reader reader(*this, {0, 0});
    std::int64_t due = 0;
    while (reader.next()) {
        if (!parse_number<double>(reader.word(), kForm))
            refuse(reader.start(), reader.word(), "a word is no number");
        if (reader.left() > kMostNumbers - count_)
            refuse(reader.start(), reader.word(), "a repeat makes more numbers than any file has");
        const std::int64_t after = count_ + reader.left();
        if (due < after) {
            marks_.push_back({count_, reader.start()});
            due = after + kEvery - 1 - (after - 1) % kEvery;
        }
        count_ = after;
    }
}

TextNumbers::Reader TextNumbers::reader_at(std::int64_t number) const {
    const auto after = std::upper_bound(marks_.begin(), marks_.end(), number,
                                        [](std::int64_t n, const Mark& mark) { return n < mark.number; });
    return {*this, *std::prev(after)};
}

void TextNumbers::read(std::int64_t first, std::int64_t count, double* to) const {
    if (count <= 0) return;
    Reader reader = reader_at(first);
    while (reader.next()) {
        std::int64_t from = reader.number();
        const std::int64_t end = from + reader.left();
        reader.use(reader.left());
        if (end <= first) continue;
        const auto value = parse_number<double>(reader.word(), kForm);
        if (!value || !std::isfinite(*value))
            refuse(reader.start(), reader.word(), "a value is no finite number");
        for (from = std::max(from, first); from < std::min(end, first + count); ++from)
            to[from - first] = *value;
        if (end >= first + count) return;
    }
}

bool TextNumbers::read_whole_numbers(std::int64_t first, std::int64_t count, std::int64_t* to) const {
    if (count <= 0) return true;
    if (first + count > count_) return false;
    Reader reader = reader_at(first);
    while (reader.next()) {
        std::int64_t from = reader.number();
        const std::int64_t end = from + reader.left();
        reader.use(reader.left());
        if (end <= first) continue;
        const auto value = parse_number<std::int64_t>(reader.word(), kForm);
        if (!value) return false;
        for (from = std::max(from, first); from < std::min(end, first + count); ++from)
            to[from - first] = *value;
        if (end >= first + count) return true;
    }
    return false;
}

void TextNumbers::refuse(std::int64_t offset, std::string_view word, const std::string& why) const {
    std::int64_t line = 1;
    std::string buffer;
    for (std::int64_t at = 0; at < offset; at += kBuffer) {
        buffer.resize(static_cast<std::size_t>(std::min(kBuffer, offset - at)));
        bytes_.read(at, static_cast<std::int64_t>(buffer.size()), buffer.data());
        line += std::count(buffer.begin(), buffer.end(), '\n');
    }
    Error error(why);
    error.at(name_, static_cast<int>(line))
        .given(std::string(word))
        .allowed("numbers such as 1, -0.5, 2.5E-3, 1D0, 3*0.5")
        .remedy(
            "take what is no number out of the text; asterisks are a number that the format had no room for");
    throw error;
}

}  // namespace strata::flow
