// The socket through which a run is watched and steered.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "core/run/steer/requests.hpp"

namespace strata::graph {

/// Listens on `folder`/control/control.sock; only the user may enter `control`. It has no thread: one thread
/// of one process calls poll() between steps. The destructor removes the socket; a socket left by a killed
/// run is replaced.
class Control {
  public:
    /// Throws Error where another run listens in this folder, or no socket can be made there (some network
    /// file systems have none).
    explicit Control(const std::filesystem::path& folder);
    ~Control();
    Control(const Control&) = delete;
    Control& operator=(const Control&) = delete;

    /// Removes the files that a killed run left in `folder`/control. Does nothing if a run listens there.
    static void sweep(const std::filesystem::path& folder) noexcept;

    /// Answers the requests that have arrived. Never waits: a client that does not read its answers is
    /// dropped, and so is one that sends a line without end. Makes system calls at most twenty times a
    /// second, so it may be called after every step. `now`: seconds of any steady clock.
    void poll(const SteeredRun& run, double now);

  private:
    struct Client {
        int file = -1;
        std::string in, out;
        bool over = false;
        double asked = 0;  // when it said something last, or came
    };
    int take_lock(int place);
    /// Returns the place of the first that came.
    std::size_t accept_clients();
    void read(Client& client, const SteeredRun& run);
    static void write(Client& client);

    static constexpr std::size_t kClients = 16;
    static constexpr std::size_t kLine = 1 << 16, kUnread = 1 << 22;  // bytes

    std::filesystem::path folder_;
    int lock_ = -1, listener_ = -1;
    std::vector<Client> clients_;
    double asked_ = 0;
    bool asked_once_ = false;
};

}  // namespace strata::graph
