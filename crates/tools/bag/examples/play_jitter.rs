//! Measures how precisely a bag is played: a topic of 1 kHz is played for some seconds, and
//! received in another context. Prints how early or late messages came, compared with the times of
//! the bag. Also prints the floor of the machine: how late a thread of the same process wakes that
//! only sleeps until those times.
//!
//! `play_jitter [SECONDS]`

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use feros::msgs::std_msgs::msg::Int64;
use feros::{Context, Executor, QosProfile};
use feros_bag::{
    BagReader, BagTopic, BagWriter, Player, PlayerOptions, Schema, TopicMetadata, WriterOptions,
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let seconds: i64 = std::env::args().nth(1).map_or(Ok(10), |text| text.parse())?;
    let folder = std::env::temp_dir().join(format!("play_jitter_{}", std::process::id()));
    let mut writer = BagWriter::create(&folder, WriterOptions::default())?;
    let metadata = TopicMetadata::new("/jitter", "std_msgs/msg/Int64");
    let topic = writer.add_topic(BagTopic { metadata, schema: Schema::unknown() })?;
    for number in 0..seconds * 1000 {
        let message = feros::message::to_vec(&Int64 { data: number })?;
        writer.write(topic, 0, number * 1_000_000, number * 1_000_000, &message)?;
    }
    writer.finish()?;

    let (here, there) = (Context::from_env()?, Context::from_env()?);
    let listener = there.create_node("listener")?;
    let heard = Arc::<Mutex<Vec<(i64, Instant)>>>::default();
    let put = heard.clone();
    let _subscription =
        listener.create_subscription("/jitter", QosProfile::keep_last(1000), move |m: Int64| {
            let now = Instant::now();
            put.lock().expect("nobody panics").push((m.data, now));
        })?;
    let executor = Executor::new();
    executor.add_node(&listener)?;
    let stopper = executor.stopper();
    let thread = std::thread::Builder::new().name("listener".into());
    let spinning = thread.spawn(move || executor.spin())?;
    let node = here.create_node("rosbag2_player")?;
    let wait = Some(Duration::from_secs(10));
    let options = PlayerOptions { wait_for_subscriptions: wait, ..PlayerOptions::default() };
    let floor = std::thread::Builder::new().name("floor".into()).spawn(move || floor(seconds))?;
    let player = Player::start(&node, BagReader::open(&folder)?, options)?;
    println!("{:?}", player.wait()?);
    say("floor", floor.join().expect("it does not panic"), seconds);
    std::thread::sleep(Duration::from_millis(200));
    stopper.stop();
    spinning.join().expect("it does not panic")?;
    std::fs::remove_dir_all(&folder)?;

    let heard = heard.lock().expect("nobody panics");
    let offset = |(number, at): &(i64, Instant)| {
        at.duration_since(heard[0].1).as_secs_f64() * 1e6 - *number as f64 * 1e3
    };
    say("messages", heard.iter().map(offset).collect(), seconds);
    Ok(())
}

/// Measures how many microseconds late a thread wakes that sleeps until each millisecond.
fn floor(seconds: i64) -> Vec<f64> {
    let began = Instant::now();
    let wake = |number: i64| {
        let next = began + Duration::from_millis(number.unsigned_abs());
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
        Instant::now().saturating_duration_since(next).as_secs_f64() * 1e6
    };
    (0..seconds * 1000).map(wake).collect()
}

fn say(what: &str, mut offsets: Vec<f64>, seconds: i64) {
    offsets.sort_by(f64::total_cmp);
    // The jitter is measured against the median, since the first message is as late as any other.
    let median = offsets[offsets.len() / 2];
    let mut jitter: Vec<f64> = offsets.iter().map(|offset| (offset - median).abs()).collect();
    jitter.sort_by(f64::total_cmp);
    let at = |part: f64| jitter[((jitter.len() - 1) as f64 * part) as usize];
    println!(
        "{what}: {} of {}, jitter in us: median {:.0}, p90 {:.0}, p99 {:.0}, p99.9 {:.0}, max {:.0}",
        jitter.len(),
        seconds * 1000,
        at(0.5),
        at(0.9),
        at(0.99),
        at(0.999),
        at(1.0)
    );
}
