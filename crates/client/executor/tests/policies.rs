//! Tests the order in which each policy executes entities, on a virtual clock or without a clock,
//! so that every instant and every turn is exact.
#![allow(clippy::unwrap_used)]

use feros_executor::*;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const NO_WAIT: Option<Duration> = Some(Duration::ZERO);

/// The executed entities, in order.
type Order = Arc<Mutex<Vec<String>>>;

/// An executor whose entities record their names, and the number of units that each of them still
/// has.
struct Bench {
    executor: Executor,
    order: Order,
    ringers: Vec<(String, Ringer)>,
}

/// A body that records its steps and has `units` units of work.
struct Noted {
    name: String,
    units: usize,
    is_stepwise: bool,
    has_taken: bool,
    order: Order,
}

impl Noted {
    fn note(&self, what: &str) {
        self.order.lock().unwrap().push(format!("{what}{}", self.name));
    }

    fn progress(&mut self) -> Progress {
        self.units = self.units.saturating_sub(1);
        if self.units > 0 { Progress::More } else { Progress::Done }
    }
}

impl Executable for Noted {
    fn execute(&mut self) -> Progress {
        self.note("");
        self.progress()
    }

    fn take(&mut self) {
        if self.is_stepwise {
            self.has_taken = true;
            self.note("take ");
        }
    }

    fn run(&mut self) -> Progress {
        let what = if std::mem::take(&mut self.has_taken) { "run " } else { "" };
        self.note(what);
        self.progress()
    }
}

impl Bench {
    fn new(policy: impl Policy + 'static) -> Self {
        Self {
            executor: Executor::with_options(ExecutorOptions::default().policy(policy)),
            order: Order::default(),
            ringers: Vec::new(),
        }
    }

    fn add(&mut self, name: &str, units: usize, attributes: Attributes) -> EntityHandle {
        let ringer = Ringer::new();
        let order = self.order.clone();
        let noted = Noted { name: name.into(), units, is_stepwise: true, has_taken: false, order };
        self.ringers.push((name.into(), ringer.clone()));
        self.executor.add(Entity::new(&ringer, noted).with(attributes)).unwrap()
    }

    fn ring(&self, names: &[&str]) {
        for name in names {
            self.ringers.iter().find(|(known, _)| known == name).unwrap().1.ring();
        }
    }

    fn turns(&self, count: usize) -> Vec<String> {
        for _ in 0..count {
            assert_eq!(self.executor.spin_once(NO_WAIT).unwrap(), Outcome::Completed(()));
        }
        std::mem::take(&mut *self.order.lock().unwrap())
    }

    /// Executes until no entity is ready; returns all executed entities.
    fn rest(&self) -> Vec<String> {
        while self.executor.spin_once(NO_WAIT).unwrap() != Outcome::TimedOut {}
        std::mem::take(&mut *self.order.lock().unwrap())
    }
}

fn kind(kind: Kind) -> Attributes {
    Attributes { kind, ..Attributes::default() }
}

fn priority(priority: i32) -> Attributes {
    Attributes { priority, ..Attributes::default() }
}

fn deadline(nanos: u64) -> Attributes {
    Attributes { deadline: Some(Duration::from_nanos(nanos)), ..Attributes::default() }
}

fn position(position: u32) -> Attributes {
    Attributes { position: Some(position), ..Attributes::default() }
}

#[test]
fn fair_goes_round_whatever_the_kind() {
    let mut bench = Bench::new(Fair::default());
    let _entities = [("a", 3, Kind::Other), ("b", 2, Kind::Timer), ("c", 1, Kind::Subscription)]
        .map(|(name, units, of)| bench.add(name, units, kind(of)));
    bench.ring(&["a", "b", "c"]);
    assert_eq!(bench.turns(2), ["a", "b"]);
    bench.ring(&["b"]);
    assert_eq!(bench.rest(), ["c", "a", "b", "a"]);
}

#[test]
fn ros_goes_by_kind_and_insertion_within_a_snapshot() {
    let mut bench = Bench::new(Ros::default());
    let _entities = [
        ("other", 1, Kind::Other),
        ("client", 1, Kind::Client),
        ("service", 1, Kind::Service),
        ("second", 2, Kind::Subscription),
        ("late timer", 2, Kind::Timer),
        ("third", 1, Kind::Subscription),
        ("timer", 1, Kind::Timer),
    ]
    .map(|(name, units, of)| bench.add(name, units, kind(of)));
    bench.ring(&["other", "client", "service", "second", "third", "late timer"]);
    assert_eq!(bench.turns(1), ["late timer"]);
    // Entities that become ready now, even timers, wait for the next snapshot.
    bench.ring(&["timer"]);
    assert_eq!(
        bench.rest(),
        [
            "second",
            "third",
            "service",
            "client",
            "other", // the rest of the first snapshot
            "late timer",
            "timer",
            "second",
        ]
    );
}

#[test]
fn ros_goes_by_the_order_of_adding_and_not_by_slots() {
    let mut bench = Bench::new(Ros::default());
    let first = bench.add("first", 1, kind(Kind::Timer));
    let _second = bench.add("second", 1, kind(Kind::Timer));
    drop(first);
    let _third = bench.add("third", 1, kind(Kind::Timer)); // in the slot of the first entity
    bench.ring(&["third", "second"]);
    assert_eq!(bench.rest(), ["second", "third"]);
}

#[test]
fn priority_is_looked_at_before_every_turn() {
    let mut bench = Bench::new(Priority::default());
    let _entities =
        [("low", 3, 1), ("high", 2, 9), ("middle", 1, 5), ("as middle", 1, 5), ("none", 1, 0)]
            .map(|(name, units, of)| bench.add(name, units, priority(of)));
    bench.ring(&["none", "low"]);
    assert_eq!(bench.turns(1), ["low"]);
    bench.ring(&["as middle"]);
    assert_eq!(bench.turns(1), ["as middle"]);
    bench.ring(&["middle", "high"]);
    assert_eq!(bench.rest(), ["high", "high", "middle", "low", "low", "none"]);
}

/// An instance of a chain ends before its next instance begins, and the more critical chain
/// overtakes the other chain between callbacks.
#[test]
fn chains_end_before_they_begin_anew() {
    let [slow, urgent] = chain_priorities([3, 2]);
    assert_eq!((&slow[..], &urgent[..]), (&[1, 2, 3][..], &[4, 5][..]));
    let mut bench = Bench::new(Priority::default());
    let mut entities = Vec::new();
    for (chain, priorities) in [("slow", slow), ("urgent", urgent)] {
        for (step, of) in priorities.into_iter().enumerate() {
            entities.push(bench.add(&format!("{chain} {step}"), 1, priority(of)));
        }
    }
    bench.ring(&["slow 0"]);
    assert_eq!(bench.turns(1), ["slow 0"]);
    bench.ring(&["slow 1", "slow 0"]); // the output of "slow 0", and its timer once more
    assert_eq!(bench.turns(1), ["slow 1"]);
    bench.ring(&["slow 2", "urgent 0"]);
    assert_eq!(bench.turns(1), ["urgent 0"]);
    bench.ring(&["urgent 1"]);
    assert_eq!(bench.rest(), ["urgent 1", "slow 2", "slow 0"]);
}

#[test]
fn deadline_goes_by_when_each_has_to_be_done() {
    let clock = Arc::new(RosClock::simulated_at(Time::from_nanos(1_000)));
    let now = |nanos| clock.set_time(Time::from_nanos(nanos));
    let mut bench = Bench::new(Deadline::on(clock.clone()));
    let _entities = [("soon", 10), ("later", 100), ("much later", 1_000)]
        .map(|(name, nanos)| bench.add(name, 1, deadline(nanos)));
    let _none = bench.add("none", 1, Attributes::default());
    bench.ring(&["none", "much later", "later"]);
    assert_eq!(bench.turns(1), ["later"]); // 1100
    now(1_500);
    bench.ring(&["later", "soon"]);
    assert_eq!(bench.turns(1), ["soon"]); // 1510
    now(1_950);
    bench.ring(&["soon"]); // 1960; "later" has to be done at 1600, "much later" at 2000
    assert_eq!(bench.turns(2), ["later", "soon"]);
    now(1_995);
    bench.ring(&["soon"]);
    assert_eq!(bench.rest(), ["much later", "soon", "none"]);
}

#[test]
fn sequence_goes_by_position_and_waits_for_its_trigger() {
    let whenever: [&[&str]; 4] = [&["b"], &["a", "c"], &["a"], &["b", "c"]];
    let together: [&[&str]; 4] = [&[], &["a", "b", "c"], &[], &["a", "b", "c"]];
    let cases = [
        (Trigger::Any, whenever),
        (Trigger::All, together),
        (Trigger::One(2), [&[], &["a", "b", "c"], &[], &["a", "b", "c"]]),
        (Trigger::One(1), [&["b"], &[], &[], &["a", "b", "c"]]),
    ];
    for (trigger, expected) in cases {
        let text = format!("{trigger:?}");
        let mut bench = Bench::new(Sequence::new(trigger));
        let _c = bench.add("c", 1, position(2));
        let _entities = [("a", 0), ("b", 1)].map(|(name, at)| bench.add(name, 1, position(at)));
        let _aside = bench.add("aside", 1, Attributes::default());
        for (names, expected) in
            [&["b"][..], &["c", "a"], &["a"], &["b", "c"]].into_iter().zip(expected)
        {
            bench.ring(names);
            assert_eq!(bench.rest(), expected, "{text}");
        }
        bench.ring(&["aside"]);
        assert_eq!(
            bench.rest(),
            ["aside"],
            "{text}: an entity that is no member does not wait for the trigger"
        );
    }
}

#[test]
fn a_custom_trigger_begins_a_round_when_it_says_so() {
    let mut bench =
        Bench::new(Sequence::new(Trigger::Custom(Box::new(|ready| ready.iter().count() >= 2))));
    let _entities =
        ["a", "b", "c"].map(|name| bench.add(name, 1, position(u32::from(name.as_bytes()[0]))));
    bench.ring(&["c"]);
    assert_eq!(bench.rest(), [""; 0]);
    bench.ring(&["c", "b"]);
    assert_eq!(bench.rest(), ["b", "c"]);
}

#[test]
fn with_let_all_inputs_are_taken_before_the_first_is_used() {
    let mut bench = Bench::new(Sequence::new(Trigger::All).let_semantics());
    let _entities = [("b", 1), ("a", 0)].map(|(name, at)| bench.add(name, 2, position(at)));
    bench.ring(&["a", "b"]);
    let round = ["take a", "take b", "run a", "run b"];
    assert_eq!(bench.turns(2), round, "a turn is a whole unit");
    assert_eq!(bench.rest(), round, "the second units are the next round");
}

#[test]
fn an_input_taken_before_its_entity_moves_is_not_lost() {
    let mut bench = Bench::new(Sequence::new(Trigger::Any).let_semantics());
    let a = bench.add("a", 1, position(0));
    let mover: Arc<Mutex<Option<EntityHandle>>> = Arc::default();
    let (ringer, moves) = (Ringer::new(), mover.clone());
    let moved = Arc::new(Mutex::new(None));
    let keeps = moved.clone();
    let first = Entity::new(&ringer, move || {
        *keeps.lock().unwrap() =
            moves.lock().unwrap().take().map(|handle| handle.detach().unwrap());
        Progress::Done
    });
    // This entity is executed before "a" in the same round, so that "a" already has its input when
    // it is detached.
    let _first = bench
        .executor
        .add(first.with(Attributes { position: Some(0), ..Attributes::default() }))
        .unwrap();
    let b = bench.add("b", 1, position(1));
    drop(a);
    *mover.lock().unwrap() = Some(b);
    ringer.ring();
    bench.ring(&["b"]);
    assert_eq!(bench.rest(), ["take b"]);
    let other = Executor::new();
    let _b = other.add(moved.lock().unwrap().take().unwrap()).unwrap();
    assert_eq!(other.spin_some(Duration::MAX).unwrap(), 1);
    assert_eq!(*bench.order.lock().unwrap(), ["b"]);
}

/// A timer is always ready if each of its calls takes longer than its period. A service gets its
/// turn within as many turns as there are entities, and the timer's missed calls are skipped and
/// counted.
#[test]
fn a_timer_that_is_always_late_starves_nobody() {
    let clock = Arc::new(RosClock::simulated_at(Time::from_nanos(1)));
    let policies: [(&str, Box<dyn Policy>); 4] = [
        ("fair", Box::new(Fair::default())),
        ("ros", Box::new(Ros::default())),
        ("deadline", Box::new(Deadline::on(clock.clone()))),
        ("sequence", Box::new(Sequence::default())),
    ];
    for (name, policy) in policies {
        let mut bench = Bench::new(policy);
        let passing = clock.clone();
        let order = bench.order.clone();
        // Each call takes three periods of the timer, or one relative deadline of the service.
        let (timer, entity) =
            Timer::periodic(clock.clone(), Duration::from_nanos(100), move |_| {
                passing.set_time(passing.now() + Duration::from_nanos(300));
                order.lock().unwrap().push("timer".into());
            });
        let of_timer =
            Attributes { deadline: Some(Duration::from_nanos(50)), ..entity.attributes().clone() };
        let _timer = bench.executor.add(entity.with(of_timer)).unwrap();
        let of_service =
            Attributes { deadline: Some(Duration::from_nanos(300)), ..kind(Kind::Service) };
        let _service = bench.add("service", 1, of_service);
        clock.set_time(clock.now() + Duration::from_nanos(1_000));
        let mut calls = 0;
        for _ in 0..100 {
            bench.ring(&["service"]);
            let order = bench.turns(3);
            assert!(order.contains(&"service".to_owned()), "{name}: {order:?}");
            calls += order.iter().filter(|what| *what == "timer").count();
        }
        assert!(calls >= 100, "{name}: {calls}");
        // The periods that passed without a call are counted.
        assert!(
            timer.missed() >= 2 * (calls as u64 - 1),
            "{name}: {} missed in {calls} calls",
            timer.missed()
        );
    }
}

#[test]
fn idle_entities_do_not_matter_for_the_order() {
    let policies: [Box<dyn Policy>; 5] = [
        Box::new(Fair::default()),
        Box::new(Ros::default()),
        Box::new(Priority::default()),
        Box::new(Deadline::on(Arc::new(RosClock::simulated_at(Time::from_nanos(1))))),
        Box::new(Sequence::default()),
    ];
    for policy in policies {
        let mut bench = Bench::new(policy);
        let mut entities = vec![bench.add("a", 2, Attributes::default())];
        entities.extend(
            (0..500).map(|idle| bench.add(&format!("idle {idle}"), 1, Attributes::default())),
        );
        entities.push(bench.add("b", 2, Attributes::default()));
        bench.ring(&["a", "b"]);
        assert_eq!(bench.rest(), ["a", "b", "a", "b"]);
    }
}
