//! Measures the cost of a point while the trace is off and on, and the cost of reading the clock.

use std::hint::black_box;

use criterion::{Criterion, criterion_group, criterion_main};
use feros_trace::{Endpoint, Kind, MessageId, Outbound, Point, Transport};

fn points(criterion: &mut Criterion) {
    let publisher = Endpoint::new(Kind::Publisher, [1; 16], "/chatter");
    let message = MessageId { publisher: [1; 16], stamp: 1, number: 1 };
    let pass = || {
        feros_trace::pass(Point::WriteBegin, Transport::SharedMemory, black_box(&publisher), || {
            black_box(message)
        })
    };
    let publish = || {
        let mut outbound = Outbound::publish();
        outbound.pass(Point::SerializeBegin);
        outbound.pass(Point::SerializeEnd);
        outbound.name(black_box(&publisher), || black_box(message));
        outbound.pass(Point::PublishEnd);
    };
    criterion.bench_function("the clock alone", |bencher| bencher.iter(feros_trace::now_nanos));
    criterion.bench_function("off: one point", |bencher| bencher.iter(pass));
    criterion
        .bench_function("off: the four points of a publisher", |bencher| bencher.iter(publish));
    feros_trace::enable();
    criterion.bench_function("on: one point", |bencher| bencher.iter(pass));
    criterion.bench_function("on: the four points of a publisher", |bencher| bencher.iter(publish));
}

criterion_group!(benches, points);
criterion_main!(benches);
