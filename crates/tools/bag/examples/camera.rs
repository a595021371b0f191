//! A camera for measurements of recorders: publishes images of one size at a fixed rate, and prints
//! the number of images and the bytes per second.
//!
//! `camera TOPIC BYTES HERTZ SECONDS` (a rate of 0 means as fast as possible)

use std::time::{Duration, Instant};

use feros::Context;
use feros::QosProfile;
use feros::msgs::sensor_msgs::msg::{Image, ImageShape};
use feros::msgs::std_msgs::msg::HeaderShape;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [topic, bytes, hertz, seconds] = &arguments[..] else {
        return Err("usage: camera TOPIC BYTES HERTZ SECONDS".into());
    };
    let (bytes, hertz): (usize, f64) = (bytes.parse()?, hertz.parse()?);
    let duration = Duration::from_secs_f64(seconds.parse()?);
    let context = Context::from_env()?;
    let node = context.create_node("camera")?;
    let publisher = node.create_publisher::<Image>(topic, QosProfile::keep_last(10))?;
    publisher.wait_for_subscriptions(1, Duration::from_secs(60))?;
    let header = HeaderShape { frame_id: "camera" };
    let shape = ImageShape { header, encoding: "mono8", data: bytes };
    let (began, mut count) = (Instant::now(), 0u32);
    while began.elapsed() < duration && context.is_ok() {
        let mut loan = publisher.loan(&shape)?;
        loan.fields()?.data.fill(count as u8);
        loan.publish()?;
        count += 1;
        if hertz > 0.0 {
            let next = began + Duration::from_secs_f64(f64::from(count) / hertz);
            std::thread::sleep(next.saturating_duration_since(Instant::now()));
        }
    }
    let rate = f64::from(count) * bytes as f64 / began.elapsed().as_secs_f64() * 1e-6;
    println!("{count} images, {rate:.0} MB/s, {:?}", publisher.counts());
    // The recorder takes the published images before their memory is freed.
    std::thread::sleep(Duration::from_secs(2));
    Ok(())
}
