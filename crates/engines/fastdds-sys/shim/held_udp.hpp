// A UDP transport whose datagrams wait until their participant can take them. A participant of Fast
// DDS announces itself before it starts to receive (RTPSParticipantImpl::enable in both versions).
// Existing participants answer at once, on loopback even before the participant receives, and they
// repeat their answer only seconds later.
//
// The transport also decides which addresses its participant announces. Fast DDS announces that of
// the loopback interface only if there is no other interface.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>

namespace feros {

/// Tells the receiving threads of a participant that it is ready.
class Reception
{
public:

    void open()
    {
        std::lock_guard<std::mutex> guard(lock);
        is_open = true;
        opened.notify_all();
    }

    /// Waits for these threads if the participant could not be created.
    void wait()
    {
        if (is_open)
        {
            return;
        }
        std::unique_lock<std::mutex> guard(lock);
        opened.wait_for(guard, LONGEST_WAIT, [this]
            {
                return is_open.load();
            });
        is_open = true;
    }

private:

    static constexpr std::chrono::seconds LONGEST_WAIT{2};

    std::atomic<bool> is_open{false};
    std::mutex lock;
    std::condition_variable opened;
};

class HeldUdpDescriptor : public transports::ChainingTransportDescriptor
{
public:

    HeldUdpDescriptor(
            std::shared_ptr<transports::UDPv4TransportDescriptor> udp,
            std::shared_ptr<Reception> reception,
            bool announces_loopback)
        : ChainingTransportDescriptor(udp)
        , reception_(std::move(reception))
        , announces_loopback_(announces_loopback)
    {
    }

    transports::TransportInterface* create_transport() const override;

private:

    friend class HeldUdp;

    std::shared_ptr<Reception> reception_;
    bool announces_loopback_;
};

class HeldUdp : public PassingTransport
{
public:

    explicit HeldUdp(const HeldUdpDescriptor& descriptor)
        : PassingTransport(descriptor)
        , descriptor_(descriptor)
    {
    }

    transports::TransportDescriptorInterface* get_configuration() override
    {
        return &descriptor_;
    }

    void receive(
            transports::TransportReceiverInterface* next,
            const rtps::octet* data,
            uint32_t size_bytes,
            const rtps::Locator_t& local,
            const rtps::Locator_t& remote) override
    {
        descriptor_.reception_->wait();
        next->OnDataReceived(data, size_bytes, local, remote);
    }

    // Fast DDS calls this for each list of own locators, to replace a locator without an address by
    // the addresses of this host.
    rtps::LocatorList_t NormalizeLocator(const rtps::Locator_t& locator) override
    {
        rtps::LocatorList_t all;
        if (descriptor_.announces_loopback_ && rtps::IPLocator::isAny(locator))
        {
            // It is the first, because participants keep only the first few locators of others.
            rtps::Locator_t loopback(locator);
            rtps::IPLocator::setIPv4(loopback, "127.0.0.1");
            all.push_back(loopback);
        }
        all.push_back(PassingTransport::NormalizeLocator(locator)); // leaves out a repeated locator
        return all;
    }

private:

    HeldUdpDescriptor descriptor_;
};

inline transports::TransportInterface* HeldUdpDescriptor::create_transport() const
{
    return new HeldUdp(*this);
}

} // namespace feros
