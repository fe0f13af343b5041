// The views of a checking build. Each access is compared with the task's declarations. The first access
// outside them ends the run with a message that names task, patch, step and label. Included by view.hpp
// alone.
//
// The inline namespace makes them types of their own, so a solver compiled for checking runs on the same
// library as others: no compiled function of the library takes or returns a view.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <type_traits>

#include "core/graph/declare/box.hpp"

namespace strata::graph {

inline namespace checked {

inline constexpr int kAnyComponents = 1 << 30;

/// Row<T> of a checking build: a pointer into a row of a field or into a list. It may be moved anywhere;
/// reads and writes through it are allowed within the row or the list only.
template <class T>
class CheckedRow {
  public:
    using iterator_category = std::random_access_iterator_tag;
    using value_type = std::remove_cv_t<T>;
    using difference_type = std::ptrdiff_t;
    using pointer = T*;
    using reference = T&;

    CheckedRow() = default;
    /// Of a field: `count` values from `first` on, at the indices (lo[0], lo[1], lo[2]), (lo[0] + 1, lo[1],
    /// lo[2]), ...
    CheckedRow(T* first, std::ptrdiff_t count, const Int3& lo, const ViewSource& shown)
        : first_(first), count_(count), lo_(lo), field_(true), shown_(shown) {}
    /// Of a list.
    CheckedRow(T* first, std::ptrdiff_t count, const ViewSource& shown)
        : first_(first), count_(count), shown_(shown) {}
    /// A row for writing converts to one for reading.
    template <class U>
    requires std::is_same_v<const U, T> CheckedRow(
        const CheckedRow<U>& other)  // NOLINT(google-explicit-constructor)
        : first_(other.first_),
          count_(other.count_),
          at_(other.at_),
          lo_(other.lo_),
          field_(other.field_),
          shown_(other.shown_) {}

    [[nodiscard]] T& operator*() const { return (*this)[0]; }
    [[nodiscard]] T* operator->() const { return &(*this)[0]; }
    [[nodiscard]] T& operator[](std::ptrdiff_t i) const {
        if (at_ + i < 0 || at_ + i >= count_) refuse(at_ + i);
        return first_[at_ + i];
    }
    CheckedRow& operator+=(std::ptrdiff_t by) {
        at_ += by;
        return *this;
    }
    CheckedRow& operator-=(std::ptrdiff_t by) { return *this += -by; }
    CheckedRow& operator++() { return *this += 1; }
    CheckedRow& operator--() { return *this += -1; }
    CheckedRow operator++(int) {
        const CheckedRow before = *this;
        ++*this;
        return before;
    }
    CheckedRow operator--(int) {
        const CheckedRow before = *this;
        --*this;
        return before;
    }
    [[nodiscard]] friend CheckedRow operator+(CheckedRow row, std::ptrdiff_t by) { return row += by; }
    [[nodiscard]] friend CheckedRow operator+(std::ptrdiff_t by, CheckedRow row) { return row += by; }
    [[nodiscard]] friend CheckedRow operator-(CheckedRow row, std::ptrdiff_t by) { return row -= by; }
    [[nodiscard]] friend std::ptrdiff_t operator-(const CheckedRow& a, const CheckedRow& b) {
        return (a.first_ + a.at_) - (b.first_ + b.at_);
    }
    [[nodiscard]] friend bool operator==(const CheckedRow& a, const CheckedRow& b) {
        return a.first_ + a.at_ == b.first_ + b.at_;
    }
    [[nodiscard]] friend auto operator<=>(const CheckedRow& a, const CheckedRow& b) {
        return a.first_ + a.at_ <=> b.first_ + b.at_;
    }

  private:
    template <class>
    friend class CheckedRow;
    [[noreturn]] void refuse(std::ptrdiff_t at) const {
        if (!field_) refuse_entry(shown_, at, count_);
        const auto reach = static_cast<int>(count_);
        refuse_index(shown_, {lo_[0] + static_cast<int>(at), lo_[1], lo_[2]},
                     {lo_, {lo_[0] + reach, lo_[1] + 1, lo_[2] + 1}});
    }

    T* first_ = nullptr;
    std::ptrdiff_t count_ = 0, at_ = 0;
    Int3 lo_{};
    bool field_ = false;
    ViewSource shown_;
};

template <class T>
using Row = CheckedRow<T>;

template <class T>
[[nodiscard]] T* pointer_to(const CheckedRow<T>& row, std::ptrdiff_t count) {
    if (count > 0) (void)row[count - 1];
    return count > 0 ? &row[0] : nullptr;
}
template <class T>
[[nodiscard]] T* pointer_to(T* row, std::ptrdiff_t) {
    return row;
}

/// A component of a list; in other builds a std::span.
template <class T>
class CheckedValues {
  public:
    CheckedValues(const CheckedRow<T>& first, std::int64_t count) : first_(first), count_(count) {}
    [[nodiscard]] CheckedRow<T> begin() const { return first_; }
    [[nodiscard]] CheckedRow<T> end() const { return first_ + count_; }
    [[nodiscard]] T& operator[](std::int64_t i) const { return first_[i]; }
    [[nodiscard]] T& front() const { return first_[0]; }
    [[nodiscard]] T& back() const { return first_[count_ - 1]; }
    [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(count_); }
    [[nodiscard]] bool empty() const { return count_ == 0; }
    [[nodiscard]] CheckedRow<T> data() const { return first_; }
    /// For functions that take a span: all values.
    operator std::span<T>() const {  // NOLINT(google-explicit-constructor)
        return {pointer_to(first_, count_), size()};
    }

  private:
    CheckedRow<T> first_;
    std::int64_t count_;
};

template <class T>
class FieldView {
  public:
    FieldView(T* origin, std::ptrdiff_t y, std::ptrdiff_t z, std::ptrdiff_t component, const Box& box,
              int components = kAnyComponents, const ViewSource& shown = {}, const SeenBoxes& seen = {})
        : origin_(origin),
          y_(y),
          z_(z),
          component_(component),
          box_(box),
          components_(components),
          shown_(shown),
          seen_(seen) {}

    [[nodiscard]] T& operator()(int i, int j = 0, int k = 0, int c = 0) const {
        check(c);
        const Int3 at{i, j, k};
        if (!box_.contains(at) || !seen_.contains(at)) refuse_index(shown_, at, box_);
        return origin_[i + j * y_ + k * z_ + c * component_];
    }
    [[nodiscard]] CheckedRow<T> row(int j = 0, int k = 0, int c = 0) const {
        check(c);
        const Box row = seen_.row(box_, j, k);
        const Int3 lo{row.empty() ? box_.lo[0] : row.lo[0], j, k};
        if (row.empty() || !box_.contains(lo)) refuse_index(shown_, lo, box_);
        const CheckedRow<T> all(origin_ + lo[0] + j * y_ + k * z_ + c * component_, row.extent(0), lo,
                                shown_);
        return all - lo[0];
    }
    [[nodiscard]] Box box() const { return box_; }
    [[nodiscard]] std::ptrdiff_t stride(int axis) const { return axis == 0 ? 1 : axis == 1 ? y_ : z_; }
    [[nodiscard]] std::ptrdiff_t component_stride() const { return component_; }
    [[nodiscard]] T* origin() const { return origin_; }

  private:
    void check(int c) const {
        if (c < 0 || c >= components_) refuse_component(shown_, c, components_);
    }
    T* origin_;
    std::ptrdiff_t y_, z_, component_;
    Box box_;
    int components_;
    ViewSource shown_;
    SeenBoxes seen_;
};

template <class T>
class ListView {
  public:
    ListView(T* values, std::int64_t count, std::ptrdiff_t component, int components = kAnyComponents,
             const ViewSource& shown = {})
        : values_(values), count_(count), component_(component), components_(components), shown_(shown) {}
    [[nodiscard]] T& operator[](std::int64_t i) const { return data()[i]; }
    [[nodiscard]] CheckedValues<T> component(int c = 0) const {
        if (c < 0 || c >= components_) refuse_component(shown_, c, components_);
        return {{values_ + c * component_, count_, shown_}, count_};
    }
    [[nodiscard]] std::int64_t size() const { return count_; }
    /// Of the first component.
    [[nodiscard]] CheckedRow<T> data() const { return {values_, count_, shown_}; }
    [[nodiscard]] ListView part(std::int64_t first, std::int64_t count) const {
        if (count > 0 && (first < 0 || first + count > count_))
            refuse_entry(shown_, first < 0 ? first : first + count - 1, count_);
        return {values_ + first, count, component_, components_, shown_};
    }

  private:
    T* values_;
    std::int64_t count_;
    std::ptrdiff_t component_;
    int components_;
    ViewSource shown_;
};

}  // namespace checked

}  // namespace strata::graph
