//! Tests that turns allocate nothing for rings, executions, periodic timers or sleeps, no matter
//! how many entities are idle.
#![allow(clippy::unwrap_used)]

use feros_executor::*;
use std::sync::Arc;
use std::time::Duration;

#[test]
fn turns_do_not_allocate() {
    let executor = Executor::new();
    let clock = Arc::new(RosClock::simulated_at(Time::from_nanos(1)));
    let shared = Arc::clone(&clock) as Arc<dyn Clock>;
    for _ in 0..200 {
        executor.add(Entity::new(&Ringer::new(), || Progress::Done)).unwrap().keep();
        let (_, entity) = Timer::periodic(Arc::clone(&shared), Duration::from_secs(1_000), |_| {});
        executor.add(entity).unwrap().keep();
    }
    let ringer = Ringer::new();
    let mut executions = 0u32;
    let body = move || {
        executions += 1;
        if executions.is_multiple_of(3) { Progress::Done } else { Progress::More }
    };
    executor.add(Entity::new(&ringer, body)).unwrap().keep();
    let (timer, entity) = Timer::periodic(shared, Duration::from_nanos(10), |_| {});
    executor.add(entity).unwrap().keep();
    let ticks = || {
        let mut total = 0;
        for _ in 0..1_000 {
            ringer.ring();
            clock.set_time(clock.now() + Duration::from_nanos(10));
            timer.cancel();
            timer.reset();
            clock.set_time(clock.now() + Duration::from_nanos(10));
            total += executor.spin_all(Duration::MAX).unwrap();
            executor.spin_once(Some(Duration::from_nanos(1))).unwrap();
        }
        total
    };
    let warm = ticks();
    let mut total = 0;
    let allocations = allocation_counter::measure(|| total = ticks());
    assert!(warm >= 4_000 && total >= 4_000, "{warm} {total}");
    assert_eq!(allocations.count_total, 0);
}

/// With every policy, frozen executors that have groups and attributes allocate nothing while
/// varying sets of entities are ready.
#[test]
fn no_policy_allocates_after_the_start() {
    let clock: Arc<RosClock> = Arc::new(RosClock::simulated_at(Time::from_nanos(1)));
    let policies: [(&str, Box<dyn Policy>); 7] = [
        ("fair", Box::new(Fair::default())),
        ("ros", Box::new(Ros::default())),
        ("priority", Box::new(Priority::default())),
        ("deadline", Box::new(Deadline::on(clock.clone()))),
        ("sequence", Box::new(Sequence::default())),
        ("all", Box::new(Sequence::new(Trigger::All))),
        ("let", Box::new(Sequence::default().let_semantics())),
    ];
    let group = ExclusiveGroup::new();
    for (name, policy) in policies {
        let executor = Executor::with_options(ExecutorOptions::default().policy(policy).frozen());
        let ringers: Vec<_> = (0..100)
            .map(|number: u32| {
                let ringer = Ringer::new();
                let attributes = Attributes {
                    kind: if number.is_multiple_of(2) { Kind::Subscription } else { Kind::Service },
                    priority: (number % 7) as i32,
                    deadline: Some(Duration::from_nanos(u64::from(number))),
                    position: number.is_multiple_of(3).then_some(number),
                    group: Some(group.clone()),
                };
                executor
                    .add(Entity::new(&ringer, || Progress::Done).with(attributes))
                    .unwrap()
                    .keep();
                ringer
            })
            .collect();
        let (_, timer) = Timer::periodic(clock.clone(), Duration::from_nanos(10), |_| {});
        executor.add(timer).unwrap().keep();
        executor.spin_some(Duration::MAX).unwrap();
        let mut executed = 0;
        let allocations = allocation_counter::measure(|| {
            for round in 0..200 {
                clock.set_time(clock.now() + Duration::from_nanos(10));
                ringers.iter().step_by(1 + round % 5).for_each(Ringer::ring);
                executed += executor.spin_all(Duration::MAX).unwrap();
            }
        });
        assert!(executed > 200, "{name}: {executed}");
        assert_eq!(allocations.count_total, 0, "{name}");
    }
}

/// Takes a new wait set for each wait, as rclpy does; the pool keeps the memory.
#[test]
fn wait_sets_of_a_pool_do_not_allocate() {
    let pool = WaitSetPool::new();
    let conditions: Vec<Arc<dyn Waitable>> =
        (0..100).map(|_| Arc::new(GuardCondition::without_callback()) as _).collect();
    let timer = Timer::without_callback(Arc::new(SteadyClock), Duration::from_nanos(1));
    let timer: Arc<dyn Waitable> = Arc::new(timer);
    let wait = || {
        let mut wait_set = pool.take();
        for entity in conditions.iter().chain([&timer]) {
            wait_set.add(entity.clone());
        }
        wait_set.wait(None).len()
    };
    assert_eq!(wait(), 1);
    let mut ready = 0;
    let allocations = allocation_counter::measure(|| ready = wait());
    assert_eq!((ready, allocations.count_total), (1, 0));
}
