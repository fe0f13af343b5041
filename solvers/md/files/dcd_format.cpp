#include <array>
#include <cstring>

#include "solvers/md/files/frame_format.hpp"

namespace strata::md {

namespace {

// A DCD file is a sequence of Fortran records: the number of bytes, the bytes, the number again
// (https://www.ks.uiuc.edu/Research/vmd/plugins/molfile/dcdplugin.html).
//   head: "CORD" and 20 numbers; texts of 80 characters; the number of atoms
//   frame: unit cell (A, gamma, B, beta, alpha, C); all x; all y; all z
constexpr double kAkmaFemtoseconds = 48.88821;
constexpr std::size_t kTitle = 80;

template <class T>
void add(std::string& bytes, T value) {
    bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

std::string record(const std::string& bytes) {
    std::string all;
    add(all, static_cast<std::int32_t>(bytes.size()));
    all += bytes;
    add(all, static_cast<std::int32_t>(bytes.size()));
    return all;
}

class DcdFormat : public FrameFormat {
  public:
    using FrameFormat::FrameFormat;

    [[nodiscard]] std::string head(std::int64_t frames) const override {
        std::array<std::int32_t, 20> numbers{};
        numbers[0] = static_cast<std::int32_t>(frames);
        numbers[1] = static_cast<std::int32_t>(trajectory_.first_step);
        numbers[2] = static_cast<std::int32_t>(trajectory_.every);
        numbers[3] = static_cast<std::int32_t>(frames * trajectory_.every);
        const double unit = trajectory_.femtoseconds > 0 ? trajectory_.femtoseconds / kAkmaFemtoseconds : 1;
        const auto step = static_cast<float>(trajectory_.time_step * unit);
        std::memcpy(&numbers[9], &step, sizeof step);
        numbers[10] = 1;   // frames have a unit cell
        numbers[19] = 24;  // of CHARMM
        std::string first = "CORD";
        for (const std::int32_t number : numbers) add(first, number);
        std::string titles, atoms;
        add(titles, std::int32_t{1});
        std::string title = "Strata; atoms in the order of their numbers";
        title.resize(kTitle, ' ');
        titles += title;
        add(atoms, static_cast<std::int32_t>(trajectory_.atoms));
        return record(first) + record(titles) + record(atoms);
    }
    [[nodiscard]] std::int64_t frame_bytes() const override { return kCell + 3 * axis_bytes(); }
    void frame(const Frame& frame, const Put& put) const override {
        std::string cell;
        for (const double value : {frame.length[0], 90.0, frame.length[1], 90.0, 90.0, frame.length[2]})
            add(cell, value);
        put(0, record(cell));
        std::string size;
        add(size, static_cast<std::int32_t>(4 * trajectory_.atoms));
        for (std::int64_t axis = 0; axis < 3; ++axis) {
            put(kCell + axis * axis_bytes(), size);
            put(kCell + (axis + 1) * axis_bytes() - 4, size);
        }
    }
    void atom(char* frame, std::int64_t row, std::int64_t, std::int32_t,
              const std::array<double, 3>& x) const override {
        for (std::size_t axis = 0; axis < 3; ++axis) {
            const auto value = static_cast<float>(x[axis]);
            std::memcpy(frame + kCell + static_cast<std::int64_t>(axis) * axis_bytes() + 4 + 4 * row, &value,
                        4);
        }
    }
    [[nodiscard]] std::int64_t first_step(std::string_view bytes) const override {
        std::string mine = head(0);
        if (bytes.size() < mine.size()) return -1;
        std::int32_t step = 0;
        std::memcpy(&step, bytes.data() + kNumbers + 4, 4);
        // The number of frames, the first step and that of the last frame are the file's own.
        for (const std::size_t own : {0, 4, 12})
            std::memcpy(mine.data() + kNumbers + own, bytes.data() + kNumbers + own, 4);
        return bytes.substr(0, mine.size()) == mine ? step : -1;
    }

  private:
    static constexpr std::int64_t kCell = 4 + 48 + 4;
    static constexpr std::size_t kNumbers = 8;  // after the record's size and "CORD"
    [[nodiscard]] std::int64_t axis_bytes() const { return 4 + 4 * trajectory_.atoms + 4; }
};

}  // namespace

std::unique_ptr<FrameFormat> dcd_format(const Trajectory& trajectory) {
    return std::make_unique<DcdFormat>(trajectory);
}

}  // namespace strata::md
