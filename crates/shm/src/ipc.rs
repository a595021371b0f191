//! What iceoryx2 is built of here: its own parts for memory between processes, with ports that
//! several threads may use, but for the storage, which keeps no file open.

use std::fmt::Debug;

use iceoryx2::prelude::{ZeroCopySend, ipc_threadsafe};
use iceoryx2::service::Service;
use iceoryx2::service::internal::ServiceInternal;
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_cal::resizable_shared_memory::dynamic::DynamicMemory;
use iceoryx2_cal::shared_memory::common::details::AllocatorDetails;
use iceoryx2_cal::shared_memory::common::details::Memory;
use iceoryx2_cal::shm_allocator::bump_allocator::BumpAllocator;
use iceoryx2_cal::shm_allocator::pool_allocator::PoolAllocator;
use iceoryx2_cal::zero_copy_connection::common::details::Connection;
use iceoryx2_cal::zero_copy_connection::common::details::SharedManagementData;

use crate::closed_storage::ClosedStorage;
use crate::mapped_storage::MappedStorage;

type Parts = ipc_threadsafe::Service;
type Segment<A> = Memory<A, MappedStorage<AllocatorDetails<A>>>;

/// The kind of all nodes, services and ports of Feros.
#[derive(Debug, Clone)]
pub(crate) struct Ipc;

impl Service for Ipc {
    type StaticStorage = ClosedStorage;
    type ConfigSerializer = <Parts as Service>::ConfigSerializer;
    type PersistentDynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> =
        MappedStorage<T>;
    type Bag = <Parts as Service>::Bag;
    type DynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> = MappedStorage<T>;
    type ServiceNameHasher = <Parts as Service>::ServiceNameHasher;
    type SharedMemory = Segment<PoolAllocator>;
    type ResizableSharedMemory = DynamicMemory<PoolAllocator, Segment<PoolAllocator>>;
    type Connection = Connection<MappedStorage<SharedManagementData>>;
    type Event = <Parts as Service>::Event;
    type Monitoring = <Parts as Service>::Monitoring;
    type Reactor = <Parts as Service>::Reactor;
    type ArcThreadSafetyPolicy<T: Send + Debug + Abandonable> =
        <Parts as Service>::ArcThreadSafetyPolicy<T>;
    type BlackboardMgmt<T: Send + Sync + Debug + ZeroCopySend + 'static> = MappedStorage<T>;
    type BlackboardPayload = Segment<BumpAllocator>;
    type UniqueId = <Parts as Service>::UniqueId;
}

impl ServiceInternal<Ipc> for Ipc {}
