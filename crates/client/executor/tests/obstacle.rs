//! Tests that a callback learns which entities cannot run while the callback runs, and that no
//! other callback gets that result.
#![allow(clippy::unwrap_used)]

use std::sync::{Arc, Mutex};
use std::thread;

use feros_executor::{
    Attributes, EntityHandle, ExclusiveGroup, Execution, Executor, ExecutorOptions, GuardCondition,
    Obstacle, Shared,
};

type Handles = Arc<Mutex<Vec<EntityHandle>>>;

/// Adds an entity of this group, and a second entity that checks the obstacles of all `handles` and
/// stops the executor. Returns the obstacles that the second entity finds.
fn found(
    executor: &Executor,
    groups: [Option<&ExclusiveGroup>; 2],
    other: &Executor,
) -> Vec<Option<Obstacle>> {
    let handles = Handles::default();
    let found = Arc::new(Mutex::new(Vec::new()));
    let (idle, looking) = (handles.clone(), found.clone());
    let stopper = executor.stopper();
    let look = move || {
        assert!(Execution::current().is_some());
        *looking.lock().unwrap() =
            idle.lock().unwrap().iter().map(EntityHandle::obstacle).collect();
        stopper.stop();
    };
    let with = |group: Option<&ExclusiveGroup>| Attributes {
        group: group.cloned(),
        ..Attributes::default()
    };
    let (_, neighbour) = GuardCondition::new(|| ());
    let (condition, looker) = GuardCondition::new(look);
    let (_, stranger) = GuardCondition::new(|| ());
    handles.lock().unwrap().extend([
        executor.add(neighbour.with(with(groups[0]))).unwrap(),
        executor.add(looker.with(with(groups[1]))).unwrap(),
        other.add(stranger).unwrap(),
    ]);
    condition.trigger();
    executor.spin().unwrap();
    assert!(handles.lock().unwrap().iter().all(|handle| handle.obstacle().is_none()));
    assert_eq!(Execution::current(), None);
    handles.lock().unwrap().clear();
    Arc::try_unwrap(found)
        .map_or_else(|found| found.lock().unwrap().clone(), |found| found.into_inner().unwrap())
}

fn obstacle(shared: Shared) -> Option<Obstacle> {
    Some(Obstacle { executor: "planning".to_owned(), shared })
}

#[test]
fn one_thread_is_in_the_way_of_everything_on_its_executor() {
    let executor = Executor::with_options(ExecutorOptions::default().name("planning"));
    let found = found(&executor, [None, None], &Executor::new());
    assert_eq!(found, [obstacle(Shared::Thread), obstacle(Shared::Entity), None]);
}

#[test]
fn with_several_threads_only_an_exclusive_group_is_in_the_way() {
    let executor =
        || Executor::with_options(ExecutorOptions::default().threads(3).name("planning"));
    let (one, two) = (ExclusiveGroup::new(), ExclusiveGroup::new());
    let cases = [
        ([Some(&one), Some(&one)], obstacle(Shared::Group)),
        ([Some(&one), Some(&two)], None),
        ([None, Some(&one)], None),
        ([None, None], None),
    ];
    for (groups, expected) in cases {
        let found = found(&executor(), groups, &Executor::new());
        assert_eq!(found, [expected, obstacle(Shared::Entity), None]);
    }
}

#[test]
fn executions_differ_from_turn_to_turn_and_from_thread_to_thread() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let turn = |seen: &Arc<Mutex<Vec<Execution>>>| {
        let (executor, seen) = (Executor::new(), seen.clone());
        let (condition, entity) =
            GuardCondition::new(move || seen.lock().unwrap().extend(Execution::current()));
        let _handle = executor.add(entity).unwrap();
        for _ in 0..2 {
            condition.trigger();
            executor.spin_once(None).unwrap();
        }
    };
    turn(&seen);
    thread::scope(|scope| drop(scope.spawn(|| turn(&seen))));
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), 4);
    for (at, execution) in seen.iter().enumerate() {
        assert!(!seen[..at].contains(execution), "{seen:?}");
    }
}
