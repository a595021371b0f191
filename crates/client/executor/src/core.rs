//! The state that an executor, its handles and its spinning threads share.

use crate::entity::Entity;
use crate::options::{ExecutorOptions, Settings};
use crate::processors::Processors;
use crate::table::{AddError, Table};
use crate::timer_core::TimerCore;
use crate::timer_queues::TimerQueues;
use feros_doorbell::{ReadySet, Slot};
use feros_sync::{Arc, AtomicBool, Mutex};
use std::thread::{Thread, ThreadId};

pub(crate) struct Core {
    pub(crate) ready_set: Arc<ReadySet>,
    pub(crate) table: Table,
    pub(crate) timers: TimerQueues,
    pub(crate) stop: Arc<AtomicBool>,
    pub(crate) spinning: Mutex<SpinningThreads>,
    pub(crate) settings: Settings,
    pub(crate) processors: Processors,
}

/// The slot of the executor itself. A ring of this slot announces a stop, an earlier deadline or a
/// future's progress.
pub(crate) const CONTROL: Slot = Slot::FIRST;

/// The threads that are inside a spin function: the thread that called the function, and its worker
/// threads.
#[derive(Default)]
pub(crate) struct SpinningThreads {
    pub(crate) caller: Option<Thread>,
    pub(crate) workers: Vec<ThreadId>,
}

impl Core {
    pub(crate) fn new(options: ExecutorOptions) -> Self {
        let (ready_set, policy, settings) = options.into_parts();
        let ready_set = Arc::new(ready_set);
        let has_groups = settings.threads > 1;
        Self {
            table: Table::new(Arc::clone(&ready_set), CONTROL.next(), policy, has_groups),
            timers: TimerQueues::new(Arc::clone(&ready_set), CONTROL),
            ready_set,
            stop: Arc::new(AtomicBool::new(false)),
            spinning: Mutex::default(),
            processors: Processors::new(settings.threads),
            settings,
        }
    }

    pub(crate) fn add(&self, entity: Entity) -> Result<Slot, AddError> {
        let timer = entity.timer.clone();
        let slot = self.table.insert(entity)?;
        if let Some(timer) = &timer {
            self.timers.add(slot, timer);
        }
        Ok(slot)
    }

    pub(crate) fn retire_timer(&self, slot: Slot, timer: Option<&Arc<TimerCore>>) {
        if let Some(timer) = timer {
            self.timers.remove(slot, timer);
        }
    }

    pub(crate) fn is_spinning(&self) -> bool {
        self.spinning.lock().caller.is_some()
    }
}
