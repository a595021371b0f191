// Keeps threads that delete participants and endpoints out of the library while the process ends.
// The library's destructors also delete these objects, and do not wait for any thread.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdlib>
#include <mutex>
#include <thread>

namespace feros {

/// The deletions that are running. Never destroyed, because threads may use it until the process
/// has ended.
class Deletions
{
public:

    static Deletions& of_process()
    {
        static Deletions& all = *new Deletions;
        return all;
    }

    /// From now on, the process waits for running deletions before it ends. To be called once there
    /// is a participant, because the handlers that are registered last run first at exit.
    static void wait_for_at_exit()
    {
        static const int registered = std::atexit([]
            {
                of_process().end();
            });
        static_cast<void>(registered);
    }

private:

    friend class Deletion;

    void enter()
    {
        std::unique_lock<std::mutex> guard(lock);
        changed.wait(guard, [this]
            {
                return !has_ended || std::this_thread::get_id() == ending;
            });
        ++under_way;
    }

    void leave()
    {
        std::lock_guard<std::mutex> guard(lock);
        --under_way;
        changed.notify_all();
    }

    /// A deletion that hangs delays the end of the process only for this long.
    static constexpr std::chrono::seconds LONGEST_WAIT{5};

    void end()
    {
        std::unique_lock<std::mutex> guard(lock);
        has_ended = true;
        ending = std::this_thread::get_id();
        changed.wait_for(guard, LONGEST_WAIT, [this]
            {
                return under_way == 0;
            });
    }

    std::mutex lock;
    std::condition_variable changed;
    int under_way = 0;
    bool has_ended = false;
    std::thread::id ending;
};

/// A running deletion, for the lifetime of this value. The constructor never returns once another
/// thread is ending the process.
class Deletion
{
public:

    Deletion()
    {
        Deletions::of_process().enter();
    }

    ~Deletion()
    {
        Deletions::of_process().leave();
    }

    Deletion(const Deletion&) = delete;
    Deletion& operator =(const Deletion&) = delete;
};

} // namespace feros
