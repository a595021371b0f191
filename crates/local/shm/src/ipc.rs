//! The configuration of iceoryx2 in Feros: memory is shared between processes, and several threads
//! may use a port.
//!
//! It is like iceoryx2's own `ipc_threadsafe`, with three differences: the storages have their
//! memory before any process accesses them, and do not keep files open; the connections check more
//! of what they read; and the locks are Feros's own.

#[allow(unsafe_code)] // implements unsafe functions of iceoryx2
mod closed_storage;
#[allow(unsafe_code)] // a trait of iceoryx2 asks for it
mod reentrant;
pub(crate) mod service;

use std::fmt::Debug;

use iceoryx2::prelude::ZeroCopySend;
use iceoryx2::service::{Service, internal::ServiceInternal, ipc_threadsafe};
use iceoryx2::unique_id_generator::unique_system_id::UniqueSystemId;
use iceoryx2_bb_elementary_traits::testing::abandonable::Abandonable;
use iceoryx2_cal::resizable_shared_memory::dynamic::DynamicMemory;
use iceoryx2_cal::shared_memory::common::details::{AllocatorDetails, Memory};
use iceoryx2_cal::shm_allocator::pool_allocator::PoolAllocator;

use self::closed_storage::ClosedStorage;
use self::reentrant::Reentrant;
use crate::rings::connection::IceoryxConnection;
use crate::storage::{SparseStorage, WholeStorage};

type Original = ipc_threadsafe::Service;
type Pool = Memory<PoolAllocator, SparseStorage<AllocatorDetails<PoolAllocator>>>;

/// The type of all iceoryx2 services of Feros.
#[derive(Debug, Clone)]
pub(crate) struct Ipc;

impl ServiceInternal<Ipc> for Ipc {}

impl Service for Ipc {
    type PersistentDynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> =
        WholeStorage<T>;
    type DynamicStorage<T: Debug + Send + Sync + ZeroCopySend + 'static> = WholeStorage<T>;
    type SharedMemory = Pool;
    type ResizableSharedMemory = DynamicMemory<PoolAllocator, Pool>;
    type Connection = IceoryxConnection;

    type ServiceNameHasher = <Original as Service>::ServiceNameHasher;
    type StaticStorage = ClosedStorage;
    type ConfigSerializer = <Original as Service>::ConfigSerializer;
    type Bag = <Original as Service>::Bag;
    type Monitoring = <Original as Service>::Monitoring;
    type ArcThreadSafetyPolicy<T: Send + Debug + Abandonable> = Reentrant<T>;
    type UniqueId = UniqueSystemId;

    // The following types are for messaging patterns that Feros does not use.
    type Event = <Original as Service>::Event;
    type Reactor = <Original as Service>::Reactor;
    type BlackboardMgmt<T: Debug + Send + Sync + ZeroCopySend + 'static> = WholeStorage<T>;
    type BlackboardPayload = <Original as Service>::BlackboardPayload;
}
