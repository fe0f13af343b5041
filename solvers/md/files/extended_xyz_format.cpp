#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cstring>

#include "core/base/text.hpp"
#include "solvers/md/files/frame_format.hpp"

namespace strata::md {

namespace {

constexpr int kIdWidth = 20;  // of any number of 64 bits

class ExtendedXyzFormat : public FrameFormat {
  public:
    explicit ExtendedXyzFormat(const Trajectory& trajectory) : FrameFormat(trajectory) {
        for (const std::string& kind : trajectory_.kinds)
            name_width_ = std::max(name_width_, static_cast<int>(kind.size()));
        // Sign, point, e+100, and a blank before.
        number_width_ = trajectory_.digits + 8;
        row_bytes_ = name_width_ + 3 * number_width_ + 1 + kIdWidth + 1;
        head_bytes_ = static_cast<std::int64_t>(comment({}).size());
    }
    [[nodiscard]] std::string head(std::int64_t) const override { return ""; }
    [[nodiscard]] std::int64_t frame_bytes() const override {
        return head_bytes_ + trajectory_.atoms * row_bytes_;
    }
    void frame(const Frame& frame, const Put& put) const override { put(0, comment(frame)); }
    void atom(char* frame, std::int64_t row, std::int64_t id, std::int32_t kind,
              const std::array<double, 3>& x) const override {
        char* at = frame + head_bytes_ + row * row_bytes_;
        const std::string& name = trajectory_.kinds[static_cast<std::size_t>(kind)];
        std::memset(at, ' ', static_cast<std::size_t>(row_bytes_));
        std::memcpy(at, name.data(), name.size());
        at += name_width_;
        for (const double value : x) {
            // In the last places of its column.
            char text[64];
            const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::scientific,
                                           trajectory_.digits - 1);
            at += number_width_;
            std::memcpy(at - (end.ptr - text), text, static_cast<std::size_t>(end.ptr - text));
        }
        char text[kIdWidth + 1];
        const auto end = std::to_chars(text, text + sizeof text, id);
        at += 1 + kIdWidth;
        std::memcpy(at - (end.ptr - text), text, static_cast<std::size_t>(end.ptr - text));
        *at = '\n';
    }
    [[nodiscard]] std::int64_t first_step(std::string_view bytes) const override {
        const std::string mine = comment({});
        const std::size_t at = mine.find("step=") + 5;
        const auto row_end = static_cast<std::size_t>(head_bytes_ + row_bytes_ - 1);
        if (bytes.substr(0, at) != mine.substr(0, at) ||
            bytes.find('\n', mine.size()) != row_end)  // with as many digits
            return -1;
        std::string_view step = bytes.substr(at, kIdWidth);
        return take_number<std::int64_t>(step).value_or(-1);
    }

  private:
    /// Of one length for all frames: blanks follow shorter numbers.
    [[nodiscard]] std::string comment(const Frame& frame) const {
        const auto flag = [&](std::size_t d) { return trajectory_.periodic[d] ? 'T' : 'F'; };
        return fmt::format(
            "{}\nProperties=species:S:1:pos:R:3:id:I:1 pbc=\"{} {} {}\" every={} step={:<{}} time={:<24.16e} "
            "Lattice=\"{:.16e} 0 0 0 {:.16e} 0 0 0 {:.16e}\" Origin=\"{:+.16e} {:+.16e} {:+.16e}\"\n",
            trajectory_.atoms, flag(0), flag(1), flag(2), trajectory_.every, frame.step, kIdWidth, frame.time,
            frame.length[0], frame.length[1], frame.length[2], frame.low[0], frame.low[1], frame.low[2]);
    }
    int name_width_ = 1, number_width_ = 0;
    std::int64_t row_bytes_ = 0, head_bytes_ = 0;
};

}  // namespace

std::unique_ptr<FrameFormat> extended_xyz_format(const Trajectory& trajectory) {
    return std::make_unique<ExtendedXyzFormat>(trajectory);
}

}  // namespace strata::md
